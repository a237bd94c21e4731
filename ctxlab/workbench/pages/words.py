"""Times, durations and sizes as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

# strftime's are the locale's
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905  words read better


def when(started: object) -> str:
    """A moment, in UTC; what is no moment is shown as it is.

    >>> when("2026-11-30T14:22:00Z"), when(None)
    ('30 Nov 2026, 14:22 UTC', 'unknown time')
    """
    if not isinstance(started, str) or not started:
        return "unknown time"
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return started[:40]
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment:%Y, %H:%M} UTC"


def took(seconds: object) -> str:
    """A duration.

    >>> took(0.31), took(12.34), took(754), took(7260), took(None)
    ('0.3 s', '12.3 s', '12 min 34 s', '2 h 1 min', '–')
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        return "–"
    whole = round(seconds)
    if seconds < 60:  # noqa: PLR2004  a minute
        return f"{seconds:.1f} s"
    if whole < 3600:  # noqa: PLR2004  an hour
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(count: object) -> str:
    """Bytes.

    >>> size(12), size(3_613_922)
    ('12 B', '3.6 MB')
    """
    if isinstance(count, bool) or not isinstance(count, int | float):
        return "–"
    for factor, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{count / factor:.1f} {name}"
    return f"{count} B"
