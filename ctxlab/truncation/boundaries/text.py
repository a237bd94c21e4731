r"""Boundaries that every text has: paragraphs, lines, words, and characters as people see them.

Each divider hands a span that it cannot take apart on to the next finer one, down to single
grapheme clusters: an emoji sequence, a letter with its accents, an escape such as `\n`, `%20`,
`&amp;` or `\ud83d\ude00`, a terminal's colour code. Those are never cut inside.

>>> characters("e\u0301\\u00e9!", 0, 9, (9, 9)).ends
[2, 8, 9]

Line ends are `\n` (and so `\r\n`); a lone `\r`, `\f` or U+2028 does not end a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ctxlab.truncation.pieces import Divider, Pieces, Room, Span

if TYPE_CHECKING:
    import regex

_PARAGRAPH = re.compile(r"\n(?:[ \t\r]*\n)+")
_LINE = re.compile(r"\n")

_JOINS = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])"
# White space goes with the word behind it: between a word and white space a cluster always ends.
_WORD = rf"\s*+(?:[^\s\x1b]++|{_TERMINAL}|\x1b)++|\s+"
# Between any two characters of a run a cluster ends; what the next one joins to is not among them.
# Flags are paired here: the module's own \X counts all flags before each.
_CLUSTER = rf"(?P<run>\p{{GCB=Other}}+(?!{_JOINS}))|\p{{GCB=Regional_Indicator}}{{2}}{_JOINS}*+|\X"
# A place in unescaped text where a cluster ends whatever came before.
_CERTAIN = (
    r"(?<=\p{GCB=Other})(?=\p{GCB=Other})"
    r"|(?<=\P{GCB=Prepend})(?=[\p{GCB=Other}--\p{Extended_Pictographic}--\p{InCB=Consonant}])"
)
_ESCAPE = (
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}"
    r"|\\u\{[0-9a-fA-F]{1,6}\}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\\S"
    r"|%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3}|%[0-9a-fA-F]{2}"
    r"|&\#?\w{1,31};|[\uD800-\uDBFF][\uDC00-\uDFFF]|" + _TERMINAL
)
_MARKS_ESCAPE = r"[\\%&\x1b\uD800-\uDBFF]"
# Where an escape can begin but none can go on: behind white space, or at a first backslash.
_OUTSIDE = r"(?<=\s)(?<!\x1b\][^\x07\x1b]{0,2048})\S|(?<!\\)\\|\x1b(?!\\)"
# Behind a window stands enough text to tell whether an escape goes on.
_LONGEST_ESCAPE = 2_100


@lru_cache(maxsize=16)
def pattern(source: str) -> regex.Pattern[str]:
    """A pattern of the `regex` module, which is imported when the first cut needs it."""
    import regex  # noqa: PLC0415  30 ms that a command which cuts nothing should not pay

    return regex.compile(source, regex.V1)


def paragraphs(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Paragraphs, each with the blank lines behind it."""
    ends = [match.end() for match in _PARAGRAPH.finditer(text, start, end)]
    return pieces("paragraphs", ends, (start, end), lines) or lines(text, start, end, room)


def lines(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Lines, each with its line end."""
    found = pieces("lines", line_ends(text, start, end), (start, end), words)
    return found or words(text, start, end, room)


def line_ends(text: str, start: int, end: int) -> list[int]:
    r"""Where each line ends, behind its line end; the last may have none.

    >>> line_ends("a\nb\nc", 0, 5), line_ends("a\nb\nc\n", 0, 6)
    ([2, 4, 5], [2, 4, 6])
    """
    found = [match.end() for match in _LINE.finditer(text, start, end)]
    return found if found and found[-1] == end else [*found, end]


def words(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Words, each with the white space before it; only near both ends when the span is long."""
    near = start + room[0]
    stop = min(end, near + _LONGEST_ESCAPE)
    ends = [match.end() for match in pattern(_WORD).finditer(text, start, stop)]
    ends = [place for place in ends if place <= near]
    if near < end and room[1] and text.find("\x1b", start, end) < 0:
        space = pattern(r"(?<=\S)\s").search(text, max(end - room[1], near), end)
        rest = space.start() if space else end
        ends += [rest, *(match.end() for match in pattern(_WORD).finditer(text, rest, end))]
    found = pieces("words", ends, (start, end), characters)
    return _listed(found, near >= end) or characters(text, start, end, room)


def characters(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Grapheme clusters and escapes; only near both ends when the span is long."""
    return _clusters(text, (start, end), room, _ESCAPE, _MARKS_ESCAPE)


def cell_characters(text: str, start: int, end: int, room: Room) -> Pieces | None:
    """Characters inside a quoted CSV field, where a doubled quote is one."""
    return _clusters(text, (start, end), room, '""|' + _ESCAPE, '"|' + _MARKS_ESCAPE)


@lru_cache
def finer(divide: Divider) -> Divider:
    """The same pieces as the ones below a kind's own boundary: see `Pieces.fine`."""

    def divided(text: str, start: int, end: int, room: Room) -> Pieces | None:
        found = divide(text, start, end, room)
        return found and replace(found, fine=True)

    return divided


def framed(found: Pieces | None, frame: Span) -> Pieces | None:
    """These pieces, with what stands around them as their frame: a string inside its quotes."""
    return found and replace(found, frame=frame)


def pieces(
    name: str,
    ends: Sequence[int],
    span: Span,
    inside: Divider | None,
    *,
    frame: Span | None = None,
) -> Pieces | None:
    """Pieces that cover the span, ending at these places, ascending.

    None when there is one piece alone and no frame around it: nothing was taken apart.
    """
    ends = [end for end in ends if span[0] < end < span[1]]
    if span[0] == span[1] or (not ends and frame in (None, span)):
        return None
    starts = [span[0], *ends]
    return Pieces(name, frame or span, starts, [*ends, span[1]], *span, inside)


def _clusters(text: str, span: Span, room: Room, escape: str, marks: str) -> Pieces | None:
    start, end = span
    near = start + room[0]
    stop = min(end, near + _LONGEST_ESCAPE)
    meant, places = _meant(text, (start, stop), escape, marks)
    ends = [place for place in _cluster_ends(meant, places, 0) if place <= near]
    if near < end and room[1]:
        tail = _tail(text, (max(end - room[1] - _LONGEST_ESCAPE, near), end), escape, marks)
        ends += tail or _cluster_ends(*_meant(text, span, escape, marks), 0)
    return _listed(pieces("characters", sorted(set(ends)), span, None), near >= end)


def _listed(found: Pieces | None, complete: bool) -> Pieces | None:  # noqa: FBT001  see Pieces
    return found and replace(found, complete=complete)


def _tail(text: str, span: Span, escape: str, marks: str) -> list[int]:
    """Where clusters end in a span that begins anywhere: from the first certain place on."""
    start, end = span
    if pattern(marks).search(text, max(start - _LONGEST_ESCAPE, 0), end):
        outside = pattern(_OUTSIDE).search(text, start, end)
        start = outside.start() if outside else end
    meant, places = _meant(text, (start, end), escape, marks)
    certain = pattern(_CERTAIN).search(meant)
    if not certain:
        return []
    return [places[certain.start()], *_cluster_ends(meant, places, certain.start())]


def _cluster_ends(meant: str, places: Sequence[int], start: int) -> list[int]:
    ends: list[int] = []
    for match in pattern(_CLUSTER).finditer(meant, start):
        first = match.start() + 1 if match["run"] else match.end()
        ends.extend(places[first : match.end() + 1])
    return ends


def _meant(text: str, span: Span, escape: str, marks: str) -> tuple[str, Sequence[int]]:
    """The span with each escape as one character, and where each stands in the text."""
    at, stop = span
    if not pattern(marks).search(text, at, stop):
        return text[at:stop], range(at, stop + 1)
    parts: list[str] = []
    places: list[int] = []
    for match in pattern(escape).finditer(text, at, stop):
        parts += [text[at : match.start()], _character(match[0])]
        places.extend(range(at, match.start() + 1))
        at = match.end()
    return "".join([*parts, text[at:stop]]), [*places, *range(at, stop + 1)]


@lru_cache(maxsize=1024)
def _character(escape: str) -> str:
    r"""What an escape stands for, where that can join what is around it; else any letter.

    >>> _character(r"\ud83d\ude00"), _character("%cc%81") == "\u0301", _character("&amp;")
    ('😀', True, 'x')
    """
    digits = re.sub(r"\\[uUx]|[{}%]", "", escape)
    try:
        if escape[0] == "%":
            return bytes.fromhex(digits).decode()
        if re.match(r"\\u[^{]", escape):
            return bytes.fromhex(digits).decode("utf-16-be")
        if re.match(r"\\[uU]", escape):
            return chr(int(digits, 16))
        if escape[0] > "\ud7ff":
            return escape.encode("utf-16", "surrogatepass").decode("utf-16")
    except (ValueError, OverflowError):  # half a pair, not UTF-8, beyond the last character
        pass
    return "x"
