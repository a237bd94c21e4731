"""Caching where requests come at random: at a low rate the entry has expired (notebook 07).

Requests arrive as a Poisson process of λ an hour, all with the same prefix. A request reads the
entry when the one before it, read or write, is less than a lifetime T ago: with probability
1 - exp(-λT). So it costs r·(1 - exp(-λT)) + w·exp(-λT) on average, and 1 without a cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pandas as pd

from ctxlab.cache import rules_for
from ctxlab.experiments import sized
from ctxlab.experiments.cache_pricing import NONE, TTLS, WAYS, Weights, one_prefix, weights
from ctxlab.prices.rates import When

_HOUR = 3_600.0


def expected(model: str, when: When, per_hour: Sequence[float]) -> pd.DataFrame:
    """The mean cost of a prefix for each rate, uncached being 1: columns per_hour, way, cost."""
    weight, lifetime = weights(model, when), rules_for(model).ttl_seconds
    rows = [
        [rate, way, 1.0 if way == NONE else _mean(weight, way, rate, lifetime[way])]
        for rate in per_hour
        for way in WAYS
    ]
    return pd.DataFrame(rows, columns=["per_hour", "way", "cost"])


def thresholds(model: str, when: When) -> pd.DataFrame:
    """The rates at which one way becomes cheaper than another.

    Columns: below; above (the cheaper way on each side); per_hour; every_minutes (the mean gap).
    none and a lifetime are equal where exp(-λT) = (1 - r) / (w - r); 5m and 1h where
    (w5m - r)·exp(-λT5m) = (w1h - r)·exp(-λT1h).
    """
    weight, lifetime = weights(model, when), rules_for(model).ttl_seconds
    rows = []
    for ttl in TTLS:
        missed = (1 - weight.read) / (weight.write(ttl) - weight.read)
        rows.append([NONE, ttl, -math.log(missed) / lifetime[ttl] * _HOUR])
    missing = (weight.write_1h - weight.read) / (weight.write_5m - weight.read)
    rows.append(["5m", "1h", math.log(missing) / (lifetime["1h"] - lifetime["5m"]) * _HOUR])
    table = pd.DataFrame(rows, columns=["below", "above", "per_hour"])
    return table.assign(every_minutes=60 / table["per_hour"])


def played(
    model: str, when: When, per_hour: Sequence[float], arrivals: int, seed: int
) -> pd.DataFrame:
    """The simulator's answer: columns per_hour, way, hits (% of the requests), cost, expected.

    `arrivals` requests of the model's minimum size for each rate and lifetime; cost and expected
    are relative to uncached. The first request, which always writes, is not counted.
    """
    wanted = expected(model, when, per_hour).set_index(["per_hour", "way"])["cost"]
    weight, rows = weights(model, when), []
    for rate in per_hour:
        for ttl in TTLS:
            hits = _hits(model, ttl, rate, arrivals, Random(seed))  # noqa: S311  no secret
            usd = hits * weight.read + (1 - hits) * weight.write(ttl)
            rows.append([rate, ttl, 100 * hits, usd, wanted[rate, ttl]])
    return pd.DataFrame(rows, columns=["per_hour", "way", "hits", "cost", "expected"])


def conclusion(limits: pd.DataFrame, sample: pd.DataFrame, mean: pd.DataFrame) -> str:
    """What the tables of `thresholds`, `played` and `expected` say (Markdown)."""
    lines = [
        f"- **Random arrivals:** below {row['per_hour']:.2f} requests an hour (one in "
        f"{row['every_minutes']:.0f} minutes) {row['above']} costs more than {row['below']}."
        for row in limits.to_dict("records")
    ]
    best = mean.loc[mean.groupby("per_hour")["cost"].idxmin()].groupby("way")["per_hour"]
    ranges = ", ".join(f"{way} from {own.min():g} to {own.max():g}" for way, own in best)
    lines.append(f"- Cheapest at the rates shown (requests an hour): {ranges}.")
    off = (sample["cost"] / sample["expected"] - 1).abs().max()
    lines.append(f"- Played in the simulator, costs are within {100 * off:.1f} % of that.")
    return "\n".join(lines)


def _mean(weight: Weights, ttl: str, rate: float, lifetime: float) -> float:
    missed = math.exp(-rate * lifetime / _HOUR)
    return weight.read * (1 - missed) + weight.write(ttl) * missed


def _hits(model: str, ttl: str, rate: float, arrivals: int, random: Random) -> float:
    """The share of the requests after the first that read."""
    clock = sized.Clock()
    cache = sized.cache(model, clock=clock)
    layout = one_prefix(cache, model, ttl, rules_for(model).minimum_tokens)
    cache.send(layout)
    hits = 0
    for _ in range(arrivals):
        clock.now += -math.log(1 - random.random()) * _HOUR / rate
        hits += bool(cache.send(layout)["cache_read_input_tokens"])
    return hits / arrivals
