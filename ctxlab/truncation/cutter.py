r"""The one way in which every kind of text is cut: which pieces stay in a given room.

>>> from ctxlab.truncation.boundaries.text import lines
>>> from ctxlab.truncation.pieces import kept
>>> text = "one\ntwo\nthree\n"
>>> cut = Cutter(text, (0, len(text)), lines, share=1.0)(room=9)
>>> cut.omitted, kept(text, cut.omitted)
(((8, 14),), 'one\ntwo\n')

Pieces stay whole from the front, from the back, or from both ends, after those that go first. The
first that does not fit, the *seam*, may be cut inside in its turn. Rooms are characters here; how
many characters a limit leaves room for is found by `measure`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ctxlab.truncation.pieces import DEEPEST, Cut, Divider, Pieces, Room, Shown, Span, merged

# A piece that can never be whole is cut inside if at least this share of the room is left.
_WORTH_FILLING = 0.1


class Cutter:
    """One text, cut to any room; what was taken apart once is remembered."""

    def __init__(self, text: str, span: Span, divider: Divider, share: float) -> None:
        """`share` of the room goes to the head: 1.0 keeps the head alone, 0.0 the tail alone."""
        self._text, self._span, self._divider, self._share = text, span, divider, share
        self._known: dict[tuple[Divider, int, int, Room], Pieces | None] = {}

    def __call__(self, room: int) -> Cut | None:
        """The cut that keeps at most `room` characters; None when not even its frame fits."""
        cut = self._cut(self._span, self._divider, room, ())
        if cut is None or (not cut.omitted and cut.used > room):
            return None
        start, end = self._span
        outer = ((0, start), (end, len(self._text)))
        return replace(cut, omitted=merged(cut.omitted + outer))

    def _divided(self, divider: Divider, start: int, end: int, room: int) -> Pieces | None:
        # Rooms are rounded up, so that a search through nearby rooms takes nothing apart anew.
        ample = 1 << min(max(room, 1), end - start).bit_length()
        key = (divider, start, end, (ample * (self._share > 0), ample * (self._share < 1)))
        if key not in self._known:
            self._known[key] = divider(self._text, start, end, key[3])
        return self._known[key]

    def _cut(
        self, span: Span, divider: Divider, room: int, above: tuple[_Choice, ...]
    ) -> Cut | None:
        pieces = self._divided(divider, *span, room) if len(above) < DEEPEST else None
        choice = pieces and _choose(pieces, room, self._share)
        if not pieces or not choice:
            return None
        if pieces.fine and _anything_beside(above):
            return None
        inner = None
        seam = (int(pieces.starts[choice.seam]), int(pieces.ends[choice.seam]))
        left = room - choice.cost - (seam[0] - _before(pieces, choice.seam))
        if pieces.inside and left > 0 and choice.leaves_room(room, seam[1] - seam[0]):
            inner = self._cut(seam, pieces.inside, left, (*above, choice))
        if above and not choice.runs and not inner:
            return None
        return _joined(pieces, choice, inner)


@dataclass(frozen=True)
class _Choice:
    runs: tuple[Span, ...]
    """Pieces kept whole."""
    cost: int
    """Characters of the frame and of those pieces."""
    seam: int
    """The piece to cut inside when much room is left."""
    at_once: bool = False
    """The seam is cut inside however little room is left."""

    def leaves_room(self, room: int, seam: int) -> bool:
        """Whether the next piece is to be cut inside, `seam` being its size.

        So it is where less than half of the room is used; and where the piece can never be whole,
        being larger than all of the room, if there is enough room for a part of it.
        """
        unused = room - self.cost
        never_whole = seam > room and unused >= _WORTH_FILLING * room
        return self.at_once or 2 * unused > room or never_whole


def _anything_beside(above: Sequence[_Choice]) -> bool:
    """Whether pieces are kept whole, outside of one that was to be cut inside at once."""
    for choice in reversed(above):
        if choice.at_once or choice.runs:
            return not choice.at_once
    return False


class _Weights:
    """Running sums over the pieces; those in `free` weigh nothing, being kept anyway."""

    def __init__(self, pieces: Pieces, free: Sequence[int] = ()) -> None:
        self._pieces, self._free = pieces, free
        self._saved = [0, *accumulate(_weight(pieces, n) for n in free)]
        self.count = len(pieces.ends)

    def upto(self, count: int) -> int:
        """Characters of the first `count` pieces."""
        gross = int(self._pieces.ends[count - 1]) - self._pieces.opened if count else 0
        return gross - self._saved[bisect_left(self._free, count)]

    def head(self, room: int) -> int:
        """How many pieces fit from the front."""
        return bisect_right(range(self.count + 1), room, key=self.upto) - 1

    def tail(self, room: int) -> int:
        """The first piece of those that fit from the back."""
        return bisect_left(range(self.count + 1), self.upto(self.count) - room, key=self.upto)


def _before(pieces: Pieces, index: int) -> int:
    return int(pieces.ends[index - 1]) if index else pieces.opened


def _weight(pieces: Pieces, index: int) -> int:
    return int(pieces.ends[index]) - _before(pieces, index)


def _choose(pieces: Pieces, room: int, share: float) -> _Choice | None:
    """Which pieces stay whole in this room; None when the frame alone is too large."""
    start, end = pieces.frame
    frame = pieces.opened - start + end - int(pieces.ends[-1])
    left = room - frame
    if left < 0:
        return None
    total = _Weights(pieces).upto(len(pieces.ends))
    if pieces.heavy is not None and total - _weight(pieces, pieces.heavy) <= left < total:
        others = total - _weight(pieces, pieces.heavy)
        runs = merged([(0, pieces.heavy), (pieces.heavy + 1, len(pieces.ends))])
        return _Choice(runs, frame + others, pieces.heavy, at_once=True)
    free = _affordable(pieces, left)
    cost = sum(_weight(pieces, n) for n in free)
    return _ends_kept(_Weights(pieces, free), free, frame + cost, left - cost, share)


def _affordable(pieces: Pieces, room: int) -> list[int]:
    """The pieces that go first: all of them where they fit, else as many as half the room holds."""
    sums = list(accumulate(_weight(pieces, n) for n in pieces.first))
    if sums and sums[-1] > room:
        return list(pieces.first[: bisect_right(sums, room // 2)])
    return list(pieces.first)


def _ends_kept(
    weights: _Weights, free: Sequence[int], cost: int, room: int, share: float
) -> _Choice:
    """Pieces from the front and from the back; what the back leaves over goes to the front."""
    head = weights.head(int(room * share)) if share > 0 else 0
    tail = weights.tail(room - weights.upto(head)) if share < 1 else weights.count
    tail = max(tail, head)
    back = weights.upto(weights.count) - weights.upto(tail)
    if share > 0:
        head = min(weights.head(room - back), tail)
    runs = merged([(0, head), (tail, weights.count), *((n, n + 1) for n in free)])
    seam = head if share > 0 else tail - 1
    return _Choice(runs, cost + weights.upto(head) + back, max(min(seam, weights.count - 1), 0))


def _joined(pieces: Pieces, choice: _Choice, inner: Cut | None) -> Cut:
    """The ranges left out at this level, with those inside the seam."""
    seam = choice.seam
    stay = merged([*choice.runs, *([(seam, seam + 1)] if inner else [])])
    omitted = sorted(_gaps(pieces, stay) + list(inner.omitted if inner else ()))
    used = pieces.frame[1] - pieces.frame[0] - sum(end - start for start, end in omitted)
    more = used + (inner.more - inner.used if inner else _weight(pieces, seam))
    total = len(pieces.ends) if pieces.complete else None
    shown = Shown(pieces.name, choice.runs, seam if inner else None, total)
    return Cut(tuple(omitted), used, more, (shown, *(inner.shown if inner else ())))


def _gaps(pieces: Pieces, stay: tuple[Span, ...]) -> list[Span]:
    """What lies between the runs that stay, each with the separator that would be left over."""
    count = len(pieces.ends)
    if not stay:
        return [(pieces.opened, pieces.closed)] if pieces.opened < pieces.closed else []
    gaps: list[Span] = []
    if stay[0][0] > 0:
        gaps.append((int(pieces.starts[0]), int(pieces.starts[stay[0][0]])))
    stops = [*(start for start, _ in stay[1:]), count]
    for (_, stop), start in zip(stay, stops, strict=True):
        if stop < start:
            gaps.append((int(pieces.ends[stop - 1]), int(pieces.ends[start - 1])))
    return gaps
