"""Forty turns in which tools come and go: one sorted array against core and tail (notebook 03).

Strategy A rebuilds one array each turn, sorted by name. Strategy B keeps the core in front and
changes the tail behind it (`tool-registry`). Both hold the same tools, and the core stands in name
order, so that A is never told to have lost it for its order alone.

"Kept" is left open by the document: a turn keeps the core when the first tools of its array equal
the pinned core, those of turn 1, or those of the turn before (READINGS); turn 1 has nothing before
it and keeps. A core that is not kept is re-sent: its canonical bytes count again.

This measures the tool block, not what is billed: whatever stands behind the tools is lost with any
change of them, under A and under B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.errors import UsageError
from ctxlab.prefix.canonical import encode_tool
from ctxlab.sessions import ToolOperation, ToolOperations, tool_operations

Tool = dict[str, Any]
Array = tuple[int, ...]
"""A tool array as numbers of a Toolset's tools."""

STRATEGIES = ("A", "B")
CORE = 6
"""Tools in the core of the session that is compared."""
READINGS = ("pinned core", "first turn", "previous turn")
"""What the first tools of a turn's array must equal for the core to be kept."""


@dataclass(frozen=True)
class Toolset:
    """A core and a pool that the tail draws from; tools are numbered core first, then pool."""

    core: tuple[Tool, ...]
    """In name order."""
    pool: tuple[Tool, ...]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Core, then pool."""
        return self.core + self.pool


@dataclass(frozen=True)
class Operations:
    """How many of each there are in a session, and what the tail starts with."""

    turns: int = 40
    adds: int = 10
    drops: int = 12
    swaps: int = 9
    start: int = 6

    def draw(self, seed: int, pool: int) -> ToolOperations:
        """The session of this seed.

        Raises:
            UsageError: as `tool_operations`.
        """
        return tool_operations(
            self.turns, self.adds, self.drops, self.swaps, seed, start=self.start, pool=pool
        )


def split(tools: Sequence[Tool], core: int) -> Toolset:
    """The first `core` tools as the core, the others as the pool.

    Raises:
        UsageError: no tool would be in the core, or none in the pool.
    """
    if not 0 < core < len(tools):
        told = f"the core takes 1 to {len(tools) - 1} of {len(tools)} tools, not {core}"
        raise UsageError(told)
    by_name = sorted(tools[:core], key=lambda tool: str(tool["name"]))
    return Toolset(tuple(by_name), tuple(tools[core:]))


def is_ours(tools: Sequence[Tool], ours: Sequence[Tool], core: int, operations: Operations) -> bool:
    """Whether this is the session that is held against the document: our tools, its counts.

    The seed is free, since the document's order of the operations is not published.
    """
    return list(tools) == list(ours) and core == CORE and operations == Operations()


def arrangement(toolset: Toolset) -> str:
    """Which tools are the core, and what the alphabet makes of it under A (Markdown)."""
    core, pool = ([str(tool["name"]) for tool in part] for part in (toolset.core, toolset.pool))
    behind = sum(name > core[-1] for name in pool)
    head = (
        f"**The core is the first {len(core)} of the file's {len(core) + len(pool)} tools** "
        f"({', '.join(f'`{name}`' for name in core)}); the other {len(pool)} are the pool."
    )
    if behind == len(pool):
        return (
            f"{head} Every tool of the pool sorts behind the core by name, as in a file that is "
            "sorted already: **A keeps everything that B keeps of the core**, whatever comes and "
            "goes. Put other tools first to see the two differ."
        )
    return (
        f"{head} By name {len(pool) - behind} of the pool sort before the core's last tool: under "
        "A each of them breaks into the core when it comes."
    )


def sizes(toolset: Toolset) -> pd.DataFrame:
    """Each tool: columns tool, segment, bytes (canonical), tokens (`o200k estimate`)."""
    texts = [encode_tool(tool) for tool in toolset.tools]
    return pd.DataFrame(
        {
            "tool": [tool["name"] for tool in toolset.tools],
            "segment": ["core"] * len(toolset.core) + ["pool"] * len(toolset.pool),
            "bytes": [len(text.encode()) for text in texts],
            "tokens": tokens.count_many(texts),
        }
    )


def session_turns(toolset: Toolset, session: ToolOperations) -> pd.DataFrame:
    """A row for each turn and strategy.

    Columns: turn; strategy; operation; added, dropped (names, empty where none); tools (in the
    array); a flag for each of READINGS; shared_tools (leading tools equal to the turn before);
    array_bytes; unshared_bytes (behind those, in turn 1 the whole array); resent_bytes,
    resent_tokens (`o200k estimate`): of a core that does not equal the pinned one.
    """
    table = sizes(toolset)
    size, core = table["bytes"].tolist(), table[table["segment"] == "core"]
    core_size = {unit: int(core[unit].sum()) for unit in ("bytes", "tokens")}
    return pd.DataFrame(
        [
            {
                "turn": step.operation.turn,
                "strategy": step.strategy,
                "operation": step.operation.kind,
                "added": _name(toolset, step.operation.added),
                "dropped": _name(toolset, step.operation.dropped),
                "tools": len(step.array),
                **dict(zip(READINGS, step.kept, strict=True)),
                "shared_tools": step.shared,
                "array_bytes": sum(size[tool] for tool in step.array),
                "unshared_bytes": sum(size[tool] for tool in step.array[step.shared :]),
                "resent_bytes": 0 if step.kept[0] else core_size["bytes"],
                "resent_tokens": 0 if step.kept[0] else core_size["tokens"],
            }
            for step in replay(toolset, session)
        ]
    )


def strategies(turns: pd.DataFrame, toolset: Toolset) -> pd.DataFrame:
    """What a session comes to: a row for each strategy and reading of "kept".

    `turns` is the table of `session_turns`. Columns: strategy; same_as (the reading); kept, of,
    resent (turns); resent_bytes, resent_tokens (`o200k estimate`): the core's size times those
    turns.
    """
    table = sizes(toolset)
    core = table[table["segment"] == "core"]
    rows = []
    for strategy in STRATEGIES:
        own = turns[turns["strategy"] == strategy]
        for reading in READINGS:
            kept = int(own[reading].sum())
            resent = len(own) - kept
            rows.append(
                {
                    "strategy": strategy,
                    "same_as": reading,
                    "kept": kept,
                    "of": len(own),
                    "resent": resent,
                    "resent_bytes": resent * int(core["bytes"].sum()),
                    "resent_tokens": resent * int(core["tokens"].sum()),
                }
            )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Step:
    """One turn under one strategy."""

    operation: ToolOperation
    strategy: str
    array: Array
    shared: int
    """Leading tools that equal the turn before; 0 in turn 1."""
    kept: tuple[bool, ...]
    """One flag for each of READINGS."""


def replay(toolset: Toolset, session: ToolOperations) -> Iterator[Step]:
    """Every turn of a session under A, then under B."""
    count = len(toolset.core)
    pinned = tuple(range(count))
    names = [str(tool["name"]) for tool in toolset.tools]
    first: dict[str, Array] = {}
    before: dict[str, Array] = {}
    for operation in session:
        held = pinned + tuple(count + tool for tool in operation.tail)
        arrays = (tuple(sorted(held, key=names.__getitem__)), held)
        for strategy, array in zip(STRATEGIES, arrays, strict=True):
            core, previous = array[:count], before.get(strategy, array)
            like = (pinned, first.setdefault(strategy, core), previous[:count])
            kept = tuple(core == other for other in like)
            yield Step(operation, strategy, array, _shared(before.get(strategy, ()), array), kept)
            before[strategy] = array


def _shared(before: Array, after: Array) -> int:
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _name(toolset: Toolset, tool: int | None) -> str:
    return "" if tool is None else str(toolset.pool[tool]["name"])


def conclusion(table: pd.DataFrame, turns: pd.DataFrame) -> str:
    """What the tables of `strategies` and `session_turns` say, in sentences (Markdown)."""
    kept = table.set_index(["strategy", "same_as"])["kept"]
    of, resent = table["of"].iloc[0], table.set_index(["strategy", "same_as"])["resent_bytes"]
    lines = [
        f"- Held against the {reading}, A keeps its core in **{kept['A', reading]} of {of}** turns "
        f"and re-sends {resent['A', reading]:,} bytes; B keeps it in **{kept['B', reading]} of "
        f"{of}** and re-sends {resent['B', reading]:,}."
        for reading in READINGS
    ]
    outside = turns.groupby("strategy")["unshared_bytes"].sum()
    ratio = f" ({outside['A'] / outside['B']:.1f} times as much)" if outside["B"] else ""
    lines.append(
        f"- B is not free: behind the prefix shared with the turn before stand {outside['B']:,} "
        f"bytes over the session; under A it is {outside['A']:,}{ratio}."
    )
    return "\n".join(lines)
