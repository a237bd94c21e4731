"""Is the right tool still found? Recall of the two searches over tasks (notebook 09).

A task is found within k when one of the tools that would do it is among the first k results. Four
ways to search (`WAYS`): BM25 with the user's own words, BM25 with the keywords a model would try,
and a regular expression of those keywords joined by `|`, its matches ordered ours or as they stand
in the array (the API's order is not published).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ctxlab.experiments.tool_search_registry import Tool, own_name, server_of
from ctxlab.experiments.tool_tasks import Task
from ctxlab.loading import Bm25ToolSearch, RegexToolSearch
from ctxlab.loading.searchable import CUT

Found = Mapping[str, Mapping[str, list[str]]]
"""Way to search → task id → names of the tools found, best first."""
Progress = Callable[[Sequence[int]], Iterable[int]]

BM25_WORDS = "BM25, the user's words"
BM25_KEYWORDS = "BM25, keywords"
REGEX = "regex, keywords"
REGEX_ARRAY = "regex, array order"
WAYS = (BM25_KEYWORDS, BM25_WORDS, REGEX, REGEX_ARRAY)
FILLER = "See the manual of this service for what else there is to say. "


def search_all(tools: Sequence[Tool], tasks: Sequence[Task]) -> Found:
    """Everything that each of WAYS finds for each task."""
    return {**_by_bm25(tools, tasks), **_by_regex(tools, tasks)}


def _by_bm25(tools: Sequence[Tool], tasks: Sequence[Task]) -> Found:
    search, most = Bm25ToolSearch(tools).search, max(1, len(tools))
    return {
        BM25_KEYWORDS: {task.id: search(" ".join(task.keywords)[:500], most) for task in tasks},
        BM25_WORDS: {task.id: search(task.task[:500], most) for task in tasks},
    }


def _by_regex(tools: Sequence[Tool], tasks: Sequence[Task]) -> Found:
    search = RegexToolSearch(tools)
    matches = {task.id: search.matches(pattern(task)) for task in tasks}
    ranked = {id_: sorted(found, key=lambda match: match[0]) for id_, found in matches.items()}
    return {
        REGEX: {id_: [name for _, name in found] for id_, found in ranked.items()},
        REGEX_ARRAY: {id_: [name for _, name in found] for id_, found in matches.items()},
    }


def pattern(task: Task) -> str:
    """The keywords as alternatives, as many as 200 characters hold.

    >>> pattern(Task("mail", "", ("send", "mail"), ()))
    'send|mail'
    """
    whole = "|".join(map(re.escape, task.keywords))
    return whole if len(whole) <= 200 else whole[:200].rsplit("|", 1)[0]  # noqa: PLR2004


def ranks(found: Found, tasks: Sequence[Task]) -> pd.DataFrame:
    """Where each task's tool stands: columns task, search, rank (empty: not found), matches."""
    rows = [
        {
            "task": task.id,
            "search": way,
            "rank": _rank(found[way][task.id], task.tools),
            "matches": len(found[way][task.id]),
        }
        for way in WAYS
        for task in tasks
    ]
    return pd.DataFrame(rows).astype({"rank": "Int64"})


def recall(ranked: pd.DataFrame, by: Sequence[str] = ("search",)) -> pd.DataFrame:
    """The table of `ranks`, summed up.

    Columns: those of `by`; tasks; recall_5, recall_20 (percent); mean_rank (of the tasks that were
    found at all); never (tasks found nowhere); mean_matches.
    """
    rows = []
    for names, part in ranked.groupby(list(by), sort=False):
        rank = part["rank"]
        rows.append(
            {
                **dict(zip(by, names, strict=True)),
                "tasks": len(part),
                "recall_5": _percent(rank <= 5, part),  # noqa: PLR2004  in the column's name
                "recall_20": _percent(rank <= 20, part),  # noqa: PLR2004  likewise
                "mean_rank": round(float(rank.dropna().mean()), 2) if rank.notna().any() else None,
                "never": int(rank.isna().sum()),
                "mean_matches": round(float(part["matches"].mean()), 1),
            }
        )
    return pd.DataFrame(rows)


def by_size(  # noqa: PLR0913, PLR0917  what is searched, and how it is drawn
    tools: Sequence[Tool],
    tasks: Sequence[Task],
    found: Found,
    sizes: Sequence[int],
    seeds: int,
    progress: Progress = iter,
) -> pd.DataFrame:
    """Recall against registry size: for each seed a shuffle, its first n tools are the registry.

    `found` is what `search_all` finds in all tools. Only tasks whose tool is in the subset count. A
    size beyond the registry is the registry's. Columns as `recall`, by size and search.
    """
    whole = {way: found[way] for way in (REGEX, REGEX_ARRAY)}
    wanted = [size for size in dict.fromkeys(min(size, len(tools)) for size in sizes) if size > 0]
    parts = []
    for seed in progress(range(seeds)):
        order = random.Random(seed).sample(range(len(tools)), len(tools))  # noqa: S311  no secret
        for size in wanted:
            # The registry's own order, thinned out: array order must mean what it means there.
            subset = [tools[index] for index in sorted(order[:size])]
            there = {tool["name"] for tool in subset}
            own = [task for task in tasks if there.intersection(task.tools)]
            if own:
                # A pattern's matches do not hang on other tools; BM25's weights do.
                got = {**_by_bm25(subset, own), **_within(whole, there)}
                parts.append(ranks(got, own).assign(size=size))
    return recall(pd.concat(parts), ("size", "search")).sort_values("size", kind="stable")


def _within(found: Found, names: set[str]) -> Found:
    return {
        way: {id_: [name for name in got if name in names] for id_, got in by_task.items()}
        for way, by_task in found.items()
    }


def by_naming(tools: Sequence[Tool], tasks: Sequence[Task], found: Found) -> pd.DataFrame:
    """Recall with names as joined (`mcp__git__git_log`) and as the server gives them (`git_log`).

    Columns as `recall`, by names and search. Tools that lose their difference with the prefix are
    numbered.
    """
    parts = [ranks(found, tasks).assign(names="with prefix")]
    bare, renamed = _bare(tools)
    own = [
        Task(t.id, t.task, t.keywords, tuple(renamed[n] for n in t.tools if n in renamed))
        for t in tasks
    ]
    parts.append(ranks(search_all(bare, own), own).assign(names="without prefix"))
    return recall(pd.concat(parts), ("names", "search"))


def families(tools: Sequence[Tool]) -> pd.DataFrame:
    """What one search for a server's name brings.

    Columns: server, tools; then, for names with and without prefix, found (tools of the server) and
    others (tools of other servers).
    """
    bare, renamed = _bare(tools)
    servers = list(dict.fromkeys(server_of(tool) for tool in tools))
    owners = {tool["name"]: server_of(tool) for tool in tools}
    bare_owners = {renamed[name]: server for name, server in owners.items()}
    rows = []
    for server in servers:
        row: dict[str, Any] = {"server": server, "tools": list(owners.values()).count(server)}
        for names, array, owner in (("with", tools, owners), ("without", bare, bare_owners)):
            hits = RegexToolSearch(array).search(re.escape(server), len(tools))
            own = sum(owner[name] == server for name in hits)
            row |= {f"found_{names}_prefix": own, f"others_{names}_prefix": len(hits) - own}
        rows.append(row)
    return pd.DataFrame(rows)


def by_cut(tools: Sequence[Tool], tasks: Sequence[Task], found: Found) -> pd.DataFrame:
    """Recall when every description is long: its own words before the 2 KB cut, or behind it.

    Columns as `recall`, by description (as sent, before the cut, behind the cut) and search. The
    filler is the same 2 KB of text for every tool.
    """
    filler = (FILLER * (CUT // len(FILLER) + 1))[: CUT - 1] + "\n"
    variants: Mapping[str, Callable[[str], str]] = {
        "before the cut": lambda text: f"{text}\n{filler}",
        "behind the cut": lambda text: f"{filler}{text}",
    }
    parts = [ranks(found, tasks).assign(description="as sent")]
    for name, change in variants.items():
        got = search_all([_described(tool, change) for tool in tools], tasks)
        parts.append(ranks(got, tasks).assign(description=name))
    return recall(pd.concat(parts), ("description", "search"))


def _described(tool: Tool, change: Callable[[str], str]) -> Tool:
    return {**tool, "description": change(tool.get("description", ""))}


def _bare(tools: Sequence[Tool]) -> tuple[list[Tool], dict[str, str]]:
    """The tools under their servers' own names, and joined name → that name."""
    taken: set[str] = set()
    renamed = {}
    for tool in tools:
        name, number = own_name(tool), 2
        while name in taken:
            name, number = f"{own_name(tool)}_{number}", number + 1
        taken.add(name)
        renamed[tool["name"]] = name
    return [{**tool, "name": renamed[tool["name"]]} for tool in tools], renamed


def _rank(found: Sequence[str], right: Sequence[str]) -> int | None:
    return next((at for at, name in enumerate(found, 1) if name in right), None)


def _percent(hits: pd.Series[Any], part: pd.DataFrame) -> float:
    return round(100 * int(hits.fillna(value=False).sum()) / len(part), 1)
