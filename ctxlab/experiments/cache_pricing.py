"""What caching costs and saves, by arithmetic on prices, confirmed by the simulator (notebook 07).

A prefix of P tokens costs P input prices without a cache, w·P where it is written and r·P where it
is read. Everything here follows from w and r, which are taken from `prices.cost` on a day; the
simulator then plays the same requests. Figures of the simulator are `simulated`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ctxlab.cache import Layout, PromptCache, rules_for
from ctxlab.cache.rules import table
from ctxlab.experiments import sized
from ctxlab.prices import cost, price_table, rates
from ctxlab.prices.rates import When

TTLS = ("5m", "1h")
NONE = "none"
WAYS = (NONE, *TTLS)
"""Without caching, and with each lifetime."""

_TOKENS = 1_000
_TABLE_NAMES = {"google": "gemini"}
"""Provider of the price list → its name in the dated table."""


class Weights(NamedTuple):
    """A model's prices relative to its input price."""

    write_5m: float
    write_1h: float
    read: float

    def write(self, ttl: str) -> float:
        """The weight of a write."""
        return self.write_5m if ttl == "5m" else self.write_1h


def weights(model: str, when: When) -> Weights:
    """Write and read prices relative to input, from `prices.cost` at the first tier.

    Raises:
        UsageError: an unknown model, or one without a price for writes of both lifetimes.
    """
    plain = cost(model, {"input_tokens": _TOKENS}, when).total
    writes = [
        cost(model, {"cache_creation": {f"ephemeral_{ttl}_input_tokens": _TOKENS}}, when).total
        for ttl in TTLS
    ]
    read = cost(model, {"cache_read_input_tokens": _TOKENS}, when).total
    return Weights(writes[0] / plain, writes[1] / plain, read / plain)


def prices(models: Iterable[str], when: When) -> pd.DataFrame:
    """Prices on a day, USD per million tokens at the first tier: a row for each model.

    Columns: model; provider; input; cached (a read); discount (of a read, %); write_5m, write_1h
    (relative to input; 1 where written tokens are ordinary input, empty where there is no such
    lifetime); minimum (cacheable tokens, as
    `minimums` has it; empty for a model that it does not have); tier; source.
    """
    rows = []
    for row in price_table(models, when):
        base = row.input or math.nan
        rows.append(
            {
                "model": row.model,
                "provider": row.provider,
                "input": row.input,
                "cached": row.cache_read,
                "discount": 100 * (1 - (row.cache_read or math.nan) / base),
                "write_5m": (row.cache_write_5m or base) / base,
                "write_1h": (row.cache_write_1h or math.nan) / base,
                "minimum": _minimum(row.provider, row.model),
                "tier": row.tier,
                "source": row.source,
            }
        )
    return pd.DataFrame(rows).astype({"minimum": "Int64"}).round({"discount": 6})


def _minimum(provider: str, model: str) -> int | None:
    """Of a model of ours by its name; of another's by the family, if all in question agree."""
    if provider == "anthropic":
        return rules_for(model).minimum_tokens
    numbers = re.findall(r"\d+\.\d+", model)
    told = [row for row in table()["provider"] if "minimum_tokens" in row]
    own = [row for row in told if row["name"].lower() == _TABLE_NAMES.get(provider, provider)]
    named = [row for row in own if any(number in row["models"] for number in numbers)]
    found = {row["minimum_tokens"] for row in named or own}
    return found.pop() if len(found) == 1 else None


def minimums() -> pd.DataFrame:
    """The dated table of minimum cacheable tokens: columns provider, models, minimum, source."""
    rows = [
        ["anthropic", ", ".join(r["models"]), r["tokens"], r["source"]] for r in table()["minimum"]
    ]
    rows += [
        [r["name"].lower(), r["models"], r["minimum_tokens"], r["source"]]
        for r in table()["provider"]
        if "minimum_tokens" in r
    ]
    return pd.DataFrame(rows, columns=["provider", "models", "minimum", "source"])


def lifetimes() -> pd.DataFrame:
    """How long an entry lives, as the dated table has it: columns provider, lifetime."""
    ours = ", ".join(_span(row["seconds"]) for row in table()["ttl"])
    told = {row["name"].lower(): row["lifetime"] for row in table()["provider"]}
    told["gemini"] = told["gemini"].replace("1 h by default", "60 min")  # as the document writes it
    return pd.DataFrame({"provider": ["anthropic", *told], "lifetime": [ours, *told.values()]})


def summary(price: pd.DataFrame, minimum: pd.DataFrame) -> pd.DataFrame:
    """The extremes of the tables above: columns figure, value, unit, shown_by.

    Extremes, because the documents speak of every provider: one that differs is enough.
    """
    ours, openai = (price[price["provider"] == name] for name in ("anthropic", "openai"))
    rows = [
        _extreme("discount, least", price, "discount", "%", most=False),
        _extreme("discount, most", price, "discount", "%"),
        _extreme("5m", ours, "write_5m", "× input"),
        _extreme("1h", ours, "write_1h", "× input"),
        _extreme("OpenAI write, most", openai, "write_5m", "× input"),
        _extreme("minimum, least", minimum, "minimum", "tokens", most=False),
        _extreme("minimum, most", minimum, "minimum", "tokens"),
    ]
    return pd.DataFrame([row for row in rows if row])


def break_even(models: Iterable[str], when: When, prefix: int) -> pd.DataFrame:
    """From how many requests within one lifetime caching is cheaper, by arithmetic and simulated.

    n requests cost w + (n - 1)·r with a cache and n without: equal at (w - r) / (1 - r). Columns:
    model; ttl; write, read (relative to input); equal_at; requests (the first whole number above
    it); simulated (the first at which the simulator's requests cost less), agrees. `prefix` is
    the simulated request's size in tokens; models without a price for both lifetimes are left out.
    """
    rows = []
    for model in models:
        if rates(model, when).cache_write_1h is None:
            continue
        weight = weights(model, when)
        for ttl in TTLS:
            equal = (weight.write(ttl) - weight.read) / (1 - weight.read)
            requests = math.floor(equal + 1e-9) + 1
            found = _first_cheaper(model, ttl, when, prefix)
            told = [model, ttl, weight.write(ttl), weight.read, equal, requests, found]
            rows.append([*told, found == requests])
    columns = ["model", "ttl", "write", "read", "equal_at", "requests", "simulated", "agrees"]
    return pd.DataFrame(rows, columns=columns)


def by_requests(model: str, when: When, prefix: int, most: int) -> pd.DataFrame:
    """What 1 to `most` requests of one prefix cost, the first request uncached being 1.

    Columns: requests; way (none, 5m, 1h); cost (by arithmetic); simulated.
    """
    weight = weights(model, when)
    unit = cost(model, {"input_tokens": prefix}, when).total
    rows = []
    for way in WAYS:
        sent = _simulated(model, way, when, prefix, most)
        for n in range(1, most + 1):
            closed = n if way == NONE else weight.write(way) + (n - 1) * weight.read
            rows.append([n, way, closed, sum(sent[:n]) / unit])
    return pd.DataFrame(rows, columns=["requests", "way", "cost", "simulated"])


def one_prefix(cache: PromptCache, model: str, way: str, tokens: int) -> Layout:
    """A request that is one block, with a breakpoint at its end unless `way` is none."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": [sized.text(tokens, "prefix")]}],
    }
    return cache.lay_out(body if way == NONE else {**body, "cache_control": sized.marker(way)})


def conclusion(breaks: pd.DataFrame, model: str) -> str:
    """What the table of `break_even` says of one model (Markdown)."""
    own = [row for row in breaks.to_dict("records") if row["model"] == model]
    told = " and ".join(f"{row['requests']} requests for {row['ttl']}" for row in own)
    agree = f"{breaks['agrees'].sum()} of {len(breaks)}"
    return (
        f"- **Break-even** of {model}: a prefix that is sent again within its lifetime is cheaper "
        f"cached from {told} on. The simulator agrees in {agree} rows."
    )


def _first_cheaper(model: str, ttl: str, when: When, prefix: int) -> int:
    most = 10
    with_cache = _simulated(model, ttl, when, prefix, most)
    without = _simulated(model, NONE, when, prefix, most)
    cheaper = (n for n in range(1, most + 1) if sum(with_cache[:n]) < sum(without[:n]) * (1 - 1e-9))
    return next(cheaper, 0)


def _simulated(model: str, way: str, when: When, prefix: int, requests: int) -> Sequence[float]:
    """USD of each of some requests that are sent at once."""
    cache = sized.cache(model)
    layout = one_prefix(cache, model, way, prefix)
    return [cost(model, cache.send(layout), when).total for _ in range(requests)]


def _extreme(
    figure: str, frame: pd.DataFrame, column: str, unit: str, *, most: bool = True
) -> dict[str, Any]:
    rows = [row for row in frame.to_dict("records") if not pd.isna(row[column])]
    if not rows:
        return {}
    chosen = (max if most else min)(rows, key=lambda row: float(row[column]))
    name = chosen["model"] if "model" in chosen else chosen["models"]
    return {"figure": figure, "value": float(chosen[column]), "unit": unit, "shown_by": name}


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.0f} h"  # noqa: PLR2004
