r"""JSON: the elements of arrays and the members of objects, at any depth; then strings.

A cut leaves elements and members out, each with one comma, and changes nothing else: numbers,
escapes, duplicate keys and white space of what is kept are the original's bytes. So what is left
of JSON is JSON. Numbers and literals are never cut; strings are, between their quotes.

>>> from ctxlab.truncation.cutter import Cutter
>>> from ctxlab.truncation.pieces import kept
>>> text = '{"ok": true, "rows": [10, 20, 30, 40], "next": "b"}'
>>> cut = Cutter(text, (0, len(text)), JsonValues(text), share=1.0)(room=44)
>>> kept(text, cut.omitted)
'{"ok": true, "rows": [10, 20], "next": "b"}'
"""

from __future__ import annotations

import re

from ctxlab.truncation.boundaries.json_index import JsonIndex
from ctxlab.truncation.boundaries.text import finer, framed, words
from ctxlab.truncation.pieces import Pieces, Room, Span

_SPACE = re.compile(r"[ \t\n\r]*")
_KEY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"[ \t\n\r]*:[ \t\n\r]*', re.DOTALL)


class JsonValues:
    """The divider of one JSON text; with `balance` an object's largest member gives way first."""

    def __init__(self, text: str, *, balance: bool = True, index: JsonIndex | None = None) -> None:
        self._index = index or JsonIndex(text)
        self._balance = balance

    def __call__(self, text: str, start: int, end: int, room: Room) -> Pieces | None:
        """Take a span apart: see `pieces.Divider`."""
        at = _after(_SPACE, text, start, end)
        at = _after(_KEY, text, at, end)
        stop = end - _trailing(text, at, end)
        if at < stop and text[at] == '"':
            inner = finer(words)(text, at + 1, stop - 1, room) if at + 1 < stop - 1 else None
            return framed(inner, (start, end))
        if at < stop and text[at] in "[{":
            return self._container(text, (start, end), at, stop - 1)
        return None

    def _container(self, text: str, frame: Span, opened: int, closed: int) -> Pieces | None:
        import numpy as np  # noqa: PLC0415  the index has it already

        last = closed - _trailing(text, opened + 1, closed)
        if last == opened + 1:
            return None
        commas = self._index.commas(opened, closed)
        starts, ends = np.append(opened, commas) + 1, np.append(commas, last)
        name, heavy = "array elements", None
        if text[opened] == "{":
            name, heavy = "object members", int(np.argmax(ends - starts))
            if not self._balance or 2 * (ends[heavy] - starts[heavy]) < last - opened:
                heavy = None
        return Pieces(name, frame, starts, ends, opened + 1, closed, self, heavy=heavy)


def _after(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    match = pattern.match(text, start, end)
    return match.end() if match else start


def _trailing(text: str, start: int, end: int) -> int:
    """How much white space the span ends with."""
    at = end
    while at > start and text[at - 1] in " \t\n\r":
        at -= 1
    return end - at
