"""What notebook 06 concludes, under every reading of the rules, and in sentences."""

from __future__ import annotations

import pandas as pd

from ctxlab.experiments.strategy_grid import AMONG, SAME, Priced, recommendations
from ctxlab.experiments.strategy_requests import Session
from ctxlab.experiments.switched import settings
from ctxlab.experiments.tool_strategies import NO_CACHING, ORACLE, totals, turns
from ctxlab.prices.rates import When

SWITCHES = ("tool_entries_survive_later_changes", "lookback_into_tools")
"""What the sources leave open and a strategy's cost could hang on."""


def outcomes(session: Session, small: Session, when: When) -> pd.DataFrame:
    """Every conclusion under every setting of SWITCHES: columns conclusion, the switches, outcome.

    `small` is the session of few tools in `recommendations`.
    """
    rows = []
    for setting in settings(SWITCHES):
        by_turn = turns(session, when, setting)
        whole = Priced(session, totals(by_turn))
        little = Priced(small, totals(turns(small, when, setting)))
        advice = recommendations(whole, little)
        told = {**_of_costs(whole.totals), **_of_turns(by_turn), **_of_advice(advice)}
        rows += [[name, *setting.values(), outcome] for name, outcome in told.items()]
    return pd.DataFrame(rows, columns=["conclusion", *SWITCHES, "outcome"])


def article(total: pd.DataFrame, parts: pd.DataFrame, by_turn: pd.DataFrame) -> str:
    """What the document's figure, bytes of the core, says and does not say (Markdown)."""
    usd = total.set_index("strategy")["usd"]
    tokens, share = (parts.set_index("part")[name] for name in ("tokens", "share_percent"))
    changed = _changed(by_turn)
    lost = (changed["written"] + changed["uncached"]).sum() / changed["tokens"].sum()
    saved = _saving(usd["core + tail"], usd["rebuild sorted"])
    fixed = _saving(usd["fixed, tool refuses"], usd["rebuild sorted"])
    return (
        f"- **What it says:** core + tail keeps the core where the cache can find it. Here that is "
        f"{tokens['core']:,} tokens (o200k estimate), {share['core']:.1f} % of the last request.\n"
        f"- **What it does not say:** what the other {100 - share['core']:.1f} % cost. The tail "
        f"stands before the system prompt and the history, so in the {len(changed)} turns that "
        f"change it core + tail still pays {100 * lost:.0f} % of its tokens anew.\n"
        f"- **In money:** against one sorted array core + tail {saved}; one array that never "
        f"changes {fixed}. (Simulated, input side alone.)"
    )


def headline(total: pd.DataFrame, by_turn: pd.DataFrame) -> str:
    """What the session costs, in money and plain sentences (Markdown); the input side alone."""
    usd = total.set_index("strategy")["usd"]
    real = usd.drop(ORACLE)
    best, turns_ = str(real.idxmin()), by_turn["turn"].nunique()
    core, plain, none = (usd[name] for name in ("core + tail", "rebuild sorted", NO_CACHING))
    changed = _changed(by_turn)
    fixed = "fixed, tool refuses"
    same = f"; all tools in every turn ({fixed}) ${usd[fixed]:.2f}" if best != fixed else ""
    return (
        f"**Over {turns_} turns, *{best}* is the cheapest: ${real[best]:.2f}.** Core + tail, the "
        f"document's layout, costs ${core:.2f}; one array sorted anew each turn ${plain:.2f}; the "
        f"same requests without a cache ${none:.2f}{same}. {len(changed)} of the {turns_} turns "
        "change the tail, and in core + tail each loses the system prompt and the conversation "
        "behind it: that is where its money goes. (Simulated, input side alone.)"
    )


def _of_costs(total: pd.DataFrame) -> dict[str, str]:
    usd = total.set_index("strategy")["usd"].drop(ORACLE)
    told: dict[str, str] = {
        f"Cheapest of {group}": str(usd.reindex(list(names)).idxmin())
        for group, names in AMONG.items()
    }
    for one, other in (
        ("core + tail", "rebuild sorted"),
        ("core + tail", NO_CACHING),
        ("rebuild sorted", NO_CACHING),
        ("fixed, tool refuses", "core + tail"),
        ("fixed, tool_choice", "fixed, tool refuses"),
        ("deferred", "fixed, tool refuses"),
        ("mid-conversation", "fixed, tool refuses"),
    ):
        if one in usd:
            told[f"{one} against {other}"] = _compared(usd[one], usd[other])
    return told


def _of_turns(by_turn: pd.DataFrame) -> dict[str, str]:
    changed = _changed(by_turn)
    read, size = changed["read"].sum(), changed["tokens"].sum()
    kept = "nothing" if not read else "less than a tenth" if read < size / 10 else "a tenth or more"
    return {"Of a turn that changes the tail, core + tail reads from the cache": kept}


def _of_advice(table: pd.DataFrame) -> dict[str, str]:
    return {
        f"Advice for {row['case']} ({row['recommended']})": "the cheapest of its layouts"
        if row["as_recommended"]
        else f"{row['cheapest']} is cheaper"
        for row in table.to_dict("records")
    }


def _changed(by_turn: pd.DataFrame) -> pd.DataFrame:
    """Turns in which core + tail has another tail than in the turn before."""
    own = by_turn[by_turn["strategy"] == "core + tail"]
    return own[(own["operation"] != "none") & (own["turn"] > 1)]


def _compared(one: float, other: float) -> str:
    if abs(one - other) <= SAME * other:
        return "the same"
    return "cheaper" if one < other else "dearer"


def _saving(one: float, other: float) -> str:
    share = 100 * (1 - one / other)
    return f"saves {share:.0f} %" if share >= 0 else f"costs {-share:.0f} % more"
