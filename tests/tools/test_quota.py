from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import UsageError
from ctxlab.tools import largest_remainder


def named(counts: list[int]) -> dict[str, int]:
    return {f"{place:03}.py": count for place, count in enumerate(counts)}


@pytest.mark.parametrize(
    ("counts", "cap", "rows"),
    [
        ([500, 300, 150, 50, 10], 200, [99, 59, 30, 10, 2]),
        ([50, 3, 1, 1], 10, [7, 1, 1, 1]),
        ([5, 5, 5], 10, [4, 3, 3]),
        ([40, 30, 20, 10], 7, [3, 2, 1, 1]),
        ([97, 1, 1, 1], 4, [1, 1, 1, 1]),
        ([3, 2], 200, [3, 2]),
        ([1, 9, 9, 2], 2, [0, 1, 1, 0]),
        ([5, 0, 5], 4, [2, 0, 2]),
        ([5, 5], 0, [0, 0]),
        ([], 5, []),
    ],
)
def test_known_allocations(counts: list[int], cap: int, rows: list[int]):
    assert list(largest_remainder(named(counts), cap).values()) == rows


def test_ties_for_a_place_go_by_path():
    assert largest_remainder({"b": 2, "a": 2, "c": 2}, 2) == {"b": 1, "a": 1, "c": 0}


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(0, 300))
def test_the_sum_is_the_cap_or_the_total_and_everyone_has_a_row(counts: list[int], cap: int):
    given = named(counts)
    rows = largest_remainder(given, cap)
    assert rows.keys() == given.keys()
    assert sum(rows.values()) == min(sum(counts), cap)
    assert all(0 <= rows[path] <= count for path, count in given.items())
    if sum(count > 0 for count in counts) <= cap:
        assert all(rows[path] >= 1 for path, count in given.items() if count)
    else:
        assert max(rows.values(), default=0) <= 1


def test_what_is_over_is_taken_from_the_smallest_remainder_of_the_largest():
    # Shares .6 .6 .6 1.8 2.4: of the two that have 2 rows, the one with remainder .4 gives.
    assert list(largest_remainder(named([1, 1, 1, 3, 4]), 6).values()) == [1, 1, 1, 2, 1]


@given(st.lists(st.integers(0, 6), max_size=12), st.integers(0, 20), st.randoms())
def test_the_order_of_the_counts_says_nothing(counts: list[int], cap: int, random: Random):
    given = named(counts)
    shuffled = list(given.items())
    random.shuffle(shuffled)
    rows = largest_remainder(dict(shuffled), cap)
    assert rows == largest_remainder(given, cap)
    assert list(rows) == [path for path, _ in shuffled]


@pytest.mark.parametrize(("counts", "cap"), [({"a": -1}, 3), ({"a": 1}, -1)])
def test_negative_numbers_are_refused(counts: dict[str, int], cap: int):
    with pytest.raises(UsageError, match="0 or more"):
        largest_remainder(counts, cap)
