r"""Terminal colours as classes: `\x1b[31m` becomes a span, every other escape is left out.

>>> coloured("\x1b[31mno\x1b[0m <b>")
Markup('<span class="a1">no</span> &lt;b&gt;')

The six colours, bold and grey have a class each (`a0` … `a7`, `ab`), readable in both schemes; of
256 and of true colours the nearest of them is taken. Not handled: backgrounds, cursor movement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from ctxlab.workbench.report.text import joined, visible

_ESCAPE = re.compile(
    r"\x1b\[(?P<sgr>[0-9;:]*)m"  # colours
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other control sequences
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # titles and links
    r"|\x1b[@-Z\\-_]"
)
_SPREAD = 40  # channels closer than this are a grey


def coloured(text: str) -> Markup:
    """The text with its colours as spans; everything else escaped."""
    return joined(_spans(text))


def plain(text: str) -> str:
    r"""The text without any escape sequence.

    >>> plain("\x1b[1;31mno\x1b[0m")
    'no'
    """
    return _ESCAPE.sub("", text)


def _spans(text: str) -> Iterator[Markup]:
    colour, bold, at = "", False, 0
    for found in _ESCAPE.finditer(text):
        yield _span(text[at : found.start()], colour, bold=bold)
        if found["sgr"] is not None:
            colour, bold = _after(found["sgr"], colour, bold=bold)
        at = found.end()
    yield _span(text[at:], colour, bold=bold)


def _span(text: str, colour: str, *, bold: bool) -> Markup:
    classes = " ".join(filter(None, (colour, "ab" if bold else "")))
    body = escape(visible(text))
    if not text or not classes:
        return body
    return Markup('<span class="{}">{}</span>').format(classes, body)


def _after(codes: str, colour: str, *, bold: bool) -> tuple[str, bool]:
    numbers = [int(code) if code else 0 for code in re.split("[;:]", codes)[:16]]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            colour, bold = "", False
        elif code in (1, 22):
            bold = code == 1
        elif code == 39:  # noqa: PLR2004  the default colour
            colour = ""
        elif code in (38, 48):
            found = _extended(numbers)
            colour = found if code == 38 else colour  # noqa: PLR2004  foreground
        elif 30 <= code <= 37 or 90 <= code <= 97:  # noqa: PLR2004  the sixteen
            colour = f"a{code % 10}"
    return colour, bold


def _extended(numbers: list[int]) -> str:
    """The class of `5;n` or `2;r;g;b`, which are taken off the list."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 5 and numbers:  # noqa: PLR2004  one of 256
        return _of_256(numbers.pop(0))
    if kind == 2 and len(numbers) >= 3:  # noqa: PLR2004  red, green, blue
        return _nearest(numbers.pop(0), numbers.pop(0), numbers.pop(0))
    return ""


def _of_256(code: int) -> str:
    if code < 16:  # noqa: PLR2004  the sixteen
        return f"a{code % 8}"
    if code >= 232:  # noqa: PLR2004  greys
        return "a0"
    cube = code - 16
    return _nearest(*(51 * part for part in (cube // 36, cube // 6 % 6, cube % 6)))


def _nearest(red: int, green: int, blue: int) -> str:
    """The hue, by which channels are strong; nearly equal ones are grey."""
    channels = (red, green, blue)
    if max(channels) - min(channels) < _SPREAD:
        return "a0"
    middle = (max(channels) + min(channels)) / 2
    return f"a{sum(1 << at for at, channel in enumerate(channels) if channel > middle)}"
