from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import InputError, InvalidRequest
from ctxlab.loading.searchable import CUT, cut, read_catalogue, searchable


def tool(name="t", **fields):
    return {"name": name, "input_schema": {"type": "object"}, **fields}


def with_properties(properties):
    return tool(input_schema={"type": "object", "properties": properties})


def test_name_description_argument_names_and_their_descriptions():
    found = searchable(
        with_properties({"a": {"type": "string", "description": "A"}, "b": {}, "c": True})
    )
    assert found.texts == ("t", "a", "b", "c", "A")


def test_mcp_and_openai_forms_are_read_too():
    mcp = {"name": "m", "inputSchema": {"properties": {"x": {"description": "X"}}}}
    openai = {
        "type": "function",
        "function": {"name": "o", "parameters": {"properties": {"y": {}}}},
    }
    assert searchable(mcp).texts == ("m", "x", "X")
    assert searchable(openai).texts == ("o", "y")


def test_what_stands_inside_nested_objects_is_not_searched():
    nested = {"a": {"type": "object", "properties": {"deep": {"description": "hidden"}}}}
    assert searchable(with_properties(nested)).texts == ("t", "a")


def test_the_description_is_cut_at_two_kilobytes_and_nothing_else_is():
    long = "x" * CUT + "tail"
    found = searchable({**with_properties({"a": {"description": long}}), "description": long})
    assert found.description == "x" * CUT
    assert found.argument_descriptions == (long,)


@given(st.text(), st.integers(0, 50))
def test_a_cut_text_is_the_longest_whole_beginning_that_fits(text, limit):
    short = cut(text, limit)
    assert text.startswith(short)
    assert len(short.encode()) <= limit
    if short != text:
        assert len((short + text[len(short)]).encode()) > limit


@pytest.mark.parametrize(
    ("schema", "place", "words"),
    [
        ([], "input_schema", "a schema is an object, found a list"),
        ({"properties": ["a"]}, "input_schema.properties", "an object, found a list"),
        ({"properties": {"a": "string"}}, "input_schema.properties.a", "found a string"),
        ({"properties": {"a": {"type": "text"}}}, "input_schema.properties.a.type", "no type"),
        ({"properties": {"a": {"description": 1}}}, "properties.a.description", "a number"),
        ({"type": "objekt"}, "input_schema.type", "'objekt' is no type"),
        ({"type": []}, "input_schema.type", "no type"),
    ],
)
def test_a_schema_that_is_none_is_refused_with_its_place(schema, place, words):
    with pytest.raises(InputError, match=words) as refused:
        read_catalogue([tool("first"), tool(input_schema=schema)])
    assert str(refused.value.place).startswith("tools[1].")
    assert str(refused.value.place).endswith(place)


def test_one_name_twice_is_refused():
    with pytest.raises(InputError, match=r"tools\[1\]: 't' is the name of tools\[0\] already"):
        read_catalogue([tool(), tool()])


def test_ten_thousand_are_the_limit():
    assert len(read_catalogue(tool(f"t{n}") for n in range(10_000))) == 10_000
    with pytest.raises(InvalidRequest, match="at most 10,000 tools may be deferred, found 10,001"):
        read_catalogue(tool(f"t{n}") for n in range(10_001))


@pytest.mark.parametrize("tools", [None, 7, "tools", {"name": "a"}])
def test_what_is_no_list_of_tools(tools):
    with pytest.raises(InputError, match="tools are a list of tool dicts, found a"):
        read_catalogue(tools)
