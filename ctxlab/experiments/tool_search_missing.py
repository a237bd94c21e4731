"""Which tools a search does not bring, and which words they lack (notebook 09)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.experiments.tool_search_quality import WAYS, Found
from ctxlab.experiments.tool_search_registry import Tool
from ctxlab.experiments.tool_tasks import Task
from ctxlab.loading.query import DEFAULT_RESULTS
from ctxlab.loading.searchable import CUT, searchable
from ctxlab.loading.words import words

# Words that say nothing about a tool: what a description lacks should be readable at a glance.
_SMALL_WORDS = """
a about all am an and any are as at be before by can come could did do does for from have he her
here him how i if in is it its let line make me my no not now of off on one or our out put s she
show so such take that the their them then there these they this three to too two us was we what
when where which who whom whose will with would you your
"""
_SMALL = frozenset(_SMALL_WORDS.split())


def unfindable(tools: Sequence[Tool], tasks: Sequence[Task], found: Found) -> pd.DataFrame:
    """Tools that none of their tasks finds among the first five, by any of WAYS.

    Columns: tool; missing (words of its tasks and their keywords that stand nowhere in what is
    searched); best_rank (over all ways; empty: nowhere); tasks (their ids); description_words.
    """
    rows = []
    for tool in tools:
        own = [task for task in tasks if tool["name"] in task.tools]
        if not own:
            continue
        places = [_place(found[way][task.id], tool) for way in WAYS for task in own]
        best = min((place for place in places if place), default=None)
        if best is None or best > DEFAULT_RESULTS:
            rows.append(_row(tool, own, best))
    columns = ["tool", "missing", "best_rank", "tasks", "description_words"]
    return pd.DataFrame(rows, columns=columns).astype({"best_rank": "Int64"})


def by_tool(tools: Sequence[Tool], tasks: Sequence[Task], found: Found) -> pd.DataFrame:
    """Each tool that has tasks: columns tool, then for each of WAYS the best rank over its tasks.

    Empty where none of its tasks finds it at all.
    """
    rows = []
    for tool in tools:
        own = [task for task in tasks if tool["name"] in task.tools]
        if own:
            places = {w: [_place(found[w][task.id], tool) for task in own] for w in WAYS}
            best = {w: min((p for p in places[w] if p), default=None) for w in WAYS}
            rows.append({"tool": tool["name"], **best})
    return pd.DataFrame(rows, columns=["tool", *WAYS]).astype(dict.fromkeys(WAYS, "Int64"))


def found_tools(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `by_tool`, summed up: columns search, tools, found (among five), lost."""
    rows = []
    for way in WAYS:
        among = int((table[way] <= DEFAULT_RESULTS).fillna(value=False).sum())
        row = {"search": way, "tools": len(table), "found": among, "lost": len(table) - among}
        rows.append(row)
    return pd.DataFrame(rows)


def beyond_cut(tools: Sequence[Tool]) -> pd.DataFrame:
    """Real descriptions longer than 2 KB: columns tool, bytes, words_lost.

    `words_lost` are the words that stand behind the cut only, and so find nothing.
    """
    rows = []
    for tool in tools:
        text = tool.get("description", "")
        size = len(text.encode())
        if size > CUT:
            kept = set(words("\n".join(searchable(tool).texts)))
            lost = [word for word in dict.fromkeys(words(text)) if word not in kept]
            rows.append({"tool": tool["name"], "bytes": size, "words_lost": " ".join(lost)})
    return pd.DataFrame(rows, columns=["tool", "bytes", "words_lost"])


def tokens_against_recall(
    tools: Sequence[Tool], tasks: Sequence[Task], found: Found, limits: Sequence[int]
) -> pd.DataFrame:
    """What a longer list of results buys: columns search, limit, tokens, recall.

    `tokens` is the mean size of the definitions that one search puts into the context (o200k
    estimate), `recall` the percentage of tasks whose tool is among them.
    """
    size = dict(
        zip((tool["name"] for tool in tools), tokens.count_many(map(_sent, tools)), strict=True)
    )
    rows = []
    for way in WAYS:
        for limit in limits:
            first = [(task, found[way][task.id][:limit]) for task in tasks]
            spent = sum(size[name] for _, names in first for name in names)
            hits = sum(any(name in task.tools for name in names) for task, names in first)
            row: dict[str, Any] = {"search": way, "limit": limit}
            row |= {
                "tokens": round(spent / len(tasks)),
                "recall": round(100 * hits / len(tasks), 1),
            }
            rows.append(row)
    return pd.DataFrame(rows)


def conclusion(overall: pd.DataFrame, sizes: pd.DataFrame, lost: pd.DataFrame) -> str:
    """What the tables of `recall`, `by_size` and `unfindable` say, in sentences (Markdown)."""
    rows = overall.set_index("search")
    lines = [
        f"- **{way}**: the right tool is among five for {rows.loc[way, 'recall_5']:.0f} % of the "
        f"tasks, among twenty for {rows.loc[way, 'recall_20']:.0f} %."
        for way in rows.index
    ]
    first, last = (sizes[sizes["size"] == n].set_index("search") for n in _ends(sizes["size"]))
    falls = [
        f"{way} from {first.loc[way, 'recall_5']:.0f} to {last.loc[way, 'recall_5']:.0f} %"
        for way in rows.index
    ]
    sizes_told = f"{sizes['size'].min()} to {sizes['size'].max()} tools"
    lines.append(f"- From {sizes_told} recall among five goes: {', '.join(falls)}.")
    lines.append(
        f"- {len(lost)} tools are found by none of their tasks in any way."
        if len(lost)
        else "- Every tool that has a task is found by one of them in some way."
    )
    return "\n".join(lines)


def _ends(sizes: pd.Series[int]) -> tuple[int, int]:
    return int(sizes.min()), int(sizes.max())


def _row(tool: Tool, own: Sequence[Task], best: int | None) -> dict[str, Any]:
    said = [word for task in own for word in (*words(task.task), *map(str.lower, task.keywords))]
    known = set(words("\n".join(searchable(tool).texts)))
    lacking = [w for w in dict.fromkeys(said) if w not in known and w not in _SMALL and len(w) > 1]
    return {
        "tool": tool["name"],
        "tasks": ", ".join(task.id for task in own),
        "best_rank": best,
        "description_words": len(words(tool.get("description", ""))),
        "missing": " ".join(lacking),
    }


def _place(found: Sequence[str], tool: Tool) -> int | None:
    return found.index(tool["name"]) + 1 if tool["name"] in found else None


def _sent(tool: Tool) -> str:
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))
