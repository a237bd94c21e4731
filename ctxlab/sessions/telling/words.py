"""Numbers, money and times as an audit writes them.

>>> many(1, "request"), many(2_000, "request")
('1 request', '2,000 requests')
>>> money(0.5), money(0.5, unpriced=2), money(float("nan"), unpriced=3)
('0.5000', '≥0.5000', '–')
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

_HOUR, _MINUTE = 3600, 60


def many(count: int, what: str) -> str:
    """A number and what is counted."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def money(usd: float, unpriced: int = 0) -> str:
    """USD; a dash where nobody knows, and ≥ where only a part has a price."""
    if math.isnan(usd):
        return "–"
    return f"{'≥' if unpriced else ''}{usd:,.4f}"


def number(value: float | None) -> float | None:
    """For JSON, which has no NaN."""
    return value if value is not None and math.isfinite(value) else None


def utc(time: float | None) -> datetime | None:
    """Seconds since the epoch as a time; None where there is none, or none a calendar has."""
    try:
        return None if time is None else datetime.fromtimestamp(time, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def iso(time: float | None) -> str | None:
    """For JSON."""
    when = utc(time)
    return when.isoformat().replace("+00:00", "Z") if when else None


def period(begins: float, ends: float) -> str:
    """From when to when, with no more than it takes to tell them apart.

    >>> period(0.0, 30.0), period(0.0, 90.0), period(0.0, 90_000.0)
    ('1970-01-01 00:00 UTC', '1970-01-01 00:00 to 00:01 UTC', \
'1970-01-01 00:00 to 1970-01-02 01:00 UTC')
    """
    first, last = utc(begins), utc(ends)
    texts = [f"{when:%Y-%m-%d %H:%M}" if when else "–" for when in (first, last)]
    if texts[0] == texts[1]:
        return f"{texts[0]} UTC"
    same_day = first is not None and last is not None and first.date() == last.date()
    return f"{texts[0]} to {texts[1][11:] if same_day else texts[1]} UTC"


def clock(time: float | None) -> str:
    """A time of the day, or a dash as wide."""
    when = utc(time)
    return f"{when:%H:%M:%S}" if when else f"{'–':>8}"


def gap(seconds: float | None) -> str:
    """A duration; empty where there is none.

    >>> gap(12.0), gap(90.0), gap(5400.0)
    ('12 s', '1.5 min', '1.5 h')
    """
    if seconds is None or not math.isfinite(seconds):
        return ""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:,.1f} h"
