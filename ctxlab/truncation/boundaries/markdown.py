r"""Markdown: sections by their headings, then blocks, then lines inside the frame of a fence.

A fenced block is kept whole, or cut inside with both its fences kept. A heading stays with any
part of its section, a table's two head lines with any of its rows.

>>> text = "# A\n\none\n\n## B\n\n```py\nx\ny\nz\n```\n"
>>> divide = Markdown(text)
>>> divide(text, 0, 32, 99).ends, divide(text, 10, 32, (99, 99)).opened
([10, 32], 15)

Headings inside fences are none. Not handled: HTML blocks, and items inside items.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from ctxlab.truncation.boundaries.text import finer, line_ends, lines, pieces, words
from ctxlab.truncation.pieces import Pieces, Room, Span

# It begins with the line end before, which is quick to find.
_MARK = re.compile(
    r"\n(?:[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"(?P<info>[^\n]*)"
    r"| {0,3}(?P<level>\#{1,6})(?:[ \t][^\n]*|\r)?$"
    r"|[^\s\#>|`~*+=-][^\n]*\n {0,3}(?:=+|(?P<second>-+))[ \t\r]*$)",
    re.MULTILINE,
)
_BLANK = re.compile(r"\n(?:[ \t\r]*\n)+")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_TABLE_HEAD = re.compile(r"[^\n|]*+\|[^\n]*+\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:-]*)*\r?\n")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE)
_DEEPER = 7  # than any heading


@dataclass(frozen=True)
class Heading:
    """A heading: where it begins, where its line ends, and its level, 1 to 6."""

    start: int
    end: int
    level: int


@dataclass(frozen=True)
class Fence:
    """A fenced block: where it begins and ends, and where what it holds does."""

    start: int
    opened: int
    closed: int
    end: int


class Markdown:
    """The divider of one Markdown text."""

    def __init__(self, text: str) -> None:
        self._headings, self._fences = outline(text)
        self._heads = [heading.start for heading in self._headings]
        self._places = [fence.start for fence in self._fences]

    def __call__(self, text: str, start: int, end: int, room: Room) -> Pieces | None:
        """Take a span apart: see `pieces.Divider`."""
        first, last = bisect_left(self._heads, start), bisect_left(self._heads, end)
        headings, opened = self._headings[first:last], start
        top = min((heading.level for heading in headings[1:]), default=_DEEPER)
        leads = bool(headings) and not text[start : headings[0].start].strip()
        if leads and headings[0].level < top:
            opened, headings = headings[0].end, headings[1:]
        top = min((heading.level for heading in headings), default=_DEEPER)
        begins = [heading.start for heading in headings if heading.level == top]
        if begins and not text[opened : begins[0]].strip():
            del begins[0]
        if begins:
            return pieces("sections", begins, (opened, end), self, frame=(start, end))
        return self._blocks(text, (start, end), opened, room)

    def _blocks(self, text: str, frame: Span, opened: int, room: Room) -> Pieces | None:
        end = frame[1]
        blank = (match.end() for match in _BLANK.finditer(text, opened, end))
        ends = {place for place in blank if not self._is_fenced(place)}
        first, last = bisect_left(self._places, opened), bisect_left(self._places, end)
        for fence in self._fences[first:last]:
            ends |= {fence.start, fence.end}
        found = pieces("blocks", sorted(ends), (opened, end), self._block, frame=frame)
        return found or self._block(text, *frame, room)

    def _block(self, text: str, start: int, end: int, room: Room) -> Pieces | None:
        at = bisect_left(self._places, start)
        if at < len(self._fences) and self._fences[at].end <= end:
            inner = (self._fences[at].opened, self._fences[at].closed)
            return pieces("lines", line_ends(text, *inner), inner, words, frame=(start, end))
        if items := [match.start() for match in _ITEM.finditer(text, start, end)]:
            return pieces("items", items, (start, end), finer(lines)) or finer(lines)(
                text, start, end, room
            )
        blank = _BLANK_LINES.match(text, start, end)
        if head := _TABLE_HEAD.match(text, blank.end() if blank else start, end):
            inner = (head.end(), end)
            return pieces("rows", line_ends(text, *inner), inner, words, frame=(start, end))
        return finer(lines)(text, start, end, room)

    def _is_fenced(self, place: int) -> bool:
        at = bisect_left(self._places, place) - 1
        return at >= 0 and place < self._fences[at].end


def outline(text: str) -> tuple[list[Heading], list[Fence]]:
    r"""Headings and fenced blocks, in order.

    >>> [heading.level for heading in outline("A\n=\n\nB\n-\n\n### C\n")[0]]
    [1, 2, 3]
    """
    headings: list[Heading] = []
    fences: list[Fence] = []
    opening: tuple[str, int, int] | None = None
    for match in _MARK.finditer("\n" + text):
        start, end = match.start(), min(match.end(), len(text))
        if opening is None and match["fence"]:
            opening = (match["fence"], start, end)
        elif opening is None:
            level = len(match["level"] or "") or 1 + bool(match["second"])
            headings.append(Heading(start, end, level))
        elif _closes(opening[0], match):
            fences.append(Fence(opening[1], opening[2], start, end))
            opening = None
    if opening is not None:  # an open fence goes on to the end, and has no closing line to keep
        fences.append(Fence(*opening[1:], len(text), len(text)))
    return headings, fences


def _closes(opening: str, match: re.Match[str]) -> bool:
    fence = match["fence"] or ""
    return fence.startswith(opening) and not match["info"].strip()
