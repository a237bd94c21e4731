"""A model's prices on a day: USD per million tokens, tier by tier.

>>> rates("claude-sonnet-4.6", when="2026-11-30").cache_write_1h
6.0
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from ctxlab.errors import UsageError
from ctxlab.prices.models import find, version

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

When = str | date | datetime | None
_PARTS = {
    "input": "input_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "cache_read": "cache_read_mtok",
    "output": "output_mtok",
}


@dataclass(frozen=True)
class Rates:
    """One model's price list at one tier, USD per million tokens; None where there is no price.

    A None is not zero: a model without a write price bills what it writes as ordinary input.
    """

    model: str
    """The id in genai-prices that the name was found under."""
    provider: str
    input: float | None
    cache_write_5m: float | None
    cache_write_1h: float | None
    cache_read: float | None
    output: float | None
    tier: str
    """`flat`, or the input tokens of a request that this tier speaks of."""
    source: str
    priced_on: date


@dataclass(frozen=True)
class PriceList:
    """The prices of one model on one day under one context, all tiers."""

    model: str
    source: str
    priced_on: date
    prices: ModelPrice
    starts: tuple[int, ...]
    """Input tokens above which a further tier begins, ascending."""

    def rate(self, part: str, total_input: int) -> Decimal | None:
        """USD per million tokens of `part`; the whole request pays the tier it reaches."""
        return self.raw(_PARTS[part], total_input)

    def raw(self, key: str, total_input: int) -> Decimal | None:
        """The price under genai-prices' own key."""
        price = getattr(self.prices, key)
        if price is None or isinstance(price, Decimal):
            return price
        reached = [tier.price for tier in price.tiers if total_input > tier.start]
        chosen: Decimal = reached[-1] if reached else price.base
        return chosen

    def tier(self, total_input: int) -> str:
        """The tier's name, such as `up to 100,000 input tokens`."""
        if not self.starts:
            return "flat"
        reached = [start for start in self.starts if total_input > start]
        if reached:
            return f"over {reached[-1]:,} input tokens"
        return f"up to {self.starts[0]:,} input tokens"


def rates(model: str, when: When = None) -> Rates:
    """A model's prices at the first tier, on the day `when` (None is today, in UTC).

    Raises:
        UsageError: an unknown model (near names are listed), or a `when` that is no day.
    """
    listed = price_list(model, day(when))
    first = {part: listed.rate(part, 0) for part in _PARTS}
    return Rates(
        model=listed.model,
        provider=find(model)[0].id,
        tier=listed.tier(0),
        source=listed.source,
        priced_on=listed.priced_on,
        **{part: None if price is None else float(price) for part, price in first.items()},
    )


def price_table(models: Iterable[str], when: When = None) -> list[Rates]:
    """`rates` of each model: USD per million tokens at the first tier.

    >>> [row.cache_read for row in price_table(["claude-opus-5", "claude-opus-5-5"], "2026-11-30")]
    [0.5, 0.2]
    """
    return [rates(model, when) for model in models]


def day(when: When) -> date:
    """The day of `when`: a date, a time (its day in UTC), ISO text; None is today."""
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            raise UsageError(f"{when!r} is no day; write it as 2026-11-30") from None
    if when is None:
        return datetime.now(UTC).date()
    if isinstance(when, datetime):
        return (when.astimezone(UTC) if when.tzinfo else when).date()
    return when


@lru_cache(maxsize=1024)
def price_list(model: str, priced_on: date, context: tuple[tuple[str, str], ...] = ()) -> PriceList:
    """Every tier of a model's prices on a day, in a context such as `processing=batch`.

    Raises:
        UsageError: an unknown model, or one that has no prices in this context.
    """
    provider, info = find(model)
    noon = datetime.combine(priced_on, time(12), tzinfo=UTC)
    prices = info.get_prices(noon, dict(context))
    if context and prices == info.get_prices(noon):
        told = ", ".join(f"{key}={value}" for key, value in context)
        raise UsageError(f"genai-prices {version()} has no prices of {info.id} for {told}")
    if prices.input_mtok is None:
        raise UsageError(f"genai-prices {version()} has no input price of {info.id}")
    tiers = getattr(prices.input_mtok, "tiers", ())
    return PriceList(
        model=info.id,
        source=f"genai-prices {version()} ({(provider.pricing_urls or [provider.id])[0]})",
        priced_on=priced_on,
        prices=prices,
        starts=tuple(tier.start for tier in tiers),
    )
