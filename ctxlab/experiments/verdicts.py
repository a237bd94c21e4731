"""How a measured value stands to a stated one.

| verdict      | meaning                                                                  |
|--------------|--------------------------------------------------------------------------|
| `reproduced` | equal, to the last digit that the document writes                        |
| `direction`  | not equal, but the same sign and order (only for claims of that kind)    |
| `differs`    | measured, and neither of the two                                         |
| `external`   | someone's own telemetry: shown beside ours, and cannot equal it          |
| `live`       | needs the real API, and was not measured there yet                       |
| `open`       | no experiment has measured it                                            |

"The same sign and order", which is weak evidence and is meant to be: of a part of a whole, the
same side of one half; of a ratio, the same side of 1; of named values, the same signs and the same
ranking; of any other number, the same sign and within a factor of ten; of words without a figure,
that what they say was measured to hold (a true flag, or a number above zero).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

KINDS = ("exact", "simulated", "given", "direction", "price", "external", "live")
VERDICTS = ("reproduced", "direction", "differs", "external", "live", "open")

_ORDER_OF_MAGNITUDE = 10

PartOf = tuple[Any, float | None]
"""A value and the whole that it is a part of, None where there is none."""


def verdict(kind: str, stated: PartOf, measured: PartOf, unit: str = "") -> str:
    """One of VERDICTS; a measured value of None means that nothing was measured.

    >>> verdict("exact", (48, None), (48.3, None), "percent")
    'reproduced'
    >>> verdict("direction", (1, 40), (7, 40))
    'direction'
    >>> verdict("external", (75, None), (61.5, None))
    'external'
    """
    if measured[0] is None:
        return "live" if kind == "live" else "open"
    if kind == "external":
        return "external"
    if _equal(*stated, *measured):
        return "reproduced"
    if kind in ("direction", "live") and _same_direction(stated, measured, unit):
        return "direction"
    return "differs"


def difference(stated: Any, measured: Any) -> str:
    """Where several values differ, which ones: `append: 5, measured 4`; else nothing to add.

    >>> difference({"raw": 36, "canonical": 1}, {"raw": 36, "canonical": 2})
    'canonical: 1, measured 2'
    """
    if not isinstance(stated, Mapping) or not isinstance(measured, Mapping):
        return ""
    return "; ".join(
        f"{key}: {told(value)}, measured {told(measured[key])}"
        for key, value in stated.items()
        if not _close(value, measured[key])
    )


def told(value: Any, of: float | None = None) -> str:
    """A value as text for a table.

    >>> told(2, 12), told(38610), told({"raw": 36, "canonical": 1}), told([99, 59]), told(None)
    ('2 of 12', '38,610', 'raw 36, canonical 1', '99, 59', '')
    >>> told(True), told(False)
    ('it holds', 'it does not hold')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "it holds" if value else "it does not hold"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {told(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(told(item) for item in value)
    text = _number(value) if _is_number(value) else str(value)
    return text if of is None else f"{text} of {told(of)}"


def _equal(stated: Any, stated_of: float | None, measured: Any, measured_of: float | None) -> bool:
    wholes_agree = None in (stated_of, measured_of) or stated_of == measured_of
    return wholes_agree and _close(stated, measured)


def _close(stated: Any, measured: Any) -> bool:
    """Equal to the last stated digit; lists and mappings item by item."""
    if isinstance(stated, Mapping) and isinstance(measured, Mapping):
        return all(_close(value, measured.get(key)) for key, value in stated.items())
    if isinstance(stated, list) and isinstance(measured, list):
        return len(stated) == len(measured) and all(map(_close, stated, measured))
    if not (_is_number(stated) and _is_number(measured)):
        return bool(stated == measured)
    last_digit = 10.0 ** -_decimals(stated)
    return bool(abs(stated - measured) <= last_digit / 2 * (1 + 1e-9))


def _decimals(value: float) -> int:
    # A float that is whole was written with a decimal: 2.0 is not 2.3.
    return len(str(value).partition(".")[2])


def _same_direction(stated: PartOf, measured: PartOf, unit: str) -> bool:
    (value, of), (found, found_of) = stated, measured
    if value is None:
        return found is True or (_is_number(found) and found > 0)
    if isinstance(value, Mapping):
        values, others = list(value.values()), [found[name] for name in value]
        return all(map(_is_number, values + others)) and _shape(values) == _shape(others)
    if not (_is_number(value) and _is_number(found)):
        return False
    if of is not None:
        return bool((value / of < 1 / 2) == (found / (found_of or of) < 1 / 2))
    if unit == "ratio":
        return bool((value > 1) == (found > 1))
    return _sign(value) == _sign(found) and _within(value, found, _ORDER_OF_MAGNITUDE)


def _shape(values: list[Any]) -> tuple[list[int], list[int]]:
    """Signs and ranking of numbers."""
    ranking = sorted(range(len(values)), key=lambda index: values[index])
    return [_sign(value) for value in values], ranking


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _within(value: float, found: float, factor: float) -> bool:
    return value == found or bool(value and abs(math.log(found / value)) <= math.log(factor))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: float) -> str:
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004  four digits
