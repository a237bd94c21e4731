"""What each tool strategy costs over whole requests, turn by turn and in money (notebook 06).

The forty turns of `core_tail_session`, but with a system prompt and a growing history behind the
tools: a change of the tail loses those too, which bytes of the core do not show (`tool-registry`).
Usage is `simulated`, tokens are `o200k estimate`, money is the input side alone: what the model
writes costs the same under every strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from ctxlab.cache import Layout, PromptCache, rules_for
from ctxlab.experiments import sized
from ctxlab.experiments.strategy_requests import STRATEGIES, Session, Setup, impossible
from ctxlab.prices import cost
from ctxlab.prices.rates import When

Usage = Mapping[str, Any]
Rules = Mapping[str, Any]

ORACLE, NO_CACHING = "oracle", "no caching"
COUNTS = {
    "read": "cache_read_input_tokens",
    "written": "cache_creation_input_tokens",
    "uncached": "input_tokens",
}


def turns(
    session: Session,
    when: When,
    rules: Rules | None = None,
    strategies: Iterable[str] = STRATEGIES,
) -> pd.DataFrame:
    """A row for each turn and strategy that the model can follow.

    Columns: turn; strategy; operation; requests; tokens (of all requests of the turn); read,
    written, uncached (they add up to tokens); usd; usd_so_far (this turn and those before).

    Raises:
        InvalidRequest: a model that the dated table does not know.
        UsageError: a model without prices.
    """
    cannot = impossible(session.talk.model)
    rows = []
    for strategy in strategies:
        if strategy not in cannot:
            rows += _turns(session, strategy, when, rules)
    table = pd.DataFrame(rows)
    return table.assign(usd_so_far=table.groupby("strategy", sort=False)["usd"].cumsum())


def totals(by_turn: pd.DataFrame) -> pd.DataFrame:
    """The session's sums: a row for each strategy.

    Columns: strategy; requests; tokens; read, written, uncached; read_share_percent (of the
    tokens); usd; over_oracle, over_no_caching (ratios of usd; empty where that row is missing).
    """
    sums = ["requests", "tokens", *COUNTS, "usd"]
    table = by_turn.groupby("strategy", sort=False)[sums].sum().reset_index()
    usd = table.set_index("strategy")["usd"]
    table.insert(6, "read_share_percent", 100 * table["read"] / table["tokens"])
    table["over_oracle"] = table["usd"] / usd.get(ORACLE, float("nan"))
    table["over_no_caching"] = table["usd"] / usd.get(NO_CACHING, float("nan"))
    return table


def above_oracle(by_turn: pd.DataFrame, total: pd.DataFrame, count: int = 3) -> pd.DataFrame:
    """The `count` cheapest strategies of `turns`, whose costs lie close to each other.

    Columns: turn; strategy; above (usd paid so far, above what the oracle has paid so far;
    negative for one that sends fewer tools than the oracle's requests have).
    """
    real = total[total["strategy"] != ORACLE].nsmallest(count, "usd")["strategy"]
    bound = by_turn[by_turn["strategy"] == ORACLE].set_index("turn")["usd_so_far"]
    rows = by_turn[by_turn["strategy"].isin(real)]
    above = rows["usd_so_far"] - rows["turn"].map(bound)
    return rows[["turn", "strategy"]].assign(above=above).reset_index(drop=True)


def over_seeds(
    setup: Setup,
    seeds: Iterable[int],
    when: When,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> pd.DataFrame:
    """Totals for many draws of the operations: the columns of `totals`, `seed` in front.

    `progress` wraps the loop (such as `tqdm`).
    """
    tables = []
    for seed in progress(seeds):
        table = totals(turns(setup.session(seed), when))
        table.insert(0, "seed", seed)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def spread(seeds: pd.DataFrame) -> pd.DataFrame:
    """How the cost relative to the oracle spreads over seeds: columns strategy, p5, median, p95.

    And cheapest_percent: the share of the seeds in which it costs least, the oracle left out.
    """
    real = seeds[seeds["strategy"] != ORACLE]
    winners = real.loc[real.groupby("seed")["usd"].idxmin(), "strategy"]
    groups = real.groupby("strategy", sort=False)["over_oracle"]
    table = groups.agg(
        p5=lambda x: x.quantile(0.05), median="median", p95=lambda x: x.quantile(0.95)
    ).reset_index()
    share = winners.value_counts(normalize=True) * 100
    return table.assign(cheapest_percent=table["strategy"].map(share).fillna(0.0))


def segments(session: Session) -> pd.DataFrame:
    """How large each part of the last turn's request is, beside the model's minimum.

    Columns: part (tool-use prompt, core, tail, system, history); tokens (`o200k estimate`);
    share_percent (of the request); up_to (tokens of the prefix that ends with it); cacheable
    (whether such a prefix reaches the model's minimum).
    """
    cache = sized.cache(session.talk.model)
    *_, (_, layout) = STRATEGIES["core + tail"](session, cache)
    tools = [block.tokens for block in layout.head.tools.blocks]
    core = len(session.tools.core)
    parts = {
        "tool-use prompt": layout.head.prompt_tokens[0],
        "core": sum(tools[:core]),
        "tail": sum(tools[core:]),
        "system": layout.head.system.total,
        "history": layout.messages.total,
    }
    table = pd.DataFrame({"part": list(parts), "tokens": list(parts.values())})
    up_to = table["tokens"].cumsum()
    minimum = rules_for(session.talk.model).minimum_tokens
    share = 100 * table["tokens"] / table["tokens"].sum()
    return table.assign(share_percent=share, up_to=up_to, cacheable=up_to >= minimum)


def _turns(
    session: Session, strategy: str, when: When, rules: Rules | None
) -> list[dict[str, Any]]:
    clock = sized.Clock()
    cache = sized.cache(session.talk.model, rules, clock)
    usage_of = _Oracle(session.talk.ttl) if strategy == ORACLE else _Simulated(cache)
    rows: list[dict[str, Any]] = []
    for op, layout in STRATEGIES[strategy](session, cache):
        clock.now = op.turn * session.talk.gap
        usage = usage_of(layout)
        row = {
            "turn": op.turn,
            "strategy": strategy,
            "operation": op.kind,
            "requests": 1,
            "tokens": layout.total,
            **{column: usage[key] for column, key in COUNTS.items()},
            "usd": cost(session.talk.model, usage, when).total,
        }
        if rows and rows[-1]["turn"] == op.turn:  # a search: the turn's second request
            for column in ("requests", "tokens", *COUNTS, "usd"):
                rows[-1][column] += row[column]
        else:
            rows.append(row)
    return rows


class _Simulated:
    def __init__(self, cache: PromptCache) -> None:
        self._cache = cache

    def __call__(self, layout: Layout) -> Usage:
        return self._cache.send(layout)


class _Oracle:
    """Reads every block that was ever sent, writes the others; nothing expires, nothing is small.

    It is a bound for strategies that send core and tail in every turn; one that sends less (tools
    that are found later) may cost less.
    """

    def __init__(self, ttl: str) -> None:
        self._ttl = ttl
        self._sent: set[bytes] = set()

    def __call__(self, layout: Layout) -> Usage:
        chains = (layout.head.tools, layout.head.system, layout.messages)
        blocks = {block.digest: block.tokens for chain in chains for block in chain.blocks}
        prompt = 0 if self._sent else layout.head.prompt_tokens[0]
        new = prompt + sum(tokens for key, tokens in blocks.items() if key not in self._sent)
        self._sent |= blocks.keys()
        return {
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_read_input_tokens": layout.total - new,
            "cache_creation_input_tokens": new,
            "cache_creation": {f"ephemeral_{self._ttl}_input_tokens": new},
        }
