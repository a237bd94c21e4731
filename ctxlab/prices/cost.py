"""What one request costs.

>>> told = cost("claude-haiku-5-5", {"input_tokens": 120_000, "output_tokens": 0}, "2026-11-30")
>>> told.total, told.tier
(0.06, 'over 100,000 input tokens')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from ctxlab.errors import UsageError
from ctxlab.prices.rates import PriceList, When, day, price_list
from ctxlab.prices.usage import Tokens, read_usage

_MILLION = Decimal(1_000_000)
_THOUSAND = Decimal(1_000)


@dataclass(frozen=True)
class Cost:
    """The price of one request in USD, part by part."""

    input: float
    """Tokens neither read from the cache nor written to it."""
    cache_write_5m: float
    cache_write_1h: float
    cache_read: float
    output: float
    total: float
    source: str
    """Where the prices come from, with the package's version."""
    priced_on: date
    model: str = ""
    """The id in genai-prices that the name was found under."""
    tier: str = "flat"
    """The price tier that this request reached, by name."""
    server_tools: float = 0.0
    """Web searches, which are paid by the call; part of `total`."""
    assumed: tuple[str, ...] = ()
    """In words, what the usage left open and was read one way."""


def cost(model: str, usage: Mapping[str, Any], when: When = None) -> Cost:
    """Price one request's usage, a mapping with the Messages API's usage fields.

    Args:
        model: a name as users write it; the provider follows from it (Anthropic, OpenAI, Google).
        usage: `input_tokens`, `output_tokens`, `cache_creation_input_tokens`, `cache_creation`
            (split by TTL), `cache_read_input_tokens`, `server_tool_use`, `service_tier`, `speed`;
            tokens of the three input counts do not overlap, as in the API.
        when: the day whose prices count (a date or ISO text); None is today. A tier is chosen by
            all input tokens of this one request.

    Raises:
        UsageError: an unknown model, or one without a price for something that was used.
        InputError: an unknown usage key, or a value that is wrong.
    """
    tokens = read_usage(usage)
    listed = price_list(model, day(when), tokens.context)
    parts = {
        "input": _price(listed, tokens, "input", tokens.input),
        "cache_write_5m": _price(listed, tokens, "cache_write_5m", tokens.write_5m),
        "cache_write_1h": _price(listed, tokens, "cache_write_1h", tokens.write_1h),
        "cache_read": _price(listed, tokens, "cache_read", tokens.read),
        "output": _price(listed, tokens, "output", tokens.output),
        "server_tools": _searches(listed, tokens),
    }
    return Cost(
        total=float(sum(parts.values())),
        source=listed.source,
        priced_on=listed.priced_on,
        model=listed.model,
        tier=listed.tier(tokens.total_input),
        assumed=tokens.assumed,
        **{name: float(price) for name, price in parts.items()},
    )


def _price(listed: PriceList, tokens: Tokens, part: str, count: int) -> Decimal:
    if not count:
        return Decimal(0)
    rate = listed.rate(part, tokens.total_input)
    if rate is None:
        # genai-prices would charge the input price here and say nothing.
        raise UsageError(
            f"{listed.source} has no {part} price of {listed.model}; "
            f"give these {count:,} tokens as input_tokens if they are billed as ordinary input"
        )
    return rate * count / _MILLION


def _searches(listed: PriceList, tokens: Tokens) -> Decimal:
    if not tokens.web_searches:
        return Decimal(0)
    rate = listed.raw("web_searches_kcount", tokens.total_input)
    if rate is None:
        raise UsageError(f"{listed.source} has no price of web searches with {listed.model}")
    return rate * tokens.web_searches / _THOUSAND
