from __future__ import annotations

import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import InputError
from ctxlab.prefix import canonical, canonical_tool, prefix_chain, shared_prefix_len
from tests.prefix.arrays import base_array, changed, reversed_keys, tool

HEADS = "e9645932b17d6a64 fbb2335d5aea35d5 0e12d8fc4347134c 8d5a561fd07aa613 0fab5d7489992a4c"


def test_chain_of_the_documents_array():
    assert [digest[:16] for digest in prefix_chain(base_array())] == HEADS.split()


def test_it_hashes_what_is_sent():
    shuffled = base_array()
    for one in shuffled:
        one["input_schema"]["required"].reverse()
    assert prefix_chain(reversed_keys(shuffled)) == prefix_chain(base_array())
    joined = "".join(canonical(canonical_tool(one)) for one in shuffled)
    assert prefix_chain(shuffled)[-1] == hashlib.sha256(joined.encode()).hexdigest()


def test_1_and_1_0_are_other_bytes():
    one, other = [{"name": "f", "n": 1}], [{"name": "f", "n": 1.0}]
    assert prefix_chain(one) != prefix_chain(other)


def shared_with_base(tools: list) -> int:
    return shared_prefix_len(prefix_chain(base_array()), prefix_chain(tools))


def test_shared_prefixes():
    base, new = base_array(), tool("new", x="string")
    assert shared_with_base([*base, new]) == 5
    assert shared_with_base(base[:4]) == 4
    assert shared_with_base([*base[:2], new, *base[2:]]) == 2
    assert shared_with_base([new, *base]) == 0
    assert shared_with_base([base[0], base[2], base[1], *base[3:]]) == 1
    assert shared_with_base(changed(base, 4, "description", to="x")) == 4


def test_edges():
    assert prefix_chain([]) == []
    assert shared_prefix_len([], ["a"]) == shared_prefix_len(["a"], ["b"]) == 0
    assert shared_prefix_len(["a"], ["a", "b"]) == 1
    assert len(prefix_chain(tuple(base_array()))) == 5


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ([{"name": "a"}, {"name": "b", "x": [math.nan]}], r"^/1/x/0: nan"),
        ([{"name": "a"}, "b"], r"^/1: a tool is a dict"),
        ({"name": "a"}, r"^tools is a list"),
        ("ab", r"^tools is a list"),
        (None, r"^tools is a list"),
    ],
)
def test_refused(tools, told):
    with pytest.raises(InputError, match=told):
        prefix_chain(tools)


tools_lists = st.lists(st.sampled_from([*base_array(), {"name": "x"}]), max_size=5)


@given(tools_lists, tools_lists, tools_lists)
def test_arrays_share_what_they_begin_with(start, one, other):
    shared = shared_prefix_len(prefix_chain(start + one), prefix_chain(start + other))
    assert shared >= len(start)
    assert prefix_chain(start + one)[: len(start)] == prefix_chain(start)
