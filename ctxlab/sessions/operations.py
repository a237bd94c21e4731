"""Tool operations of a session, turn by turn: tools come, go and are swapped (`tool-registry`).

>>> session = tool_operations(turns=3, adds=1, drops=1, swaps=1, seed=1, start=2, pool=3)
>>> session.start
(0, 2)
>>> [(turn.kind, turn.tail) for turn in session]
[('swap', (1, 2)), ('add', (1, 2, 0)), ('drop', (2, 0))]

Tools are numbers: positions in a pool that the caller owns, so one session can be replayed with
any tools and by any strategy. The document leaves open how the tail starts, what it draws from and
what happens to an operation that cannot be done. Ours:

- The tail starts with `start` different tools of the pool, drawn at random.
- add: a tool from outside the tail goes to its end. drop: any tool of the tail goes. swap: any tool
  of the tail is replaced, in its place, by one from outside. none: nothing happens.
- The operations are drawn one by one out of those that are left, each as likely as another. One
  that cannot be done now, or after which the rest could not be done, is drawn again.

The same arguments give the same session on every version of Python: of `random.Random` only
`random()` is used, whose sequence Python promises to keep. Not handled here: what the tools are,
and how a strategy sends them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from ctxlab.errors import UsageError

Kind = Literal["add", "drop", "swap", "none"]


@dataclass(frozen=True, slots=True)
class ToolOperation:
    """What happened before one turn's request, and the tail that the request carries."""

    turn: int
    """From 1."""
    kind: Kind
    added: int | None
    """The tool that came in (add, swap)."""
    dropped: int | None
    """The tool that went (drop, swap)."""
    tail: tuple[int, ...]
    """The tail after the operation, in order."""


@dataclass(frozen=True, slots=True)
class ToolOperations:
    """A session's operations; iterating gives a `ToolOperation` for each turn."""

    seed: int
    pool: int
    """How many tools there are to choose from: 0 … pool - 1."""
    start: tuple[int, ...]
    """The tail before the first turn."""
    operations: tuple[ToolOperation, ...]

    def __iter__(self) -> Iterator[ToolOperation]:
        return iter(self.operations)

    def __len__(self) -> int:
        return len(self.operations)

    def __getitem__(self, index: int) -> ToolOperation:
        return self.operations[index]


def tool_operations(  # noqa: PLR0913  each of them is a number that the document gives or leaves open
    turns: int, adds: int, drops: int, swaps: int, seed: int, *, start: int = 6, pool: int = 10
) -> ToolOperations:
    """Draw a session; turns without an add, a drop or a swap do nothing.

    Raises:
        UsageError: a negative number, more operations than turns, a start larger than the pool, or
            operations that no order makes possible (more drops than tools, more adds than places).
    """
    nothing = turns - adds - drops - swaps
    remaining = Counter[Kind]({"add": adds, "drop": drops, "swap": swaps, "none": nothing})
    _check(turns, remaining, start, pool)
    random = Random(seed)  # noqa: S311  a reproducible draw, no secret
    tail = first = _drawn(range(pool), start, random)
    operations: list[ToolOperation] = []
    for turn in range(1, turns + 1):
        kind = _draw(remaining, len(tail), pool, random)
        remaining[kind] -= 1
        operation = _applied(turn, kind, tail, pool, random)
        operations.append(operation)
        tail = operation.tail
    return ToolOperations(seed, pool, first, tuple(operations))


def _draw(remaining: Counter[Kind], size: int, pool: int, random: Random) -> Kind:
    """One of the operations that are left, drawn again until it can be done."""
    while True:
        left: list[Kind] = [kind for kind, count in remaining.items() for _ in range(count)]
        kind = left[_below(len(left), random)]
        after = remaining.copy()
        after[kind] -= 1
        if _possible(kind, size, pool) and _completable(after, _size_after(kind, size), pool):
            return kind


def _possible(kind: Kind, size: int, pool: int) -> bool:
    needs_tail, needs_outside = kind in ("drop", "swap"), kind in ("add", "swap")
    return (size > 0 or not needs_tail) and (size < pool or not needs_outside)


def _size_after(kind: Kind, size: int) -> int:
    return size + (kind == "add") - (kind == "drop")


def _completable(remaining: Counter[Kind], size: int, pool: int) -> bool:
    """Whether some order of these operations can be done from a tail of this size."""
    if not 0 <= size + remaining["add"] - remaining["drop"] <= pool:
        return False
    # A swap needs one tool inside and one outside at some moment; the others need but one tool.
    if not remaining["swap"]:
        return pool > 0 or not remaining["add"]
    return pool > 1 and (0 < size < pool or remaining["add" if size == 0 else "drop"] > 0)


def _applied(
    turn: int, kind: Kind, tail: tuple[int, ...], pool: int, random: Random
) -> ToolOperation:
    outside = [tool for tool in range(pool) if tool not in tail]
    added = outside[_below(len(outside), random)] if kind in ("add", "swap") else None
    place = _below(len(tail), random) if kind in ("drop", "swap") else len(tail)
    after = (*tail[:place], *([] if added is None else [added]), *tail[place + 1 :])
    dropped = tail[place] if kind in ("drop", "swap") else None
    return ToolOperation(turn, kind, added, dropped, after)


def _drawn(tools: range, count: int, random: Random) -> tuple[int, ...]:
    left = list(tools)
    return tuple(left.pop(_below(len(left), random)) for _ in range(count))


def _below(count: int, random: Random) -> int:
    return int(random.random() * count)


def _check(turns: int, wanted: Counter[Kind], start: int, pool: int) -> None:
    told = f"{wanted['add']} adds, {wanted['drop']} drops and {wanted['swap']} swaps"
    numbers = (turns, wanted["add"], wanted["drop"], wanted["swap"], start, pool)
    if min(numbers) < 0:
        raise UsageError("turns, adds, drops, swaps, start and pool cannot be negative")
    if wanted["none"] < 0:
        raise UsageError(f"{told} do not fit into {turns} turns")
    if start > pool:
        raise UsageError(f"a tail cannot start with {start} tools of a pool of {pool}")
    if not _completable(wanted, start, pool):
        raise UsageError(
            f"{told} cannot be done in any order: the tail starts with {start} tools of {pool}"
        )
