"""The two values of a change as people read them; scripts get whole values.

>>> cells("0.10114619999999999", "0.12931575")
('0.1011', '0.1293')
>>> values(None, True)
('none', 'yes')
>>> values("ab" * 32, "12" * 32)
('abababab', '12121212')

One line of printable text, at most `width` characters of it, around the first difference. Numbers
have as many digits as tell the two apart, four at least. Not handled: what a change means.
"""

from __future__ import annotations

import json
import math
import re

from ctxlab import excerpt

WIDTH = 60
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HASH_SHOWN = 8
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?(e[-+]?\d{1,3})?", re.IGNORECASE)
_SHORT = 7
"""Characters of a fraction that nobody minds: `3.10` may be a version, and stays."""
_FEWEST, _MOST = 4, 17
"""Significant digits; with 17 any two floats differ."""
_SMALL, _LARGE = 1e-5, 1e15
"""Beyond, zeros would have to be counted: powers of ten are shown."""


def values(before: object, after: object, width: int = WIDTH) -> tuple[str, str]:
    """Both sides of a change of an input: of any type, None where there is none."""
    if isinstance(before, float) and isinstance(after, float):
        return _numbers(repr(before), repr(after))
    return excerpt.differing(_text(before), _text(after), width)


def cells(before: str, after: str, width: int = WIDTH) -> tuple[str, str]:
    """Both sides of a change of a table's cell: text, which may be a number or a tool's answer."""
    if _NUMBER.fullmatch(before) and _NUMBER.fullmatch(after):
        return _numbers(before, after)
    return values(before, after, width)


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if _HASH.fullmatch(text):
        return text[:_HASH_SHOWN]
    return "".join(each if each.isprintable() else " " for each in text)


def _numbers(before: str, after: str) -> tuple[str, str]:
    """Two numbers with the fewest digits that tell them apart.

    >>> _numbers("1234567.25", "1234567.75"), _numbers("5", "7.0"), _numbers("0.5", "1e-09")
    (('1,234,567', '1,234,568'), ('5', '7.0'), ('0.5', '1e-09'))
    """
    found = before, after
    for digits in range(_FEWEST, _MOST + 1):
        found = _rounded(before, digits), _rounded(after, digits)
        if found[0] != found[1]:
            break
    return found


def _rounded(text: str, digits: int) -> str:
    if text.lstrip("-").isdigit():
        return f"{int(text):,}"
    number = float(text)
    if len(text) < _SHORT or not _SMALL < abs(number) < _LARGE:
        return text if len(text) < _SHORT else f"{number:.{digits}g}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(number))), 0)
    told = f"{number:,.{decimals}f}"
    return told.rstrip("0").rstrip(".") if "." in told else told
