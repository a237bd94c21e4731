"""Times as logs write them: ISO 8601 or a number since the epoch, in seconds or finer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_MILLISECONDS = 1e11  # in seconds that would be the year 5138
_MICROSECONDS = 1e14
_NANOSECONDS = 1e17
_LATEST = 1e11


def seconds(value: Any) -> float | None:
    """Seconds since the epoch; None for what is no time. A time without a zone is UTC.

    >>> seconds("1970-01-01T00:01:00Z"), seconds(60), seconds(1_764_500_000_000), seconds("soon")
    (60.0, 60.0, 1764500000.0, None)
    """
    if isinstance(value, str):
        return _iso(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    for limit, unit in ((_NANOSECONDS, 1e9), (_MICROSECONDS, 1e6), (_MILLISECONDS, 1e3)):
        if value >= limit:
            value /= unit
            break
    return float(value) if value < _LATEST else None


def _iso(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
