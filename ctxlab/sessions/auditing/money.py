"""What a recorded request cost; where nobody knows, NaN and the reason, never an exception.

>>> paid("claude-opus-5", {"input_tokens": 1_000_000}, 1_796_050_800.0)
Money(usd=5.0, note='')
>>> paid("a-model-of-my-own", {"input_tokens": 5}, None).usd
nan
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ctxlab.errors import CtxlabError
from ctxlab.prices import cost
from ctxlab.sessions.auditing.counts import Counts


class Money(NamedTuple):
    """USD, or NaN and why."""

    usd: float
    note: str = ""


def paid(
    model: str, usage: Mapping[str, Any], time: float | None, reported: float | None = None
) -> Money:
    """The price of one request at its day's prices, or today's where it has no time.

    Args:
        model: as recorded.
        usage: as recorded.
        time: seconds since the epoch.
        reported: what the log says that it cost, taken where the price is not known.
    """
    money = _priced(model, usage, time)
    if math.isnan(money.usd) and reported is not None:
        return Money(reported, "the cost is what the log says")
    return money


def paid_for(model: str, counts: Counts, recorded: Mapping[str, Any], time: float | None) -> float:
    """The price of the same request with other counts; NaN where nobody knows."""
    return _priced(model, counts.to_usage(recorded), time).usd


def _priced(model: str, usage: Mapping[str, Any], time: float | None) -> Money:
    if not usage:
        return Money(math.nan, "no usage was recorded")
    try:
        when = None if time is None else datetime.fromtimestamp(time, UTC)
        return Money(cost(model, usage, when).total)
    except CtxlabError as error:
        return Money(math.nan, f"no price: {error}")
    except (ArithmeticError, AttributeError, TypeError, ValueError, OSError) as error:
        # A log is data: whatever shape its usage or time has, the other requests are still told.
        return Money(math.nan, f"no price: its usage cannot be read ({type(error).__name__})")
