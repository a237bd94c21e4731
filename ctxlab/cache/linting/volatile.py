r"""Values that differ from one request to the next, found in a text by their shape.

>>> [found.text for found in volatile("Now it is 2026-11-30T10:42:07Z. Home: /home/ada/work")]
['2026-11-30T10:42:07Z', '/home/ada']
>>> volatile('Dates are written as YYYY-MM-DD, e.g. "2026-11-30T10:42:07Z".')
[]

A value that is given as an example is none: that is told by the words before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Volatile(NamedTuple):
    """A volatile value and what it is."""

    kind: str
    text: str
    start: int


_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[ap]m|Z|[+-]\d{2}:?\d{2})?"
_DAY = r"\d{4}[-/]\d{2}[-/]\d{2}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE = rf"{_DAY}(?![T ]\d)|{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}} {_MONTH} \d{{4}}"
_PATTERNS = {
    "timestamp": rf"\b{_DAY}[T ]{_CLOCK}",
    "time": (
        rf"\b(?:time|now|clock)\b[^.\n]{{0,20}}?\b{_CLOCK}"
        r"|\b(?!00:00:00|23:59:59)\d{1,2}:\d{2}:\d{2}\b"
    ),
    "date": rf"\b(?:date|today|now)\b[^.\n<>=]{{0,30}}?(?:{_DATE})",
    "UUID": r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    "id": (
        r"\b(?:session|request|trace|correlation|run|conversation|thread)[ _-]?id"
        r"\s*[:=]\s*[\w.-]*\d[\w.-]*"
    ),
    "epoch": r"\b(?:time|now|epoch|since)\b\D{0,20}\b1[4-9]\d{8}(?:\d{3})?\b",
    "path": r"(?:/home|/Users|/root/|/tmp/|/var/folders)/?[\w.-]+|[A-Z]:\\Users\\[\w.-]+",
}
_ALL = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()), re.IGNORECASE
)
_EXAMPLE = re.compile(
    r"\b(?:e\.?g\.?|i\.?e\.?|examples?|such as|for instance|like|format(?:s|ted)?|default|ISO"
    r"|YYYY|HH|between|from|after|before|since|until)\b|[`'\"=<]\s*$",
    re.IGNORECASE,
)
_EXAMPLE_REACH = 60


def volatile(text: str) -> list[Volatile]:
    """The volatile values of a text, in order; a value is told once."""
    return list({found.text: found for found in _found(text)}.values())


def _found(text: str) -> Iterator[Volatile]:
    for match in _ALL.finditer(text):
        before = text[max(0, match.start() - _EXAMPLE_REACH) : match.start()]
        if not _EXAMPLE.search(before.rsplit("\n", 1)[-1]):
            yield Volatile(str(match.lastgroup), match[0], match.start())
