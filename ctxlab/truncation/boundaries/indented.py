r"""What belongs together by its indentation: for languages that no grammar here parses, and YAML.

>>> text = "if x {\n  a\n  b\n}\nelse {\n  c\n}\nd\n"
>>> indented(text, 0, len(text), (99, 99)).ends
[30, 32]

A piece is a line at the least depth with the deeper lines under it, and with what closes or goes
on with it (`}`, `end`, `else`). Inside, its first line and its closing one are the frame.
"""

from __future__ import annotations

import re

from ctxlab.truncation.boundaries.text import finer, lines, pieces
from ctxlab.truncation.pieces import Pieces, Room

_LINE = re.compile(r"^([ \t]*)(\S)", re.MULTILINE)
_GOES_ON = re.compile(r"[)\]}]|(?:end|else|elif|elsif|except|finally|rescue|catch|fi|done|esac)\b")
_CLOSES = re.compile(r"[)\]}]|(?:end|fi|done|esac)\b")


def indented(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Blocks of lines by their indentation, at the least depth where there are several."""
    heads = _heads(text, start, end)
    if len(heads) > 1:
        return pieces("blocks", heads[1:], (start, end), indented)
    opened = text.find("\n", start, end) + 1
    closed = _closing(text, start, end)
    if not opened or opened >= closed:
        return finer(lines)(text, start, end, room)
    inner = _heads(text, opened, closed)
    return pieces("blocks", inner[1:], (opened, closed), indented, frame=(start, end))


def _heads(text: str, start: int, end: int) -> list[int]:
    """Where a line begins that has the least indentation and opens something new."""
    found = [
        (match.start(), match[1], match.end() - 1) for match in _LINE.finditer(text, start, end)
    ]
    if not found:
        return []
    depths = [len(indent.expandtabs(8)) for _, indent, _ in found]
    least = min(depths)
    return [
        at
        for (at, _, word), depth in zip(found, depths, strict=True)
        if depth == least and not _GOES_ON.match(text, word)
    ]


def _closing(text: str, start: int, end: int) -> int:
    """Where the last line begins if it closes what the first opened, else the end."""
    last = start + len(text[start:end].rstrip())
    line = text.rfind("\n", start, last) + 1
    word = _LINE.match(text, line, end)
    return line if word and _CLOSES.match(text, word.end() - 1) else end
