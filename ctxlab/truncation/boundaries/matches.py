r"""Search results: files with their matches, then matches, then the lines of one.

Four layouts: `path:line:text`; a path once with `line:text` under it (ripgrep's headings, ours);
`<match …>` blocks; and context lines in groups that `--` parts. The line that names a file stays
with any of its matches, a first line that counts them with anything.

>>> text = "Found 3 matches in 2 files for \"x\"\n\na.py\n1:x\n9:xx\n\nb.py\n2:x\n"
>>> found = results(text, 0, len(text), (99, 99))
>>> found.opened, found.ends, found.inside(text, 36, 51, (99, 99)).ends
(36, [51, 60], [45, 51])
"""

from __future__ import annotations

import re

from ctxlab.truncation.boundaries.text import finer, lines, pieces
from ctxlab.truncation.pieces import Pieces, Room

FLAT = re.compile(r"^(?:[A-Za-z]:[\\/])?[^\s:][^:\n]*:\d+:", re.MULTILINE)
TAGGED = re.compile(r"^<match\b", re.MULTILINE)
# A path, and under it a line that begins with a line number.
HEADED = re.compile(r"^(?!\d+[:|-]|\.\.\.|--$)\S[^\n]*\n(?=\d+:)", re.MULTILINE)
NUMBERED = re.compile(r"^\d+:", re.MULTILINE)
_PARTED = re.compile(r"^--\r?\n", re.MULTILINE)


def results(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Files with matches where a path stands over them, else matches."""
    headed = [match.start() for match in HEADED.finditer(text, start, end)]
    if headed and not TAGGED.search(text, start, end):
        inner = (headed[0], end)
        found = pieces("files", headed[1:], inner, matches, frame=(start, end))
        return found or matches(text, start, end, room)
    return matches(text, start, end, room)


def matches(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Single matches, with what belongs to each; context lines go with their group."""
    for opens in (TAGGED, _PARTED, NUMBERED, FLAT):
        begins = [match.start() for match in opens.finditer(text, start, end)]
        if begins:
            break
    else:
        return finer(lines)(text, start, end, room)
    if opens is _PARTED:  # the groups stand between the marks, and one before the first
        begins = [start, *(at + len("--\n") for at in begins)]
    inner = (begins[0], end)
    found = pieces("matches", begins[1:], inner, finer(lines), frame=(start, end))
    return found or finer(lines)(text, start, end, room)
