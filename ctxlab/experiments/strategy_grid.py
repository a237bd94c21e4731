"""Which tool strategy is cheapest where: history against volatility, and the document's own advice.

`tool-registry` recommends a layout by the number of tools and the length of the conversation. Here
each case of that table is a session, and its layouts are priced over whole requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from ctxlab.errors import UsageError
from ctxlab.experiments.core_tail_session import Operations, split
from ctxlab.experiments.strategy_requests import STRATEGIES, Conversation, Session, Setup
from ctxlab.experiments.tool_strategies import ORACLE, totals, turns
from ctxlab.prices.rates import When

Tool = dict[str, Any]

REAL = tuple(name for name in STRATEGIES if name != ORACLE)
AMONG: Mapping[str, tuple[str, ...]] = {
    "all": REAL,
    "those that need no beta": tuple(name for name in REAL if name != "mid-conversation"),
    "the document's layouts": ("rebuild sorted", "core + tail", "fixed, tool_choice"),
    "what tools made at run time leave": ("rebuild sorted", "core + tail", "no caching"),
}
"""Who competes."""

TIE = "no difference"
SAME = 0.005
"""Costs within this share of each other are told as the same."""


@dataclass(frozen=True)
class Case:
    """A row of the document's table."""

    name: str
    recommended: str
    candidates: tuple[str, ...]
    small: bool = False
    """Few tools and a short conversation."""


CASES = (
    Case("few tools, short", "rebuild sorted", ("rebuild sorted", "core + tail"), small=True),
    Case("many tools, long", "core + tail", ("rebuild sorted", "core + tail")),
    Case("permissions vary", "fixed, tool_choice", AMONG["the document's layouts"]),
    Case("made at run time", "core + tail", ("rebuild sorted", "core + tail")),
)
"""One segment is *rebuild sorted*; "everything in the core, restrict" is *fixed, tool_choice*."""


class Priced(NamedTuple):
    """A session and its table of `totals`."""

    session: Session
    totals: pd.DataFrame


def few(tools: Sequence[Tool], talk: Conversation, count: int, turns: int, seed: int) -> Session:
    """A short session with the first `count` tools, two of them in the pool and one in the tail.

    In three of its turns a tool joins, goes, is replaced.

    Raises:
        UsageError: fewer than three tools or turns.
    """
    toolset = split(list(tools[:count]), min(count, len(tools)) - 2)
    operations = Operations(turns, adds=1, drops=1, swaps=1, start=1)
    return Session(talk, toolset, operations.draw(seed, len(toolset.pool)))


def scaled(operations: Operations, changes: int) -> Operations:
    """The same session with so many changes, in the same proportions.

    >>> scaled(Operations(), 0)
    Operations(turns=40, adds=0, drops=0, swaps=0, start=6)

    Raises:
        UsageError: more changes than turns, or less than none.
    """
    if not 0 <= changes <= operations.turns:
        raise UsageError(f"{operations.turns} turns have 0 to that many changes, not {changes}")
    all_changes = operations.adds + operations.drops + operations.swaps or 1
    adds = round(changes * operations.adds / all_changes)
    drops = min(round(changes * operations.drops / all_changes), changes - adds)
    return replace(operations, adds=adds, drops=drops, swaps=changes - adds - drops)


def grid(
    setup: Setup,
    cells: Iterable[tuple[int, int]],
    seed: int,
    when: When,
    progress: Callable[[Iterable[tuple[int, int]]], Iterable[tuple[int, int]]] = iter,
) -> pd.DataFrame:
    """What each strategy costs where the tools change so often and turns add so many tokens.

    `cells` are pairs of changes and tokens a turn; `progress` wraps the loop over them. Columns:
    turn_tokens; changes; history (tokens at the end); strategy; usd.
    """
    rows = []
    for changes, tokens in progress(cells):
        there = replace(
            setup,
            operations=scaled(setup.operations, changes),
            talk=replace(setup.talk, turn_tokens=tokens),
        )
        usd = totals(turns(there.session(seed), when, strategies=REAL))
        history = tokens * setup.operations.turns
        for strategy, paid in zip(usd["strategy"], usd["usd"], strict=True):
            rows.append([tokens, changes, history, strategy, paid])
    return pd.DataFrame(rows, columns=["turn_tokens", "changes", "history", "strategy", "usd"])


def winners(cells: pd.DataFrame, among: Iterable[str]) -> pd.DataFrame:
    """The cheapest of some strategies in each cell of `grid`.

    Columns: turn_tokens, changes, history; cheapest; usd; core_and_tail (its cost relative to the
    cheapest); runner_up, ahead_percent (how much dearer the second is). Equal costs are a TIE.
    """
    order = list(among)
    real = cells[cells["strategy"].isin(order)]
    real = real.assign(place=real["strategy"].map(order.index))
    rows = []
    for place, cell in real.groupby(["turn_tokens", "changes", "history"], sort=False):
        best, second = cell.sort_values(["usd", "place"])[:2].to_dict("records")
        winner = TIE if second["usd"] == best["usd"] else best["strategy"]
        core = cell.loc[cell["strategy"] == "core + tail", "usd"].item()
        ahead = 100 * (second["usd"] / best["usd"] - 1)
        told = [winner, best["usd"], core / best["usd"], second["strategy"], ahead]
        rows.append([*place, *told])
    columns = ["turn_tokens", "changes", "history", "cheapest", "usd", "core_and_tail"]
    return pd.DataFrame(rows, columns=[*columns, "runner_up", "ahead_percent"])


def recommendations(whole: Priced, small: Priced) -> pd.DataFrame:
    """The document's table, priced: a row for each of CASES.

    Columns: case; tools; turns; recommended; cheapest (of the layouts that the document has for
    the case); as_recommended (the recommended one costs no more than that); over_cheapest (its
    cost relative to it); saves_percent (what it saves against the next of those layouts; negative
    where it costs more); cheapest_of_all; over_cheapest_of_all.
    """
    rows = []
    for case in CASES:
        session, total = small if case.small else whole
        usd = _usd(total)
        mine = usd[case.recommended]
        others = {name: usd[name] for name in case.candidates if name != case.recommended}
        other = min(others, key=others.__getitem__)
        best = case.recommended if mine <= others[other] * (1 + SAME) else other
        least = min(usd, key=usd.__getitem__)
        rows.append(
            {
                "case": case.name,
                "tools": len(session.tools.tools),
                "turns": len(session.operations),
                "recommended": case.recommended,
                "cheapest": best,
                "as_recommended": best == case.recommended,
                "over_cheapest": mine / usd[best],
                "saves_percent": 100 * (1 - mine / others[other]),
                "cheapest_of_all": least,
                "over_cheapest_of_all": mine / usd[least],
            }
        )
    return pd.DataFrame(rows)


def _usd(total: pd.DataFrame) -> dict[str, float]:
    return {
        str(name): float(usd)
        for name, usd in zip(total["strategy"], total["usd"], strict=True)
        if name != ORACLE
    }
