from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.prefix.differences import Difference, common_place, differences, meaning
from tests.prefix.arrays import json_values, reversed_keys


def told(before, after, role="tool") -> list[tuple]:
    return [tuple(found) for found in differences(before, after, role)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0}, [("/a", 1, 1.0, False)]),
        ({"a": 0.0}, {"a": -0.0}, [("/a", 0.0, -0.0, False)]),
        ({"a": 2**53 + 1}, {"a": float(2**53)}, [("/a", 2**53 + 1, float(2**53), True)]),
        ({"a": 1}, {"a": True}, [("/a", 1, True, True)]),
        ({"a": 0}, {"a": False}, [("/a", 0, False, True)]),
        ({"a": "1"}, {"a": 1}, [("/a", "1", 1, True)]),
        ({"a": {}}, {"a": []}, [("/a", {}, [], True)]),
        ({"a": None}, {"a": False}, [("/a", None, False, True)]),
        ({"a": "x"}, {}, [("/a", "x", None, True)]),
        ({}, {"a": "x"}, [("/a", None, "x", True)]),
        ({"p": {"a": None}}, {"p": {}}, [("/p", {"a": None}, {}, True)]),
        ({"p": {}}, {"p": {"a": None}}, [("/p", {}, {"a": None}, True)]),
        ({"p": {"a": 1}}, {"p": {"a": None}}, [("/p/a", 1, None, True)]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, [("/a~1b/~0", 1, 2, True)]),
        ({"": {"": 1}}, {"": {"": 2}}, [("//", 1, 2, True)]),
        ({"e": ["a", "b"]}, {"e": ["a", "c"]}, [("/e/1", "b", "c", True)]),
        ({"e": ["a", "b"]}, {"e": ["b", "a"]}, [("/e", ["a", "b"], ["b", "a"], True)]),
        ({"e": ["a"]}, {"e": ["a", "b"]}, [("/e", ["a"], ["a", "b"], True)]),
        ({"e": [1, 2]}, {"e": [2.0, 1]}, [("/e", [1, 2], [2.0, 1], True)]),
        ({"e": ("a", "b")}, {"e": ["a", "b"]}, []),
        (
            {"e": [{"a": 1, "b": {"c": 2}}, 3]},
            {"e": [{"a": 1, "b": {"c": 4}}, 3.0]},
            [("/e/0/b/c", 2, 4, True), ("/e/1", 3, 3.0, False)],
        ),
        (
            {"a": 1, "b": 2, "c": 3},
            {"c": 3, "b": 4, "a": 1},
            [
                ("/b", 2, 4, True),
                ("", {"a": 1, "b": 2, "c": 3}, {"c": 3, "b": 4, "a": 1}, False),
            ],
        ),
        ({"a": 1, "b": 2, "c": 3}, {"n": 0, "a": 1, "c": 3}, [
            ("/b", 2, None, True),
            ("/n", None, 0, True),
        ]),
    ],
)  # fmt: skip
def test_where_two_values_differ(before, after, expected):
    assert told(before, after) == expected


def test_required_is_a_set_where_a_schema_stands():
    one, other = {"required": ["a", "b"]}, {"required": ["b", "a"]}
    assert told(one, other, "schema") == [("/required", ["a", "b"], ["b", "a"], False)]
    assert told(one, {"required": ["a"]}, "schema") == [("/required", ["a", "b"], ["a"], True)]
    assert told({"default": one}, {"default": other}, "schema")[0][3]
    assert told(one, other, None)[0][3]
    assert told({"required": ["a", 1]}, {"required": [1, "a"]}, "schema")[0][3]


def test_a_breakpoint_means_nothing_to_a_model():
    mark = {"type": "ephemeral"}
    assert told({}, {"cache_control": mark}) == [("/cache_control", None, mark, False)]
    assert told({"cache_control": mark}, {}) == [("/cache_control", mark, None, False)]
    hour = {**mark, "ttl": "1h"}
    assert told({"cache_control": mark}, {"cache_control": hour})[0][3] is False
    assert told({"cache_control": None}, {}) == [("/cache_control", None, None, False)]
    schema_with_such_a_property = {"properties": {"cache_control": mark}}
    assert told(schema_with_such_a_property, {"properties": {}}, "schema")[0][3]


def test_several_differences_as_one():
    before = {"p": {"a": {"x": 1, "y": 2}, "a/b": [1, 2]}, "q": 1}
    after = {"p": {"a": {"y": 2, "x": 1}, "a/b": [1.0, 2.0]}, "q": 1}
    found = [*differences(before, after)]
    assert [one.pointer for one in found] == ["/p/a", "/p/a~1b/0", "/p/a~1b/1"]
    assert common_place(found, before, after) == Difference("/p", before["p"], after["p"], False)
    numbers = common_place(found[1:], before, after)
    assert numbers == Difference("/p/a~1b", [1, 2], [1.0, 2.0], False)
    assert common_place(found[:1], before, after) == found[0]


@given(json_values, json_values)
def test_no_difference_exactly_where_the_bytes_are_equal(one, other):
    assert (told(one, other) == []) == (json.dumps(one) == json.dumps(other))
    assert told(one, one) == []


schemas = st.recursive(
    st.sampled_from([1, 1.0, 2, True, "a", None, ["a", "b"], ["b", "a"], ["a"]]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["required", "properties", "anyOf", "enum"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(schemas, schemas)
def test_a_semantic_difference_exactly_where_the_meaning_differs(one, other):
    one, other = {"input_schema": one}, {"input_schema": other}
    assert any(found[3] for found in told(one, other)) == (meaning(one) != meaning(other))
    assert (told(one, other) == []) == (json.dumps(one) == json.dumps(other))


@given(json_values)
def test_key_order_alone_is_never_semantic(value):
    assert not any(found[3] for found in told(value, reversed_keys(value)))
