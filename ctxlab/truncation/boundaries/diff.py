r"""Diffs: commits, files, hunks, then lines.

The lines that name a file stay with any of its hunks, a hunk's `@@` line with any of its lines.

>>> text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"
>>> found = files(text, 0, len(text), (99, 99))
>>> found.opened, found.ends
(16, [34, 52])
"""

from __future__ import annotations

import re

from ctxlab.truncation.boundaries.text import finer, line_ends, lines, pieces, words
from ctxlab.truncation.pieces import Pieces, Room

COMMIT = re.compile(r"^(?:commit|From) [0-9a-f]{7,64}\b", re.MULTILINE)
FILE = re.compile(r"^(?:diff --git |diff -r |diff -|Index: )", re.MULTILINE)
NAMES = re.compile(r"^--- .*\n\+\+\+ .*\n@@", re.MULTILINE)
HUNK = re.compile(r"^@@+ .*@@", re.MULTILINE)


def commits(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Commits of a log with patches; files where there is one alone."""
    begins = [match.start() for match in COMMIT.finditer(text, start, end)]
    return pieces("commits", begins, (start, end), files) or files(text, start, end, room)


def files(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """The files of one diff, in the frame of what is written before the first."""
    begins = [match.start() for match in FILE.finditer(text, start, end)]
    begins = begins or [match.start() for match in NAMES.finditer(text, start, end)]
    if not begins:
        return hunks(text, start, end, room)
    found = pieces("files", begins[1:], (begins[0], end), hunks, frame=(start, end))
    return found or hunks(text, start, end, room)


def hunks(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """The hunks of one file, in the frame of the lines that name it."""
    begins = [match.start() for match in HUNK.finditer(text, start, end)]
    if not begins:
        return finer(lines)(text, start, end, room)
    found = pieces("hunks", begins[1:], (begins[0], end), finer(hunk_lines), frame=(start, end))
    return found or hunk_lines(text, start, end, room)


def hunk_lines(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """The lines of one hunk, in the frame of its `@@` line."""
    opened = text.find("\n", start, end) + 1
    if not opened or opened == end:
        return words(text, start, end, room)
    inner = (opened, end)
    return pieces("lines", line_ends(text, *inner), inner, words, frame=(start, end))
