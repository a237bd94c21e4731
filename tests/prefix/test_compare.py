from __future__ import annotations

import copy
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.errors import InputError
from ctxlab.prefix import ToolChange, compare_tools
from tests.prefix.arrays import base_array, changed, real_tools, reversed_keys, tool

NAMES = [one["name"] for one in base_array()]


def brief(before: list, after: list) -> list[tuple]:
    return [(one.kind, one.tool, one.pointer) for one in compare_tools(before, after)]


def renamed(tools: list, index: int, to: str) -> list:
    return changed(tools, index, "name", to=to)


def test_equal_arrays():
    assert compare_tools(base_array(), base_array()) == []
    assert compare_tools([], []) == []
    assert compare_tools(tuple(base_array()), copy.deepcopy(base_array())) == []


# the twelve mutations of `tool-registry`: each is told as what it is, and as nothing else


def test_added():
    base, new = base_array(), tool("new", x="string")
    for at in range(6):
        assert compare_tools(base, [*base[:at], new, *base[at:]]) == [
            ToolChange("added", "new", "", None, new, semantic=True)
        ]


def test_removed():
    base = base_array()
    for at in range(5):
        assert compare_tools(base, base[:at] + base[at + 1 :]) == [
            ToolChange("removed", NAMES[at], "", base[at], None, semantic=True)
        ]


def test_renamed():
    for at in range(5):
        assert compare_tools(base_array(), renamed(base_array(), at, "other")) == [
            ToolChange("renamed", NAMES[at], "/name", NAMES[at], "other", semantic=True)
        ]


def test_renamed_together_with_its_texts():
    after = renamed(changed(base_array(), 2, "description", to="other tool"), 2, "other")
    assert compare_tools(base_array(), after) == [
        ToolChange("renamed", "write_file", "/name", "write_file", "other", semantic=True),
        ToolChange(
            "edited", "write_file", "/description", "write_file tool", "other tool", semantic=True
        ),
    ]


def test_renamed_and_written_in_another_way():
    schema = {"anyOf": [{"required": ["a", "b"]}, {"minItems": 1}]}
    other = {"anyOf": [{"required": ["b", "a"]}, {"minItems": 1.0}]}
    before = [{"name": "f", "input_schema": schema, "cache_control": {"type": "ephemeral"}}]
    after = [{"input_schema": other, "name": "g"}]
    assert brief(before, after) == [
        ("renamed", "f", "/name"),
        ("edited", "f", "/cache_control"),
        ("reserialized", "f", ""),
    ]


def test_a_tool_with_another_text_is_another_tool():
    after = renamed(changed(base_array(), 2, "description", to="sends a letter"), 2, "mail")
    assert brief(base_array(), after) == [
        ("removed", "write_file", ""),
        ("added", "mail", ""),
    ]


def test_moved():
    base = base_array()
    swapped = [base[0], base[2], base[1], *base[3:]]
    (change,) = compare_tools(base, swapped)
    assert (change.kind, change.semantic) == ("moved", True)
    assert (change.tool, change.before, change.after) == ("write_file", 2, 1)
    assert compare_tools(base, [base[4], *base[:4]]) == [
        ToolChange("moved", "post_report", "", 4, 0, semantic=True)
    ]
    assert compare_tools(base, [*base[1:], base[0]]) == [
        ToolChange("moved", "search_docs", "", 0, 4, semantic=True)
    ]


def test_edited():
    base = base_array()
    place = (4, "input_schema", "properties", "note")
    assert compare_tools(base, changed(base, *place, to={"type": "string"})) == [
        ToolChange(
            "edited",
            "post_report",
            "/input_schema/properties/note",
            None,
            {"type": "string"},
            semantic=True,
        )
    ]
    after = changed(base, 0, "input_schema", "properties", "top_k", "type", to="number")
    assert compare_tools(base, after) == [
        ToolChange(
            "edited",
            "search_docs",
            "/input_schema/properties/top_k/type",
            "integer",
            "number",
            semantic=True,
        )
    ]
    assert brief(base, changed(base, 0, "description", to="other")) == [
        ("edited", "search_docs", "/description")
    ]


def test_reserialized():
    base = base_array()
    required = changed(base, 0, "input_schema", "required", to=["top_k", "query"])
    assert compare_tools(base, required) == [
        ToolChange(
            "reserialized",
            "search_docs",
            "/input_schema/required",
            ["query", "top_k"],
            ["top_k", "query"],
            semantic=False,
        )
    ]
    place = (1, "input_schema", "properties", "path", "maxLength")
    one, other = changed(base, *place, to=1), changed(base, *place, to=1.0)
    (change,) = compare_tools(one, other)
    assert change.pointer == "/input_schema/properties/path/maxLength"
    assert (change.kind, change.semantic) == ("reserialized", False)
    assert (repr(change.before), repr(change.after)) == ("1", "1.0")


def test_another_key_order_is_one_change_a_tool():
    base = base_array()
    changes = compare_tools(base, reversed_keys(base))
    assert [(one.kind, one.tool, one.pointer, one.semantic) for one in changes] == [
        ("reserialized", name, "", False) for name in NAMES
    ]
    swapped = changed(base, 0, "input_schema", "properties", to={})
    swapped[0]["input_schema"]["properties"] = reversed_keys(base[0])["input_schema"]["properties"]
    assert brief(base, swapped) == [("reserialized", "search_docs", "/input_schema/properties")]


def test_several_changes_of_one_tool():
    after = (
        reversed_keys(renamed(base_array(), 0, "find"))[1:]
        + reversed_keys(renamed(base_array(), 0, "find"))[:1]
    )
    after = [*base_array()[1:], after[-1]]
    assert brief(base_array(), after) == [
        ("renamed", "search_docs", "/name"),
        ("moved", "search_docs", ""),
        ("reserialized", "search_docs", ""),
    ]


def test_a_breakpoint_that_travels_is_no_semantic_change():
    base = base_array()
    mark = {"type": "ephemeral"}
    before = changed(base, 3, "cache_control", to=mark)
    after = changed(base, 4, "cache_control", to=mark)
    assert compare_tools(before, after) == [
        ToolChange("edited", "run_tests", "/cache_control", mark, None, semantic=False),
        ToolChange("edited", "post_report", "/cache_control", None, mark, semantic=False),
    ]


def test_changes_stand_in_provider_order():
    base = base_array()
    after = [
        tool("first", x="string"),
        changed(base[1], "description", to="x"),
        renamed(base, 2, "save")[2],
        tool("second", y="string"),
        base[4],
    ]
    assert brief(base, after) == [
        ("removed", "search_docs", ""),
        ("added", "first", ""),
        ("edited", "read_file", "/description"),
        ("renamed", "write_file", "/name"),
        ("removed", "run_tests", ""),
        ("added", "second", ""),
    ]


def test_toolsets_are_called_by_their_server():
    toolset = {"type": "mcp_toolset", "mcp_server_name": "x"}
    off = {**toolset, "default_config": {"enabled": False}}
    assert brief([toolset], [off]) == [("edited", "mcp_toolset:x", "/default_config")]


def test_in_one_line():
    base = base_array()
    after = [changed(base[1], "description", to="x" * 100), base[0], {"name": "new"}, *base[3:]]
    assert [str(one) for one in compare_tools(base, after)] == [
        "moved read_file: 1 → 0",
        'edited read_file /description: "read_file tool" → "' + "x" * 58 + "…",
        "removed write_file",
        "added new",
    ]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([tool("a"), tool("a")], [], r"^/before/1/name: the name 'a' is used already"),
        ([], [tool("a"), tool("a")], r"^/after/1/name: the name 'a' is used already"),
        ([], [{"x": 1}], r"^/after/0/name: .* missing"),
        (["a"], [], r"^/before/0: a tool is a dict"),
        ({}, [], r"^before is a list of tool dicts"),
        ([], [{"name": "a", "x": {1, 2}}], r"^/after/0/x: a set"),
        ([{"name": "a", "x": float("nan")}], [], r"^/before/0/x: nan"),
    ],
)
def test_refused(before, after, told):
    with pytest.raises(InputError, match=told):
        compare_tools(before, after)


# properties

kinds = ("added", "removed", "renamed", "moved", "edited", "reserialized")


def mutated(tools: list, kind: str, at: int, to: int) -> tuple[list, tuple]:
    """One mutation, and the change that tells it."""
    after, one = copy.deepcopy(tools), copy.deepcopy(tools[at])
    name, new = one["name"], {"name": "brand_new", "description": "It was not here before."}
    if kind == "added":
        after.insert(at, new)
        return after, (kind, "brand_new", "", None, new, True)
    if kind == "removed":
        del after[at]
        return after, (kind, name, "", one, None, True)
    if kind == "renamed":
        after[at]["name"] = "brand_new"
        return after, (kind, name, "/name", name, "brand_new", True)
    if kind == "moved":
        after.insert(to, after.pop(at))
        return after, (kind, name, "", at, to, True)
    if kind == "edited":
        after[at]["description"] += "!"
        old = one["description"]
        return after, (kind, name, "/description", old, old + "!", True)
    after[at] = reversed_keys(one)
    return after, (kind, name, "", one, after[at], False)


@given(st.sampled_from(kinds), st.integers(0, 4), st.integers(0, 4))
def test_a_single_mutation_is_told_as_exactly_that(kind, at, to):
    if kind == "moved" and abs(at - to) < 2:
        to = (at + 2) % 5  # of two neighbours either may be the one that moved
    after, expected = mutated(base_array(), kind, at, to)
    assert [tuple(vars(one).values()) for one in compare_tools(base_array(), after)] == [expected]


variants = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from(["x", "y"]), st.sampled_from([1, 1.0, 2, None])
    ),
    unique_by=lambda made: made[0],
    max_size=5,
).map(lambda made: [{"name": name, "d": text, "n": number} for name, text, number in made])


@given(variants, variants)
def test_no_change_exactly_where_the_same_bytes_are_sent(before, after):
    same = json.dumps(before) == json.dumps(after)
    assert (compare_tools(before, after) == []) == same


@given(variants, variants)
def test_the_way_back_tells_the_same_tools(before, after):
    there, back = compare_tools(before, after), compare_tools(after, before)
    mirror = {"added": "removed", "removed": "added"}
    assert sorted(one.kind for one in there) == sorted(
        mirror.get(one.kind, one.kind) for one in back
    )


@pytest.mark.shared
@settings(max_examples=30, deadline=None)
@given(st.sampled_from(kinds), st.randoms(use_true_random=False))
def test_single_mutations_of_a_real_registry(kind, rng: random.Random):
    tools = registry()
    at, to = rng.sample(range(len(tools)), 2)
    if abs(at - to) < 2:
        return
    after, expected = mutated(tools, kind, at, to)
    found = compare_tools(tools, after)
    if kind == "reserialized":
        ((told),) = found
        assert (told.kind, told.tool, told.semantic) == ("reserialized", expected[1], False)
    else:
        assert [tuple(vars(one).values()) for one in found] == [expected]


def registry(cache: list = []) -> list:  # noqa: B006  read once for all examples
    if not cache:
        cache.extend(real_tools())
    return cache


@pytest.mark.shared
def test_a_server_that_reconnects_at_the_end():
    tools = registry()
    again = [one for one in tools if one["name"].startswith("mcp__git__")]
    others = [one for one in tools if one not in again]
    changes = compare_tools(tools, others + again)
    assert {one.kind for one in changes} == {"moved"}
    assert {one.tool for one in changes} == {one["name"] for one in again}


def test_tools_nested_too_deep_to_be_compared():
    def nested(name: str, last: int) -> list:
        value: list = [last]
        for _ in range(490):
            value = [value]
        return [{"name": name, "x": value}]

    for before, after in [(nested("f", 1), nested("f", 2)), (nested("f", 1), nested("g", 1))]:
        with pytest.raises(InputError, match="nested too deep to be compared"):
            compare_tools(before, after)
    assert compare_tools(nested("f", 1), nested("f", 1)) == []
