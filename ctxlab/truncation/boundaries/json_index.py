r"""Where the brackets and commas of a JSON text stand, found in time linear in its size.

The text is scanned in blocks of bytes with numpy: quotes, brackets and commas are picked out,
those inside strings are dropped by the parity of the quotes, and the depth is a running sum. No
recursion, no object per value: a 100 MB array takes less time than `json.loads`, and a million
nested brackets do not touch the stack.

>>> index = JsonIndex('[1, {"a": [2, 3]}, "x,y"]')
>>> index.commas(0, 24).tolist(), index.commas(10, 15).tolist()
([2, 17], [12])

Whether the text *is* JSON is asked of a parser, batch by batch, so that no large tree of objects
is built (`is_json`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ctxlab.truncation.pieces import DEEPEST

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int64]

_BLOCK = 1 << 20
_BATCH = 1 << 17
_OPEN, _CLOSE = b"[{", b"]}"
_HEAD = re.compile(r"[\s\ufeff]*")


class JsonIndex:
    """Brackets and commas of `text[start:end]`, down to the depth that a cut can reach."""

    def __init__(self, text: str, start: int = 0, end: int | None = None) -> None:
        self._text = text
        self.start, self.end = _stripped(text, start, len(text) if end is None else end)
        ends = text[self.start : self.start + 1] + text[self.end - 1 : self.end]
        # What cannot be JSON is not scanned.
        stop = self.end if ends in ("[]", "{}") else self.start
        self._places, self._depths, self._balanced = _scanned(text, self.start, stop)
        self._levels: dict[int, Places] = {}

    def commas(self, opened: int, closed: int) -> Places:
        """Where the commas of the container stand whose brackets are at these two places."""
        import numpy as np  # noqa: PLC0415  see `_scanned`

        at = int(np.searchsorted(self._places, opened))
        if at >= len(self._places) or self._places[at] != opened:
            return self._places[:0]
        level = self._level(int(self._depths[at]))
        first, last = np.searchsorted(level, [opened, closed])
        return level[first + 1 : last]

    def is_json(self) -> bool:
        """Whether the span is one JSON object, array or string.

        What is nested deeper than any parser goes counts as JSON when its brackets match.
        """
        if self._text[self.start : self.start + 1] == '"':
            return _parses(self._text[self.start : self.end])
        if not self._balanced:
            return False
        opening, closing = self._text[self.start], self._text[self.end - 1]
        return all(_parses(f"{opening}{part}{closing}") for part in self._batches())

    def _batches(self) -> Iterator[str]:
        """The elements of the outermost container, some at a time, without the commas between."""
        import numpy as np  # noqa: PLC0415  see `_scanned`

        commas = self.commas(self.start, self.end - 1)
        at = self.start + 1
        while at + _BATCH < self.end:
            nearest = int(np.searchsorted(commas, at + _BATCH))
            if nearest == len(commas):
                break
            part = self._text[at : int(commas[nearest])]
            yield part if part.strip() else ","  # nothing between two commas is no JSON
            at = int(commas[nearest]) + 1
        rest = self._text[at : self.end - 1]
        yield rest if rest.strip() or at == self.start + 1 else ","

    def _level(self, depth: int) -> Places:
        """All places at one depth, opening and closing brackets among them."""
        if depth not in self._levels:
            self._levels[depth] = self._places[self._depths == depth]
        return self._levels[depth]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space and byte order mark around it."""
    begin = _HEAD.match(text, start, end)
    start = begin.end() if begin else start
    return start, start + len(text[start:end].rstrip())


def _scanned(text: str, start: int, end: int) -> tuple[Places, npt.NDArray[np.uint8], bool]:
    """Places and depths of brackets and commas, and whether the first bracket closes last."""
    import numpy as np  # noqa: PLC0415  0.1 s that a command which cuts nothing should not pay

    table = np.zeros(256, np.int8)
    table[list(b'",')], table[list(_OPEN)], table[list(_CLOSE)] = 2, 1, -1
    places, depths = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
    depth, quotes, closed, balanced = 0, 0, False, True
    for at, raw in _blocks(text, start, end):
        block = np.frombuffer(raw, np.uint8)
        marks = np.flatnonzero(table[block])
        signs = block[marks]
        inside = np.cumsum(signs == ord('"'), dtype=np.int64) + quotes
        quotes = int(inside[-1]) % 2 if len(inside) else quotes
        outside = (inside % 2 == 0) & (signs != ord('"'))
        marks, steps = marks[outside], table[signs[outside]]
        steps = np.where(steps == 2, 0, steps)  # noqa: PLR2004  a comma
        after = np.cumsum(steps, dtype=np.int64) + depth
        here = after + (steps < 0)
        balanced &= not (closed and len(marks)) and bool(np.all(here > 0))
        depth = int(after[-1]) if len(after) else depth
        closed = closed or (len(after) > 0 and depth == 0)
        balanced &= bool(np.all(after[:-1] > 0))
        reached = here <= DEEPEST + 1
        places.append(marks[reached] + at)
        depths.append(here[reached].astype(np.uint8))
    return np.concatenate(places), np.concatenate(depths), balanced and closed and not quotes


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Blocks of one byte a character, escapes made harmless; none begins behind a backslash."""
    at = start
    while at < end:
        stop = min(at + _BLOCK, end)
        while stop < end and text[stop - 1] == "\\":
            stop += 1
        raw = text[at:stop].encode("latin-1", "replace")
        if b"\\" in raw:
            raw = raw.replace(b"\\\\", b"..").replace(b'\\"', b"..")
        yield at, raw
        at = stop


def _parses(part: str) -> bool:
    import orjson  # noqa: PLC0415  as numpy

    try:
        orjson.loads(part)
    except ValueError:  # NaN, a lone surrogate, a nesting of a thousand: the standard parser's word
        return _parses_slowly(part)
    return True


def _parses_slowly(part: str) -> bool:
    read: Any = len  # a number with ten thousand digits is JSON, and no int
    try:
        json.loads(part, parse_int=read)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
