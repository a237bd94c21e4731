r"""Text of a log made safe to show: a log is data, and a terminal obeys control characters.

>>> shown("\x1b[31mrm -rf\x1b[0m Bearer abcdefghijklmnopqrst\n", 24)
'·[31mrm -rf·[0m Bearer …'
>>> shown("Bearer abcdefghijklmnopqrst", 40)
'Bearer ***'
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from ctxlab.excerpt import differing
from ctxlab.masking import masked

_ELLIPSIS = "…"
_WIDE = ("W", "F")


def shown(text: str, width: int) -> str:
    """One line of at most `width` columns: secrets masked, control characters as a dot."""
    one_line = " ".join(masked(text).split())
    return _shortened("".join(map(_visible, one_line)), width)


def shown_end(text: str, width: int) -> str:
    """The same of a path, whose end says most.

    >>> shown_end("projects/-home-me-app/1af7fc5e.jsonl", 20)
    '…-app/1af7fc5e.jsonl'
    """
    turned = shown(text, 2 * len(text) + 1)[::-1]
    return _shortened(turned, width)[::-1]


def shown_pair(before: str, after: str, width: int) -> tuple[str, str]:
    r"""Two texts in at most `width` characters each, around the place where they differ.

    White space stays: it may be what differs.

    >>> shown_pair("be kind\n" * 20 + "always", "be kind\n" * 20 + "at times", 24)
    ('…e kind·be kind·always', '…e kind·be kind·at times')
    """
    old, new = ("".join(map(_visible, masked(text))) for text in (before, after))
    return differing(old, new, width)


def columns_of(text: str) -> int:
    """How many columns a terminal gives a text."""
    return sum(map(_columns, text))


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with spaces."""
    space = " " * max(0, width - columns_of(text))
    return space + text if right else text + space


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines with aligned columns: the first `left` on the left, numbers on the right."""
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            padded(cell, width, right=number >= left)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _visible(character: str) -> str:
    # Controls, and what turns the direction of a text or hides in it.
    return "·" if unicodedata.category(character).startswith("C") else character


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def _shortened(text: str, width: int) -> str:
    if columns_of(text) <= width:
        return text
    kept, left = [], width - 1
    for character in text:
        left -= _columns(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + _ELLIPSIS
