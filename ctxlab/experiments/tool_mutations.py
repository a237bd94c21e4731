"""Twelve changes to a tool array, and how much of its cached prefix each leaves (notebook 01).

>>> tools = [{"name": name, "input_schema": {"type": "object"}} for name in "abcde"]
>>> table = mutations(tools)
>>> table.loc[table["mutation"] == "swap_second_third", "shared_prefix"].item()
1

The mutations and their verdicts are those of `tool-registry`: *safe* keeps the whole prefix,
*partial* some of it, *lost* nothing. A partial match is worth nothing by itself: a cache entry
stands only where a breakpoint stood (facts `prompt-cache` §1), so both are measured.

This speaks of the tool array alone. What follows it in a request (system prompt, messages) is lost
with any change of the array, the safe ones included: not measured here. An entry at a breakpoint is
taken to outlive changes of the tools behind it, which is open (facts `prompt-cache` §1).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.errors import InputError, UsageError
from ctxlab.experiments.mutating import MUTATIONS
from ctxlab.prefix import canonical, canonical_tool, prefix_chain, shared_prefix_len
from ctxlab.prefix.segments import MAX_BREAKPOINTS

Tool = dict[str, Any]

MIN_TOOLS = 3
"""The second and the third are swapped."""


def mutations(tools: Sequence[Tool], breakpoints: Sequence[int] = (-1,)) -> pd.DataFrame:
    """One row for each of the twelve, in the document's order.

    `breakpoints` are positions of tools that carry `cache_control` in the array before the change,
    from 0, negative ones from the end.

    Columns: mutation; shared_prefix (tools of the old array that the new one still begins with);
    share_kept (of the old array, %); verdict (safe, partial, lost); kept_at_breakpoint (tools up to
    the last breakpoint inside the shared prefix); tokens_kept, tokens_lost (up to that breakpoint,
    and the rest of the old array); tokens_shared (in the shared prefix; tokens are
    `o200k estimate`); share_kept_at_breakpoint (%); tools_after.

    Raises:
        InputError: fewer than MIN_TOOLS tools, or something that is no tool.
        UsageError: a breakpoint outside the array, one given twice, or more than the API takes.
    """
    if len(tools) < MIN_TOOLS:
        raise InputError(f"the mutations need {MIN_TOOLS} tools or more, found {len(tools)}")
    marked = _positions(breakpoints, len(tools))
    chain, sizes = prefix_chain(tools), tool_tokens(tools)
    rows = []
    for name, mutate in MUTATIONS.items():
        after = mutate([copy.deepcopy(tool) for tool in tools])  # tools may share a schema
        shared = shared_prefix_len(chain, prefix_chain(after))
        kept = max((place + 1 for place in marked if place < shared), default=0)
        rows.append(
            {
                "mutation": name,
                "shared_prefix": shared,
                "share_kept": 100 * shared / len(tools),
                "verdict": _verdict(shared, len(tools)),
                "kept_at_breakpoint": kept,
                "tokens_kept": sum(sizes[:kept]),
                "tokens_lost": sum(sizes[kept:]),
                "tokens_shared": sum(sizes[:shared]),
                "share_kept_at_breakpoint": 100 * kept / len(tools),
                "tools_after": len(after),
            }
        )
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """What the twelve come to: columns figure, value, of, unit.

    A row each for `safe` (mutations that keep the whole prefix), `mean_share_kept`,
    `kept_at_breakpoint` (mutations that keep anything where the breakpoints stand) and
    `mean_share_kept_at_breakpoint`.
    """
    count = len(table)
    rows = [
        ("safe", float((table["verdict"] == "safe").sum()), count, "mutations"),
        ("mean_share_kept", table["share_kept"].mean(), 100, "%"),
        ("kept_at_breakpoint", float((table["kept_at_breakpoint"] > 0).sum()), count, "mutations"),
        ("mean_share_kept_at_breakpoint", table["share_kept_at_breakpoint"].mean(), 100, "%"),
    ]
    return pd.DataFrame(rows, columns=["figure", "value", "of", "unit"])


def by_breakpoints(
    tools: Sequence[Tool], layouts: Iterable[tuple[str, Sequence[int]]]
) -> pd.DataFrame:
    """The same twelve under other layouts of breakpoints.

    `layouts` are pairs of a name and positions as `mutations` takes them. Columns: layout;
    breakpoints (positions from 0, as text); keep_anything (mutations); mean_share_kept (%);
    mean_tokens_lost (`o200k estimate`).
    """
    rows = []
    for name, positions in layouts:
        table = mutations(tools, positions)
        rows.append(
            {
                "layout": name,
                "breakpoints": ", ".join(map(str, _positions(positions, len(tools)))),
                "keep_anything": int((table["kept_at_breakpoint"] > 0).sum()),
                "mean_share_kept": table["share_kept_at_breakpoint"].mean(),
                "mean_tokens_lost": table["tokens_lost"].mean(),
            }
        )
    return pd.DataFrame(rows)


def even_layouts(count: int) -> list[tuple[str, list[int]]]:
    """Layouts to compare on an array of `count` tools: one to four breakpoints, spread evenly.

    >>> even_layouts(100)[1]
    ('2 breakpoints', [49, 99])
    """
    layouts = []
    for number in range(1, min(MAX_BREAKPOINTS, count) + 1):
        places = [round(count * part / number) - 1 for part in range(1, number + 1)]
        layouts.append((f"{number} breakpoint{'s' * (number > 1)}", places))
    return layouts


def tool_tokens(tools: Sequence[Tool]) -> list[int]:
    """`o200k estimate` of each tool in the canonical form in which it is sent."""
    return tokens.count_many(canonical(canonical_tool(tool)) for tool in tools)


def _positions(breakpoints: Sequence[int], count: int) -> list[int]:
    for place in breakpoints:
        if isinstance(place, bool) or not isinstance(place, int) or not -count <= place < count:
            raise UsageError(f"a breakpoint is a position of one of {count} tools, not {place!r}")
    places = sorted(place % count for place in breakpoints)
    if len(set(places)) != len(places):
        raise UsageError(f"two breakpoints stand on one tool: {list(breakpoints)}")
    if len(places) > MAX_BREAKPOINTS:
        raise UsageError(f"{len(places)} breakpoints; a request takes {MAX_BREAKPOINTS} at most")
    return places


def _verdict(shared: int, count: int) -> str:
    return "safe" if shared == count else "partial" if shared else "lost"


def conclusion(table: pd.DataFrame) -> str:
    """What the table of `mutations` says, in sentences (Markdown)."""
    count, size = len(table), int((table["tokens_kept"] + table["tokens_lost"]).iloc[0])
    safe = table[table["verdict"] == "safe"]
    kept = table[table["kept_at_breakpoint"] > 0]
    wasted = table[(table["shared_prefix"] > 0) & (table["kept_at_breakpoint"] == 0)]
    return (
        f"- **{len(safe)} of {count}** changes keep the whole prefix: {_listed(safe)}.\n"
        f"- On average {table['share_kept'].mean():.0f} % of the tools stay a prefix, but only "
        f"**{len(kept)} of {count}** changes keep anything where a breakpoint stands "
        f"({table['share_kept_at_breakpoint'].mean():.0f} % of the tools on average).\n"
        f"- {len(wasted)} changes leave a prefix that no breakpoint ends: "
        f"{_listed(wasted)}. Their common prefix is worth nothing here.\n"
        f"- A change that keeps nothing loses all {size:,} tokens of the array (o200k estimate)."
    )


def _listed(table: pd.DataFrame) -> str:
    return ", ".join(f"`{name}`" for name in table["mutation"]) or "none"
