from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ctxlab.prefix.align import Pair, align, longest_increasing

orders = st.integers(0, 7).flatmap(lambda size: st.permutations(range(size)))


def increasing(values) -> bool:
    return list(values) == sorted(values)


@given(orders)
def test_nothing_longer_is_increasing(order):
    found = longest_increasing(order)
    assert increasing(found)
    assert increasing([order[at] for at in found])
    longer = combinations(order, len(found) + 1)
    assert not any(increasing(values) for values in longer)


def pairs(before: str, after: str) -> list[Pair]:
    def tools(names: str) -> list[dict]:
        return [{"name": name, "description": f"does {ord(name) * 'x'}"} for name in names]

    return align(tools(before), tools(after), list(before), list(after))


def test_provider_order():
    assert pairs("abc", "abc") == [Pair(0, 0), Pair(1, 1), Pair(2, 2)]
    assert pairs("abcd", "axbd") == [
        Pair(0, 0),
        Pair(None, 1),
        Pair(1, 2),
        Pair(2, None),
        Pair(3, 3),
    ]
    assert pairs("ab", "ba") == [Pair(1, 0, moved=True), Pair(0, 1)]
    assert pairs("abcde", "eabcd")[0] == Pair(4, 0, moved=True)
    assert pairs("abc", "") == [Pair(0, None), Pair(1, None), Pair(2, None)]
    assert pairs("", "a") == [Pair(None, 0)]
    assert pairs("", "") == []


names = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(names, names)
def test_every_tool_is_in_one_pair(before, after):
    found = pairs("".join(before), "".join(after))
    assert sorted(p.before for p in found if p.before is not None) == [*range(len(before))]
    assert sorted(p.after for p in found if p.after is not None) == [*range(len(after))]
    stayed = [p for p in found if None not in p[:2] and not p.moved]
    assert increasing([p.before for p in stayed])
    assert increasing([p.after for p in found if p.after is not None])
    assert increasing([p.before for p in found if p.after is None])
