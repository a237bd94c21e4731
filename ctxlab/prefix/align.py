"""Which tool of one array is which of the other, and which of them moved.

Tools are the same by name. What is left over is the same under a new name when its content is equal
in meaning, or equal once each tool's own name is taken out of it (descriptions and generated titles
repeat it); the first left over is paired first. Not handled: a tool renamed and rewritten at once;
that is one removed and one added.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ctxlab.prefix.differences import MARKER, meaning

Tool = dict[str, Any]


class Pair(NamedTuple):
    """One tool in both arrays; None where an array does not have it."""

    before: int | None
    """Its index before."""
    after: int | None
    moved: bool = False
    """Whether it left its place among the others."""


def align(
    before: Sequence[Tool],
    after: Sequence[Tool],
    before_names: Sequence[str],
    after_names: Sequence[str],
) -> list[Pair]:
    """Pairs in provider order: as `after` has them, what was removed where it stood.

    As few tools as possible are said to have moved: the rest is a longest increasing subsequence.
    """
    partner = _partners(before, after, before_names, after_names)
    both = sorted((new, old) for old, new in partner.items())
    stays = {both[at] for at in longest_increasing([old for _, old in both])}
    kept = sorted(stays)
    pairs = [Pair(old, new, moved=(new, old) not in stays) for new, old in both]
    pairs += [Pair(old, None) for old in range(len(before)) if old not in partner]
    found = set(partner.values())
    pairs += [Pair(None, new) for new in range(len(after)) if new not in found]
    return sorted(pairs, key=_place_among([new for new, _ in kept], [old for _, old in kept]))


def longest_increasing(values: Sequence[int]) -> list[int]:
    """Positions of a longest increasing subsequence of distinct numbers.

    >>> longest_increasing([0, 3, 1, 2, 4])
    [0, 2, 3, 4]
    """
    tails: list[int] = []  # positions; the values there are increasing
    heads: list[int] = []
    previous: list[int | None] = []
    for position, value in enumerate(values):
        length = bisect_left(heads, value)
        previous.append(tails[length - 1] if length else None)
        heads[length : length + 1] = [value]
        tails[length : length + 1] = [position]
    chain: list[int] = []
    last = tails[-1] if tails else None
    while last is not None:
        chain.append(last)
        last = previous[last]
    return chain[::-1]


def _place_among(
    kept_after: list[int], kept_before: list[int]
) -> Callable[[Pair], tuple[int, int, int]]:
    """Sort key: by how many tools that stayed stand before; there, what was removed comes first."""

    def place(pair: Pair) -> tuple[int, int, int]:
        if pair.after is None:
            assert pair.before is not None
            return bisect_left(kept_before, pair.before), 0, pair.before
        return bisect_left(kept_after, pair.after), 1, pair.after

    return place


def _partners(
    before: Sequence[Tool],
    after: Sequence[Tool],
    before_names: Sequence[str],
    after_names: Sequence[str],
) -> dict[int, int]:
    places = {name: index for index, name in enumerate(after_names)}
    partner = {old: places[name] for old, name in enumerate(before_names) if name in places}
    gone = [(old, before[old]) for old in range(len(before)) if old not in partner]
    found = set(partner.values())
    come = [(new, after[new]) for new in range(len(after)) if new not in found]
    for content in (_without_name, _without_own_name):
        renamed = _matches(gone, come, content) if gone and come else {}
        partner.update(renamed)
        gone = [one for one in gone if one[0] not in renamed]
        come = [one for one in come if one[0] not in set(renamed.values())]
    return partner


def _matches(
    gone: Iterable[tuple[int, Tool]],
    come: Iterable[tuple[int, Tool]],
    content: Callable[[Tool], str],
) -> dict[int, int]:
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for new, tool in come:
        waiting[content(tool)].append(new)
    return {old: same.popleft() for old, tool in gone if (same := waiting[content(tool)])}


def _without_name(tool: Tool) -> str:
    return meaning({key: value for key, value in tool.items() if key not in ("name", MARKER)})


def _without_own_name(tool: Tool) -> str:
    name = tool.get("name")
    return _without_name(tool).replace(name, "\0") if name else _without_name(tool)
