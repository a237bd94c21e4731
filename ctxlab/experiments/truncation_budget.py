r"""A long session's token budget, with tool results as they come and cut (notebook 05).

>>> from ctxlab.experiments.tool_outputs import Output
>>> table = session([Output("a.log", "one line of it\n" * 4000)], turns=20)
>>> ends(table)[["strategy", "turns"]].to_numpy().tolist()
[['as it comes', 20], ['4,000 tokens', 13], ['30% of what remains', 16]]

In each turn a tool is called: its result goes into `retrieved_context` while the turn lasts, and
into `history` with what the model says. Both are checked before; where the history would overflow,
the session ends (compacting it would be next). A result that is refused costs the turn's words
alone (`result-handling`, token budget).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.errors import UsageError
from ctxlab.experiments.tool_outputs import Output
from ctxlab.truncation import (
    DEFAULT_BUDGETS,
    MemoryStorage,
    ResourceStore,
    TokenBudget,
    TruncatingWrapper,
    dynamic_limit,
)

WORDS = 300
"""Tokens of a turn besides the tool's result: the call, and what the model says."""

Result = Callable[[str, TokenBudget], str]


def session(
    outputs: Sequence[Output],
    turns: int = 60,
    limit: int = 4_000,
    share: float = 0.3,
    limits: Mapping[str, int] = DEFAULT_BUDGETS,
) -> pd.DataFrame:
    """One row for each strategy and turn that it lives through, with a turn 0 before.

    Columns: strategy; turn; output; result_tokens (that came in, `o200k estimate`); refused (the
    result would overflow retrieved_context); history (tokens after the turn).
    """
    rows: list[dict[str, Any]] = []
    for name, result in _strategies(limit, share).items():
        budget = TokenBudget(limits)
        rows.append({"strategy": name, "turn": 0, "output": "", "result_tokens": 0})
        rows[-1] |= {"refused": False, "history": 0}
        for turn in range(1, turns + 1):
            output = outputs[(turn - 1) % len(outputs)]
            taken = _taken(output.text, result, budget)
            if taken is None:
                break
            row = {"strategy": name, "turn": turn, "output": output.name}
            history = limits["history"] - budget.remaining("history")
            rows.append(row | taken | {"history": history})
    return pd.DataFrame(rows)


def _taken(text: str, result: Result, budget: TokenBudget) -> dict[str, Any] | None:
    """What a turn brings into the budget; None when it cannot be held."""
    try:
        size = tokens.count(result(text, budget))
    except UsageError:  # what remains does not hold a notice
        return None
    over = budget.check(retrieved_context=size, history=size + WORDS)
    refused = "retrieved_context" in over
    into_history = WORDS if refused else WORDS + size
    if budget.check(history=into_history):
        return None
    if not refused:
        budget.consume("retrieved_context", size)
        budget.release("retrieved_context", size)
    budget.consume("history", into_history)
    return {"result_tokens": 0 if refused else size, "refused": refused}


def _strategies(limit: int, share: float) -> dict[str, Result]:
    # Ids in a row: drawn ones differ by a token, and equal inputs are to give equal tables.
    ids = itertools.count()
    store = ResourceStore(MemoryStorage(), draw=lambda: f"{next(ids):08x}")

    def cut(text: str, _: TokenBudget) -> str:
        return TruncatingWrapper(store, limit, "tokens").wrap("tool", text)

    def cut_to_share(text: str, budget: TokenBudget) -> str:
        left = min(budget.remaining(route) for route in ("retrieved_context", "history"))
        return TruncatingWrapper(store, dynamic_limit(left, share), "tokens").wrap("tool", text)

    return {
        "as it comes": lambda text, _: text,
        f"{limit:,} tokens": cut,
        f"{share:.0%} of what remains": cut_to_share,
    }


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """By strategy: turns lived through, results refused, mean tokens of those taken, history."""
    rows = []
    for name, part in table[table["turn"] >= 0].groupby("strategy", sort=False):
        lived = part[part["turn"] > 0]
        taken = lived[~lived["refused"]]
        rows.append(
            {
                "strategy": name,
                "turns": len(lived),
                "refused": int(lived["refused"].sum()),
                "mean_result": float(taken["result_tokens"].mean()) if len(taken) else 0.0,
                "history": int(part["history"].iloc[-1]),
            }
        )
    return pd.DataFrame(rows)
