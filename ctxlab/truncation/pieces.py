"""A text as a tree of pieces, and what a cut of it leaves out.

A *divider* takes a span of the text apart into pieces that are kept or left out whole, inside a
frame that stays when any of them stays: the elements between `[` and `]`, the rows under a CSV
header, the statements between a function's head and its closing brace. A cut only ever leaves
pieces out, so what it returns is the text minus ranges of it, and nothing is written anew.

What a kind's pieces are stands in `boundaries`, which of them are kept in `cutter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
    fine: bool = False
    """Smaller than the kind's own boundary: taken apart so only where nothing else fits."""
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
