"""What filled the contexts of recorded sessions, and what they would have cost otherwise.

Audited sessions in, tables out (notebook 10). Sizes of blocks are o200k estimates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ctxlab.experiments.session_audit import named, shown
from ctxlab.sessions import Session
from ctxlab.sessions.auditing.variants import replay, what_if
from ctxlab.sessions.context.contents import context_by_origin, input_per_output
from ctxlab.sessions.context.cutting import large_results, result_text
from ctxlab.sessions.context.pieces import pieces
from ctxlab.sessions.telling.summary import Audited

TOOL_RESULTS = "tool results"
_TOKENS = ("read", "written_5m", "written_1h", "uncached", "output")


def origins(audits: Sequence[Audited]) -> pd.DataFrame:
    """What filled the contexts: origin, tool, blocks, tokens (o200k estimate), share (%), inferred.

    Each block counts once, however many requests carried it. Sessions of which neither bodies nor
    blocks are recorded are left out.
    """
    parts = [part for audit in audits if len(part := context_by_origin(audit.session, audit.rows))]
    if not parts:
        return pd.DataFrame(columns=["origin", "tool", "blocks", "tokens", "share", "inferred"])
    whole = pd.concat(parts)
    whole["tool"] = whole["tool"].map(shown)
    sums = whole.groupby(["origin", "tool"], sort=False, as_index=False)
    table = sums.agg({"blocks": "sum", "tokens": "sum", "inferred": "any"})
    share = 100 * table["tokens"] / max(1, table["tokens"].sum())
    table.insert(4, "share", share.round(2))
    order = ["tokens", "origin", "tool"]
    return table.sort_values(order, ascending=[False, True, True], ignore_index=True)


def bars(table: pd.DataFrame, most: int = 12) -> pd.DataFrame:
    """`origins` for a chart: `part` names origin or tool; the smallest tools become one."""
    named = table.assign(
        part=[
            f"result of {row['tool'] or 'a tool'}" if row["origin"] == TOOL_RESULTS
            else f"{row['origin']} (inferred)" if row["inferred"] else row["origin"]
            for row in table.to_dict("records")
        ]
    )  # fmt: skip
    small = named["origin"].eq(TOOL_RESULTS) & (named["origin"].eq(TOOL_RESULTS).cumsum() > most)
    named.loc[small, "part"] = f"results of {int(small.sum())} other tools"
    return named.groupby("part", sort=False, as_index=False)[["tokens", "share"]].sum()


def figures(audits: Sequence[Audited], by_origin: pd.DataFrame) -> pd.DataFrame:
    """The two figures that the documents state of long tasks: figure, value, unit."""
    results = by_origin.loc[by_origin["origin"] == TOOL_RESULTS, "share"].sum()
    ratio = input_per_output(row for audit in audits for row in audit.rows)
    found: list[tuple[str, float, str]] = []
    if len(by_origin):
        found.append(("tool results in the context", float(results), "percent"))
    if not math.isnan(ratio):
        found.append(("input for each output token", ratio, "ratio"))
    return pd.DataFrame(found, columns=["figure", "value", "unit"])


def largest(audits: Sequence[Audited], most: int) -> pd.DataFrame:
    """The largest tool results, and what our truncation would have saved.

    Columns: session; tool; call (its id); request (the first that carried it);
    begins (its text, shortened, secrets masked); tokens; saved (each time it is sent); sent (how
    often); saved_in_session (tokens); usd_saved.
    """
    parts = [
        large_results(audit.session, audit.rows).assign(session=name)
        for name, audit in named(audits)
    ]
    names = [*(large_results(Session("", "requests", (), ()), [])), "session"]
    whole = pd.concat(parts) if parts else pd.DataFrame(columns=names)
    whole = whole.sort_values(
        ["tokens", "session", "request", "id"], ascending=[False, True, True, True]
    ).head(most)
    begun = _beginnings(audits, whole)
    table = whole.rename(columns={"id": "call"})
    table.insert(
        0, "begins", [begun.get(key, "") for key in zip(whole["session"], whole["id"], strict=True)]
    )
    order = ["session", "request", "tool", "call", "begins", "tokens", "saved"]
    table = table[[*order, "sent", "saved_in_session", "usd_saved"]].reset_index(drop=True)
    return table.assign(tool=table["tool"].map(shown), call=table["call"].map(shown))


def variants(audits: Sequence[Audited]) -> pd.DataFrame:
    """What all sessions would have cost: a row a variant.

    Columns: variant; basis (recorded or simulated); read, written_5m, written_1h, uncached, output
    (tokens); usd; relative (to the sessions as they were); unpriced (requests left out).
    """
    return _summed([what_if(audit.session, audit.rows) for audit in audits])


def replayed(audits: Sequence[Audited]) -> pd.DataFrame:
    """The same by sending the recorded bodies to the simulator; no rows where none can be."""
    return _summed([replay(audit.session) for audit in audits])


def _beginnings(audits: Sequence[Audited], table: pd.DataFrame) -> dict[tuple[Any, Any], str]:
    wanted = set(zip(table["session"], table["id"], strict=True))
    return {
        (name, piece.id): shown(result_text(piece.block))
        for name, audit in named(audits)
        if name in set(table["session"])
        for piece in pieces(audit.session)
        if piece.origin == TOOL_RESULTS and (name, piece.id) in wanted
    }


def _summed(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Variants of several sessions, added up."""
    kept = [part for part in parts if len(part)]
    columns = [*_TOKENS, "usd", "unpriced"]
    if not kept:
        return pd.DataFrame(columns=["variant", "basis", *_TOKENS, "usd", "relative", "unpriced"])
    table = (
        pd.concat(kept)
        .groupby(["variant", "basis"], sort=False)[columns]
        .sum(min_count=1)
        .reset_index()
    )
    first = table["usd"].iloc[0]
    table.insert(len(table.columns) - 1, "relative", table["usd"] / first if first else math.nan)
    return table
