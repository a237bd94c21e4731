"""What the tables of `grep_tokens` say, in sentences that are chosen by what was measured."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from ctxlab.experiments.grep_tokens import BEFORE_LAST, FIRST, LAST

Row = dict[Hashable, Any]


def findings(table: pd.DataFrame, caps: pd.DataFrame, cap: int) -> str:
    """The switch, its parts, what the quota buys, and the long answers, as Markdown.

    `table` is `grep_tokens.by_style` at `cap`, `caps` is `by_cap` with more of them.
    """
    styles: dict[str, Row] = {row["style"]: row for row in table.to_dict("records")}
    if pd.isna(styles[LAST]["files_percent"]):
        return "- No search found anything: there is nothing that a format could save."
    lines = [
        _switch(styles),
        _parts(styles),
        _quota(styles, caps, cap),
        _longest(styles, caps, cap),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _switch(styles: dict[str, Row]) -> str:
    tag, before, grep = styles[FIRST], styles[BEFORE_LAST], styles[LAST]
    told = (
        f"**Tag to grep, as a whole**: {tag['mean']:,.0f} → {grep['mean']:,.0f} tokens a call "
        f"({_percent(grep['total'] / tag['total'] - 1)})"
    )
    if before["total"] == grep["total"]:
        return f"{told}."
    return (
        f"{told}; without the quota {before['mean']:,.0f} "
        f"({_percent(before['total'] / tag['total'] - 1)})."
    )


def _parts(styles: dict[str, Row]) -> str:
    changes = sorted(list(styles.values())[1:-1], key=lambda row: float(row["step"]))
    whole = styles[FIRST]["total"]
    parts = [f"{row['change']} {_percent(row['step'] / whole)}" for row in changes if row["step"]]
    idle = [str(row["change"]) for row in changes if not row["step"]]
    told = f"**Its parts**, of the tag format's tokens: {', '.join(parts) or 'none counts'}."
    return f"{told} Without effect here: {', '.join(idle)}." if idle else told


def _quota(styles: dict[str, Row], caps: pd.DataFrame, cap: int) -> str:
    before, grep = styles[BEFORE_LAST], styles[LAST]
    old, new = before["files_percent"], grep["files_percent"]
    if old == new and not grep["step"]:
        return (
            f"**The quota** changes nothing here: with {cap} rows the first come cover "
            f"{_share(old)} of a query's files, as many as with it."
        )
    tokens = (
        f"takes {_signed(grep['step'])} tokens ({_percent(grep['step'] / before['total'])} of the "
        "format before it)"
        if grep["step"]
        else "takes no tokens"
    )
    if old == new:
        return f"**The quota** {tokens} and covers {_share(new)} of a query's files, as before."
    shown = f"shows rows from {_share(new)} of a query's files instead of {_share(old)}"
    return f"**The quota** {tokens} and {shown}.{_without_quota(caps, grep, cap)}"


def _without_quota(caps: pd.DataFrame, grep: Row, cap: int) -> str:
    """How much the same coverage takes when the first come are served."""
    enough = caps["files_percent"] >= grep["files_percent"]
    first_come = caps[(caps["style"] == BEFORE_LAST) & enough].to_dict("records")
    if not first_come:
        return f" Without it no cap up to {caps['cap'].max()} covers as many."
    row = first_come[0]
    if row["cap"] <= cap:
        return ""
    return (
        f" Without it the cap would have to be {row['cap']} instead of {cap} to cover as many, at "
        f"{row['total'] / grep['total']:.1f} × the tokens."
    )


def _longest(styles: dict[str, Row], caps: pd.DataFrame, cap: int) -> str:
    """P95 at this cap, and at the largest, where long results are long."""
    told = (
        f"**At the 95th percentile** a call takes {_tail({k: v['p95'] for k, v in styles.items()})}"
    )
    most = int(caps["cap"].max())
    rows = caps[caps["cap"] == most].to_dict("records")
    tail = {str(row["style"]): float(row["p95"]) for row in rows}
    if most == cap or all(round(tail[name]) == round(styles[name]["p95"]) for name in tail):
        return f"{told}."
    return f"{told}; at a cap of {most} it takes {_tail(tail)}."


def _tail(p95: dict[str, float]) -> str:
    tag, before, grep = (p95[style] for style in (FIRST, BEFORE_LAST, LAST))
    told = f"{tag:,.0f} tokens in tag"
    if round(before) == round(grep):
        return (
            f"{told}, {grep:,.0f} in grep ({_percent(grep / tag - 1)}), with or without the quota"
        )
    return (
        f"{told}, {before:,.0f} without the quota ({_percent(before / tag - 1)}), {grep:,.0f} "
        f"with it ({_percent(grep / tag - 1)})"
    )


def _share(percent: float) -> str:
    """No digit more than is needed: 100 %, 66.7 %."""
    return f"{percent:.1f}".removesuffix(".0") + " %"


def _percent(share: float) -> str:
    text = f"{100 * share:+.1f} %".replace("-", "−")
    return "±0 %" if text[1:] == "0.0 %" else text


def _signed(count: int) -> str:
    return f"{count:+,}".replace("-", "−")
