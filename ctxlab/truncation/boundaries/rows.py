r"""NDJSON and CSV: whole rows, the CSV header kept; then the values of a row.

>>> csv_rows("a,b\n1,\"x\ny\"\n2,z\n", 0, 16, (16, 16)).ends
[12, 16]
"""

from __future__ import annotations

import re
from functools import lru_cache

from ctxlab.truncation.boundaries.json_index import JsonIndex
from ctxlab.truncation.boundaries.json_values import JsonValues
from ctxlab.truncation.boundaries.text import (
    cell_characters,
    finer,
    framed,
    line_ends,
    lines,
    pieces,
    words,
)
from ctxlab.truncation.pieces import Pieces, Room

DELIMITERS = ",;\t|"


def ndjson_rows(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Rows of NDJSON, with the blank lines before them; a row is cut inside as JSON."""
    found = pieces(
        "rows", _filled(text, start, line_ends(text, start, end)), (start, end), finer(json_row)
    )
    return found or json_row(text, start, end, room)


def json_row(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """The values of one row; a row that is no JSON is cut as text."""
    index = JsonIndex(text, start, end)
    if index.is_json():
        return JsonValues(text, index=index)(text, start, end, room)
    return lines(text, start, end, room)


def csv_rows(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Rows of CSV in the frame of the header, the first row; quoted fields may hold line ends."""
    ends = _filled(text, start, _row_ends(text, start, end))
    opened = ends[0] if ends else end
    found = pieces("rows", ends, (opened, end), finer(csv_fields), frame=(start, end))
    return found or csv_fields(text, start, end, room)


def _filled(text: str, start: int, ends: list[int]) -> list[int]:
    """The ends of lines that are not blank; blank lines at the very end go with the last."""
    stops = zip([start, *ends], ends, strict=False)
    filled = [end for at, end in stops if not text[at:end].isspace()]
    return [*filled[:-1], ends[-1]]


def csv_fields(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Fields of one row, each with the delimiter before it."""
    closed = start + len(text[start:end].rstrip("\r\n"))
    field = _field(delimiter(text[start:closed]))
    ends = [match.end() for match in re.compile(field).finditer(text, start, closed)]
    found = pieces("fields", ends, (start, closed), _field_inside)
    return framed(found, (start, end)) or _field_inside(text, start, closed, room)


def _field_inside(text: str, start: int, end: int, room: Room) -> Pieces | None:
    at = start + (text[start] in DELIMITERS)
    if text[at : at + 1] == '"' == text[end - 1] and at + 1 < end - 1:
        return framed(cell_characters(text, at + 1, end - 1, room), (start, end))
    return words(text, start, end, room)


def _row_ends(text: str, start: int, end: int) -> list[int]:
    if text.find('"', start, end) < 0:
        return line_ends(text, start, end)
    field = _field(delimiter(text[start : text.find("\n", start, end)]))
    row = re.compile(rf"(?:{field})++\n?|\n")
    return [match.end() for match in row.finditer(text, start, end)]


@lru_cache(maxsize=8)
def _field(mark: str) -> str:
    """A field with the delimiter before it, as Python's csv module reads it."""
    mark = re.escape(mark)
    bare = rf"[^{mark}\n]*+"
    return rf'(?:{mark}|(?<![^\n]))(?:"[^"]*+(?:""[^"]*+)*+"{bare}|{bare})'


def delimiter(row: str) -> str:
    """The delimiter that a row has most of; a comma where it has none.

    >>> delimiter('a;b;"c,d,e"'), delimiter("one")
    (';', ',')
    """
    bare = re.sub(r'"[^"]*"', "", row)
    return max(DELIMITERS, key=bare.count)
