"""A file of JSON lines, row by row, with the place of each: no line, however spoilt, stops it.

Lines end at a line feed (a carriage return before it is white space to JSON); a byte order mark
before the first one is passed over. orjson refuses NaN, lone surrogates and what nests too deeply:
such a row is a broken one. Of a repeated key the last value counts. Memory: one line at a time, and
none of a line longer than `LONGEST`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

LONGEST = 128 << 20
BLANK = "blank"
NO_OBJECT = "a line that is no JSON object"
BROKEN = "broken JSON"
INCOMPLETE = "incomplete last line: the file was still being written"
TOO_LONG = f"a line longer than {LONGEST >> 20} MB"
_BUFFER = 1 << 20
BOM = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """One line: its value, or the problem that it has instead."""

    number: int
    """Counted from 1 at the place where the reading began."""
    offset: int
    length: int
    value: Any
    problem: str = ""


def rows(path: Path, start: int = 0, end: int | None = None) -> Iterator[Row]:
    """The rows that begin at a byte in [start, end): parts of a file, taken together, are the file.

    Raises:
        OSError: the file cannot be read.
    """
    loads, new, number = orjson.loads, tuple.__new__, 0  # half the time of Row(…)
    with path.open("rb", buffering=_BUFFER) as file:
        offset = _beginning(file, start)
        while (end is None or offset < end) and (raw := file.readline(LONGEST)):
            number += 1
            here, length = offset, len(raw)
            offset += length
            try:
                yield new(Row, (number, here, length, loads(raw), ""))
                continue
            except orjson.JSONDecodeError:
                pass
            if here == 0 and raw.startswith(BOM):
                here, raw = len(BOM), raw[len(BOM) :]
            offset += _rest(file) if length == LONGEST and not raw.endswith(b"\n") else 0
            yield _second_try(number, here, raw)


def _beginning(file: BinaryIO, start: int) -> int:
    """Go to the first line that begins at or behind `start`."""
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + _rest(file)


def _rest(file: BinaryIO) -> int:
    """Pass over the rest of a line; its length."""
    length = 0
    while raw := file.readline(_BUFFER):
        length += len(raw)
        if raw.endswith(b"\n"):
            break
    return length


def _second_try(number: int, offset: int, raw: bytes) -> Row:
    """A row without its byte order mark, or what is wrong with it."""
    length = len(raw)
    if not raw or raw.isspace():
        return Row(number, offset, length, None, BLANK)
    if length >= LONGEST and not raw.endswith(b"\n"):
        return Row(number, offset, length, None, TOO_LONG)
    try:
        return Row(number, offset, length, orjson.loads(raw))
    except orjson.JSONDecodeError:
        problem = BROKEN if raw.endswith(b"\n") else INCOMPLETE
        return Row(number, offset, length, None, problem)
