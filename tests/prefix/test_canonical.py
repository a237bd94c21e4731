from __future__ import annotations

import copy
import enum
import json
import math
from types import MappingProxyType
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.errors import InputError
from ctxlab.prefix import canonical, canonical_tool
from ctxlab.prefix.canonical import encode
from ctxlab.prefix.faults import MAX_DEPTH
from tests.prefix.arrays import base_array, json_text, json_values, real_tools, reversed_keys


def reference(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_sizes_of_the_documents_array():
    assert [len(canonical(tool).encode()) for tool in base_array()] == [185, 144, 178, 146, 186]


@given(json_values)
def test_bytes_are_those_of_json_dumps(value):
    assert canonical(value) == reference(value)


@given(json_values)
def test_key_order_is_absorbed_and_nothing_is_lost(value):
    assert canonical(reversed_keys(value)) == canonical(value)
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e16, "1e+16"),
        (1e-7, "1e-07"),
        (2**70, "1180591620717411303424"),
        ("é\u2028\x7f\x01", '"é\u2028\x7f\\u0001"'),
        ({"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4}, '{"z":2,"é":1,"\uffff":4,"\U0001f600":3}'),
        ((1, (2,)), "[1,[2]]"),
        (enum.StrEnum("E", {"A": "x"}).A, '"x"'),
        ({enum.StrEnum("E", {"A": "x"}).A: enum.IntEnum("N", {"B": 7}).B}, '{"x":7}'),
        ({}, "{}"),
    ],
)
def test_bytes(value, text):
    assert canonical(value) == text == reference(value)


class Pair(NamedTuple):
    left: int
    right: int


def test_a_named_tuple_is_an_array():
    assert canonical(Pair(1, 2)) == "[1,2]"


@pytest.mark.parametrize(
    ("value", "place", "said"),
    [
        ({"a": [0, math.nan]}, "/a/1", "nan"),
        ({"a": {"b": math.inf}}, "/a/b", "inf"),
        (-math.inf, None, "inf"),
        ({"a": {1: 2}}, "/a/1", "int"),
        ({1: 2, 3: 4}, "/1", "int"),
        ({"a": {True: 1}}, "/a/True", "bool"),
        ({"a": {None: 1}}, "/a/None", "NoneType"),
        ({"a": {1.5: 1}}, "/a/1.5", "float"),
        ({"a": {"b": 1, 2: 3}}, "/a/2", "int"),
        ({"x": {"a", "b"}}, "/x", "set"),
        ({"x": frozenset("ab")}, "/x", "frozenset"),
        ({"x": b"raw"}, "/x", "bytes"),
        ({"x": [object()]}, "/x/0", "object"),
        (MappingProxyType({"a": 1}), None, "mappingproxy"),
        ({"a/b~c": [1j]}, "/a~1b~0c/0", "complex"),
        (["ok", "bad \ud800"], "/1", "U+D800"),
        ({"k": {"\udfff": 1}}, "/k/\\udfff", "U+DFFF"),
        ({"big": 10**5000}, "/big", "integer"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value, place, said):
    with pytest.raises(InputError) as caught:
        canonical(value)
    assert caught.value.place == (place or "")
    assert said in caught.value.message
    str(caught.value).encode()  # printable, even where the value is not


def test_the_first_fault_in_document_order_is_told():
    with pytest.raises(InputError, match=r"^/b/0: nan"):
        canonical({"a": 1, "b": [math.nan, math.inf], "c": {1, 2}})


def test_a_value_that_contains_itself():
    loop: dict = {"a": [1]}
    loop["a"].append(loop)
    with pytest.raises(InputError, match=r"^/a/1: contains itself: it is the value at the root"):
        canonical(loop)


def test_the_same_object_in_two_places_is_no_circle():
    shared_part = {"type": "string"}
    assert canonical([shared_part, shared_part]) == '[{"type":"string"},{"type":"string"}]'


@pytest.mark.parametrize("depth", [253, 254, 255, MAX_DEPTH])
def test_deep_values(depth):
    assert canonical(nested(depth)) == "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_too_deep_values(depth):
    with pytest.raises(InputError, match="nested deeper than"):
        canonical(nested(depth))


def test_a_stack_that_is_nearly_full(monkeypatch):
    def overflow(value: object) -> str:
        raise RecursionError

    # How deep C code may go differs between versions of Python: the overflow is made here.
    with pytest.raises(InputError, match=r"^/3: nested deeper than what is left"):
        encode({"a": 1}, "/3", overflow)
    monkeypatch.setattr(json, "loads", overflow)
    with pytest.raises(InputError, match=r"^nested deeper than what is left"):
        canonical_tool({"name": "f"})


# canonical_tool


def test_keys_are_sorted_at_every_level_and_required_too():
    sent = canonical_tool(
        {
            "name": "f",
            "input_schema": {
                "type": "object",
                "required": ["b", "a"],
                "properties": {"b": {"type": "string", "enum": ["z", "y"]}, "a": {"type": "null"}},
            },
        }
    )
    assert json.dumps(sent, separators=(",", ":")) == (
        '{"input_schema":{"properties":{"a":{"type":"null"},'
        '"b":{"enum":["z","y"],"type":"string"}},"required":["a","b"],"type":"object"},"name":"f"}'
    )


UNSORTED = {"required": ["b", "a"]}
SORTED = {"required": ["a", "b"]}


@pytest.mark.parametrize(
    "keyword",
    [
        "not",
        "if",
        "then",
        "else",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "contentSchema",
    ],
)
def test_required_of_a_subschema(keyword):
    tool = {"name": "f", "input_schema": {keyword: UNSORTED}}
    assert canonical_tool(tool)["input_schema"] == {keyword: SORTED}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "prefixItems", "items"])
def test_required_of_a_list_of_subschemas(keyword):
    tool = {"name": "f", "input_schema": {keyword: [True, UNSORTED]}}
    assert canonical_tool(tool)["input_schema"] == {keyword: [True, SORTED]}


@pytest.mark.parametrize(
    "keyword",
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"],
)
@pytest.mark.parametrize("name", ["x", "required", "enum", "default"])
def test_required_of_a_named_subschema(keyword, name):
    tool = {"name": "f", "input_schema": {keyword: {name: {"items": UNSORTED}}}}
    assert canonical_tool(tool)["input_schema"] == {keyword: {name: {"items": SORTED}}}


@pytest.mark.parametrize("keyword", ["enum", "const", "default", "examples", "x-extension"])
def test_data_keeps_its_order(keyword):
    data = [UNSORTED] if keyword in ("enum", "examples") else UNSORTED
    tool = {"name": "f", "input_schema": {"properties": {"p": {keyword: data}}}}
    assert canonical_tool(tool)["input_schema"]["properties"]["p"] == {keyword: data}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"required": {"enum": ["b", "a"]}}},
        {"properties": {"required": ["b", "a"]}},  # no schema at all: not ours to mend
        {"required": ["b", 1]},
        {"required": True},
        {"required": "ba"},
        {"dependentRequired": {"x": ["b", "a"]}},
        {"dependencies": {"required": ["b", "a"]}},
        {"type": ["string", "null"]},
        {"items": [["b", "a"]]},
    ],
)
def test_what_is_no_required_array_is_kept(schema):
    assert canonical_tool({"name": "f", "input_schema": schema})["input_schema"] == schema


def test_examples_of_a_tool_are_data():
    tool = {"name": "f", "input_schema": {}, "input_examples": [UNSORTED], "required": ["b", "a"]}
    assert canonical_tool(tool) == tool


def test_the_tool_itself_is_not_changed():
    tools = base_array()
    tools[0]["input_schema"]["required"].reverse()
    before = copy.deepcopy(tools)
    sent = canonical_tool(tools[0])
    sent["input_schema"]["properties"]["query"]["type"] = "other"
    assert tools == before


def test_a_deep_schema():
    schema: dict = dict(UNSORTED)
    for _ in range(120):
        schema = {"properties": {"required": schema}}
    text = canonical(canonical_tool({"name": "f", "input_schema": schema}))
    assert '["a","b"]' in text


def test_not_a_tool():
    with pytest.raises(InputError, match="a tool is a dict"):
        canonical_tool(["name"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^/input_schema/required: a set"):
        canonical_tool({"name": "f", "input_schema": {"required": {"a", "b"}}})


schemas = st.deferred(
    lambda: st.fixed_dictionaries(
        {},
        optional={
            "required": st.lists(json_text, max_size=3, unique=True),
            "properties": st.dictionaries(
                st.sampled_from(["required", "a", "items"]), schemas, max_size=2
            ),
            "items": schemas,
            "anyOf": st.lists(schemas, max_size=2),
            "default": st.just(UNSORTED),
        },
    )
)


@settings(max_examples=40)
@given(schemas)
def test_it_is_idempotent_and_absorbs_key_order(schema):
    tool = {"name": "f", "input_schema": schema}
    sent = canonical_tool(tool)
    assert canonical(canonical_tool(sent)) == canonical(sent)
    assert json.dumps(sent) == json.dumps(sent, sort_keys=True)
    assert canonical_tool(reversed_keys(tool)) == sent


@pytest.mark.shared
def test_real_tools():
    for tool in real_tools():
        sent = canonical_tool(tool)
        assert canonical_tool(reversed_keys(tool)) == sent
        assert canonical(tool).encode() == reference(tool).encode()
