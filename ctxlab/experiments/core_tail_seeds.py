"""The forty turns drawn a thousand times, and the guard that pins a core (notebook 03).

One session is one draw: how often A keeps its core hangs on the order of the operations, and on
which tools the core is made of. So the operations are drawn for many seeds, once with the core that
was given and once with a core of equal size drawn from all tools.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Sequence
from random import Random
from typing import Any

import pandas as pd

from ctxlab.errors import ToolPrefixViolation
from ctxlab.experiments.core_tail_session import (
    READINGS,
    STRATEGIES,
    Operations,
    Toolset,
    replay,
    split,
)
from ctxlab.prefix import ToolSegments, ToolSetSession

Tool = dict[str, Any]

CORES = ("given", "drawn")


def over_seeds(
    toolset: Toolset,
    operations: Operations,
    seeds: Iterable[int],
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> pd.DataFrame:
    """Turns in which the core was kept, for each seed, core, strategy: columns `kept …`.

    Columns: seed; core (`given`, or `drawn` from all tools with that seed); strategy; then a column
    for each reading, the turns that keep the core. `progress` wraps the loop (such as `tqdm`).
    """
    rows = []
    for seed in progress(seeds):
        session = operations.draw(seed, len(toolset.pool))
        for core, tools in zip(CORES, (toolset, _drawn(toolset, seed)), strict=True):
            kept = {strategy: [0] * len(READINGS) for strategy in STRATEGIES}
            for step in replay(tools, session):
                kept[step.strategy] = [
                    count + flag for count, flag in zip(kept[step.strategy], step.kept, strict=True)
                ]
            rows += [[seed, core, strategy, *kept[strategy]] for strategy in STRATEGIES]
    return pd.DataFrame(rows, columns=["seed", "core", "strategy", *READINGS])


def by_reading(seeds: pd.DataFrame) -> pd.DataFrame:
    """`over_seeds` with a row for each reading: columns seed, core, strategy, same_as, kept."""
    return seeds.melt(["seed", "core", "strategy"], list(READINGS), "same_as", "kept")


def distribution(seeds: pd.DataFrame, stated: int | None = None) -> pd.DataFrame:
    """How the kept turns spread over seeds: a row for each core, strategy and reading.

    Columns: strategy; core; same_as; median, as_stated (% of the seeds that keep exactly `stated`
    turns, the document's figure; not there without it), least, p5, mean, p95, most (turns).
    """
    groups = by_reading(seeds).groupby(["strategy", "core", "same_as"])["kept"]
    table = groups.agg(
        median="median",
        as_stated=lambda kept: 100 * (kept == stated).mean(),
        least="min",
        p5=lambda kept: kept.quantile(0.05),
        mean="mean",
        p95=lambda kept: kept.quantile(0.95),
        most="max",
    ).reset_index()
    if stated is None:
        del table["as_stated"]
    order = {name: place for place, name in enumerate((*STRATEGIES, *CORES, *READINGS))}
    keys = ["strategy", "core", "same_as"]
    return table.sort_values(keys, key=lambda names: names.map(order), ignore_index=True)


def conclusion(table: pd.DataFrame, stated: int | None = None) -> str:
    """What the table of `distribution` says of A's given core, in sentences (Markdown).

    Without `stated` no document is spoken of: these are other tools or another session.
    """
    rows = table[(table["core"] == "given") & (table["strategy"] == "A")]
    lines = [
        f"- Held against the {row['same_as']}, A keeps its core in {_turns(row)}."
        for row in rows.to_dict("records")
    ]
    return "\n".join(lines if stated is None else [*lines, *_held_against(rows, stated)])


def _turns(row: dict[Hashable, Any]) -> str:
    if row["least"] == row["most"]:
        return f"{row['least']} turns in every draw"
    return f"{row['least']} to {row['most']} turns, the median of the draws being {row['median']:g}"


def _held_against(rows: pd.DataFrame, stated: int) -> list[str]:
    shares = ", ".join(
        f"**{row['as_stated']:.1f} %** held against the {row['same_as']}"
        for row in rows.to_dict("records")
    )
    lines = [f"- The document's {stated} comes out in this share of the draws: {shares}."]
    never = rows[(rows["least"] > stated) | (rows["most"] < stated)]["same_as"]
    if len(never):
        lines.append(
            f"- Held against the {' and the '.join(never)}, no draw comes to {stated}: the "
            "document must mean another reading. (A turn without an operation always equals the "
            "turn before it.)"
        )
    return lines


def guard(tools: Sequence[Tool], core: int = 3) -> pd.DataFrame:
    """What a pinned core lets pass and what it refuses, tried on the first `core` tools.

    Columns: step; fingerprint (of the core, 16 hex digits); breakpoint (position of the tool that
    carries it in the request, missing where no request was made); refused.

    Raises:
        UsageError: fewer tools than the core and one for the tail.
    """
    rows = []
    for step, change in _STEPS.items():
        toolset = split(copy.deepcopy(list(tools)), core)
        session = ToolSetSession(ToolSegments(toolset.core, toolset.pool[:1]))
        change(session, toolset)
        rows.append({"step": step, **_asked(session)})
    return pd.DataFrame(rows).astype({"breakpoint": "Int64"})


def _asked(session: ToolSetSession) -> dict[str, Any]:
    try:
        sent = session.request_tools()
    except ToolPrefixViolation as violation:
        return {"fingerprint": violation.found, "breakpoint": None, "refused": True}
    marked = [place for place, tool in enumerate(sent) if "cache_control" in tool]
    fingerprint = session.segments.core_fingerprint
    return {"fingerprint": fingerprint, "breakpoint": marked[0], "refused": False}


def _drawn(toolset: Toolset, seed: int) -> Toolset:
    """A core of equal size from all tools; `random()` alone, whose sequence Python keeps."""
    random = Random(seed)  # noqa: S311  a reproducible draw, no secret
    left = list(toolset.tools)
    core = [left.pop(int(random.random() * len(left))) for _ in toolset.core]
    return split(core + left, len(core))


def _nothing(_session: ToolSetSession, _toolset: Toolset) -> None:
    pass


def _grow(session: ToolSetSession, toolset: Toolset) -> None:
    session.mutate_tail(toolset.pool)


def _swap(session: ToolSetSession, toolset: Toolset) -> None:
    session.mutate_tail(toolset.pool[-1:])


def _empty(session: ToolSetSession, _toolset: Toolset) -> None:
    session.mutate_tail([])


def _edit(session: ToolSetSession, _toolset: Toolset) -> None:
    session.segments.core[0]["description"] = "Edited in place."


def _reorder(session: ToolSetSession, toolset: Toolset) -> None:
    session.segments = ToolSegments(toolset.core[::-1], session.segments.tail)


def _shrink(session: ToolSetSession, toolset: Toolset) -> None:
    session.segments = ToolSegments(toolset.core[:-1], session.segments.tail)


_STEPS: dict[str, Callable[[ToolSetSession, Toolset], None]] = {
    "pinned": _nothing,
    "tail grown": _grow,
    "tail swapped": _swap,
    "tail emptied": _empty,
    "core tool edited in place": _edit,
    "core reordered": _reorder,
    "core tool removed": _shrink,
}
"""Name → what happens to a session before its next request."""
