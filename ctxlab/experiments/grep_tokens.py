"""What each change from the tag format to the grep format saves or costs (notebook 04).

`tool-design` quotes production telemetry for the switch as a whole. Here every query is searched
once and rendered in every style of `ctxlab.tools.STYLES`, each of which makes one more change, so
that tokens *and* the evidence that is kept (matching lines shown, files covered) can be told apart.
Equal queries over equal trees give equal tables.

Tokens are local counts (`o200k estimate`). The queries are ours, not a production mix: compare
shares, not totals. A tag block writes the absolute path: `root` fixes how long that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ctxlab import tokens
from ctxlab.experiments.queries import SHAPES, Asked
from ctxlab.tools import STYLES, SearchResult, largest_remainder, pick, render

ROOT = "/home/me/proj"
"""The folder that a tag block's absolute paths begin with."""
FIRST, BEFORE_LAST, LAST = "tag", "windowed", "grep"
QUOTA = ([500, 300, 150, 50, 10], 200)
"""Matches of five files and the rows they share: the example that is compared."""


def steps(
    asked: Iterable[Asked], cap: int, root: str = ROOT, styles: Sequence[str] = tuple(STYLES)
) -> pd.DataFrame:
    """One row for each query and style, at most `cap` lines shown.

    Columns: query, tree, shape, style, tokens (`o200k estimate`), matches_shown and matches_total
    (matching lines), files_shown, files_total.
    """
    rows = []
    for one in asked:
        result = replace(one.result, cap=cap, root=Path(root) / one.tree)
        texts = [render(result, style) for style in styles]
        for style, size in zip(styles, tokens.count_many(texts), strict=True):
            head = {"query": one.name, "tree": one.tree, "shape": one.query.shape}
            rows.append(head | {"style": style, "tokens": size} | _evidence(result, style))
    return pd.DataFrame(rows)


def _evidence(result: SearchResult, style: str) -> dict[str, int]:
    shown = pick(result, style)
    return {
        "matches_shown": sum(kept.lines for kept in shown),
        "matches_total": result.total,
        "files_shown": len(shown),
        "files_total": len(result.files),
    }


def by_style(steps: pd.DataFrame) -> pd.DataFrame:
    """One row for each style, over all queries.

    Columns: style; change (what it changes against the one before); total (tokens); step (tokens
    against the style before, negative saves); saved_percent (of the first style's total); over the
    queries that find something, files_percent and matches_percent (mean share of what each found
    that is shown), and whole (queries of which every file is covered); mean, p50, p95 (tokens).
    """
    found = steps[steps["matches_total"] > 0]
    shares = found.assign(
        files=100 * found["files_shown"] / found["files_total"],
        matches=100 * found["matches_shown"] / found["matches_total"],
        whole=found["files_shown"] == found["files_total"],
    ).groupby("style", sort=False)
    size = steps.groupby("style", sort=False)["tokens"]
    total = size.sum()
    frame = pd.DataFrame({"change": [STYLES[style].change for style in total.index]}, total.index)
    frame["total"] = total
    frame["step"] = total.diff().fillna(total).astype(int)
    frame["saved_percent"] = 100 * (1 - total / total.iloc[0])
    frame["files_percent"] = shares["files"].mean()
    frame["matches_percent"] = shares["matches"].mean()
    frame["whole"] = shares["whole"].sum()
    frame["mean"], frame["p50"], frame["p95"] = size.mean(), size.median(), size.quantile(0.95)
    return frame.reset_index()


def formats(steps: pd.DataFrame) -> pd.DataFrame:
    """The four figures of `tool-design`, for our queries: mean, P50, P95 and total, tag and grep.

    Columns: figure (mean, p50, p95, total), unit, tag, grep, windowed (grep without the quota),
    change (grep against tag, %), change_without_quota (windowed against tag, %).
    """
    table = by_style(steps).set_index("style")
    rows = []
    for figure in ("mean", "p50", "p95", "total"):
        values = table[figure] / (1e6 if figure == "total" else 1)
        tag, grep, windowed = values[FIRST], values[LAST], values["windowed"]
        rows.append(
            {
                "figure": figure,
                "unit": "Mtokens" if figure == "total" else "tokens",
                "tag": tag,
                "grep": grep,
                "windowed": windowed,
                "change": 100 * (grep / tag - 1),
                "change_without_quota": 100 * (windowed / tag - 1),
            }
        )
    return pd.DataFrame(rows)


def by_shape(steps: pd.DataFrame) -> pd.DataFrame:
    """One row for each shape of query: what the whole switch does to it.

    Columns: shape, queries, tag, windowed, grep (mean tokens), change (%, grep against tag),
    files_tag, files_grep (mean share of a query's files that is covered, %; empty for `none`).
    """
    known = [shape for shape in SHAPES if (steps["shape"] == shape).any()]
    order = list(dict.fromkeys([*known, *steps["shape"]]))
    share = 100 * steps["files_shown"] / steps["files_total"].where(steps["files_total"] > 0)
    sizes, files = (
        frame.pivot_table(index="shape", columns="style", values="value", dropna=False)
        for frame in (steps.assign(value=steps["tokens"]), steps.assign(value=share))
    )
    queries = steps.loc[steps["style"] == FIRST, "shape"].value_counts()
    table = pd.DataFrame({"shape": order, "queries": queries.reindex(order).to_numpy()})
    for style in (FIRST, "windowed", LAST):
        table[style] = sizes[style].reindex(order).to_numpy()
    table["change"] = 100 * (table[LAST] / table[FIRST] - 1)
    for style in (FIRST, LAST):
        table[f"files_{style}"] = files[style].reindex(order).to_numpy()
    return table


def by_cap(asked: Sequence[Asked], caps: Iterable[int], root: str = ROOT) -> pd.DataFrame:
    """What a cap buys with and without the quota: the price of evidence.

    Columns: cap (lines shown at most), style (tag, windowed, grep), and of `by_style` mean, p50,
    p95, total, matches_percent, files_percent.
    """
    parts = [
        by_style(steps(asked, cap, root, (FIRST, "windowed", LAST))).assign(cap=cap) for cap in caps
    ]
    frame = pd.concat(parts, ignore_index=True)
    shares = ["matches_percent", "files_percent"]
    return frame[["cap", "style", "mean", "p50", "p95", "total", *shares]]


def waterfall(table: pd.DataFrame) -> pd.DataFrame:
    """`by_style` as steps that add up: columns step, tokens; the first is the total of `tag`."""
    return pd.DataFrame({"step": table["change"], "tokens": table["step"]})


def quota(counts: Sequence[int], cap: int) -> pd.DataFrame:
    """Who gets how many rows: columns file, matches, rows.

    >>> quota([3, 2], 4)["rows"].tolist()
    [2, 2]
    """
    named = {f"file {place}": count for place, count in enumerate(counts, 1)}
    rows = largest_remainder(named, cap)
    return pd.DataFrame(
        {"file": list(named), "matches": list(named.values()), "rows": list(rows.values())}
    )
