r"""A text as a tree of pieces, and the one way in which every kind of text is cut.

A *divider* takes a span of the text apart into pieces that are kept or left out whole, inside a
frame that stays when any of them stays: the elements between `[` and `]`, the rows under a CSV
header, the statements between a function's head and its closing brace. A cut only ever leaves
pieces out, so what it returns is the text minus ranges of it, and nothing is written anew.

>>> from ctxlab.truncation.boundaries.text import lines
>>> text = "one\ntwo\nthree\n"
>>> cut = Cutter(text, (0, len(text)), lines, share=1.0)(room=9)
>>> cut.omitted, kept(text, cut.omitted)
(((8, 14),), 'one\ntwo\n')

Not handled here: what a kind's pieces are (`boundaries`), and how much room there is (`measure`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Protocol

Span = tuple[int, int]
# Characters that may be kept from the front and from the back.
Room = tuple[int, int]
# A divider is called with the text, the span's start and end, and the room: a span much larger
# than that need be taken apart near its ends only.
Divider = Callable[[str, int, int, Room], "Pieces | None"]


class Places(Protocol):
    """Numbers by index: a list, or an array where there are millions."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> int: ...


# Pieces inside pieces: nobody reads a cut this deep, and Python's own stack stays out of danger.
DEEPEST = 64


@dataclass(frozen=True, eq=False)
class Pieces:
    """One span taken apart. Piece i is `text[starts[i]:ends[i]]`; there is at least one."""

    name: str
    """What the pieces are called, in the plural: `array elements`."""
    frame: Span
    """The whole span."""
    starts: Places
    ends: Places
    opened: int
    """Where the frame's head ends: `text[frame[0]:opened]` stays with any piece."""
    closed: int
    """Where the frame's foot begins."""
    inside: Divider | None = None
    """How a piece is taken apart in its turn; None where it cannot be."""
    complete: bool = True
    """False where only the pieces near both ends were listed."""
    first: tuple[int, ...] = ()
    """Pieces kept before all others, ascending: the error entries of a log."""
    heavy: int | None = None
    """A piece larger than all others together: it is cut inside before the others go."""


@dataclass(frozen=True)
class Shown:
    """What one level of a cut keeps."""

    name: str
    runs: tuple[Span, ...]
    """Indices of the pieces kept whole, as half-open runs."""
    part: int | None
    """The piece that was cut inside; the next level tells about it."""
    total: int | None
    """Pieces in all; None where they were not counted."""

    @property
    def whole(self) -> int:
        """Pieces kept whole."""
        return sum(stop - start for start, stop in self.runs)


@dataclass(frozen=True)
class Cut:
    """What a cut leaves out."""

    omitted: tuple[Span, ...]
    """Half-open ranges of the text, ascending."""
    used: int
    """Characters kept."""
    more: int
    """Characters that would be kept with one more piece: no smaller room changes the cut."""
    shown: tuple[Shown, ...] = ()


def kept(text: str, omitted: Iterable[Span]) -> str:
    """The text without these ranges.

    >>> kept("abcdef", [(1, 3), (5, 6)])
    'ade'
    """
    parts, at = [], 0
    for start, end in omitted:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


class Cutter:
    """One text, cut to any room; what was taken apart once is remembered."""

    def __init__(self, text: str, span: Span, divider: Divider, share: float) -> None:
        """`share` of the room goes to the head: 1.0 keeps the head alone, 0.0 the tail alone."""
        self._text, self._span, self._divider, self._share = text, span, divider, share
        self._known: dict[tuple[Divider, int, int, Room], Pieces | None] = {}

    def __call__(self, room: int) -> Cut | None:
        """The cut that keeps at most `room` characters; None when not even its frame fits."""
        cut = self._cut(self._span, self._divider, room, 0)
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

    def _cut(self, span: Span, divider: Divider, room: int, depth: int) -> Cut | None:
        pieces = self._divided(divider, *span, room) if depth < DEEPEST else None
        choice = pieces and _choose(pieces, room, self._share)
        if not pieces or not choice:
            return None
        inner = None
        if pieces.inside and (choice.at_once or 2 * choice.cost < room):
            seam = (int(pieces.starts[choice.seam]), int(pieces.ends[choice.seam]))
            left = room - choice.cost - (seam[0] - _before(pieces, choice.seam))
            inner = self._cut(seam, pieces.inside, left, depth + 1) if left > 0 else None
        if depth and not choice.runs and not inner:
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


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Half-open spans in order, joined where they touch, without empty ones.

    >>> merged([(0, 2), (5, 6), (2, 3), (4, 4)])
    ((0, 3), (5, 6))
    """
    joined: list[Span] = []
    for start, stop in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return tuple(joined)


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
