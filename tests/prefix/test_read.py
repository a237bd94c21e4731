from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import ctxlab
from ctxlab.errors import InputError
from ctxlab.prefix import read, read_tools
from tests.conftest import shared
from tests.prefix.arrays import REAL, base_array

SCHEMA = {"type": "object", "required": ["b", "a"], "properties": {"b": {}, "a": {}}}
SERVER_TOOL = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write `tools.json` in a project's root and give its relative path."""
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))

    def write(content: Any) -> str:
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        (tmp_path / "tools.json").write_bytes(content)
        return "tools.json"

    return write


def mcp(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"name": name, "title": "T", "inputSchema": SCHEMA, "annotations": {}, **more}


def test_an_array_of_tools_is_kept_as_it_is(file):
    tools = [*base_array(), SERVER_TOOL, {"type": "mcp_toolset", "mcp_server_name": "x"}]
    assert json.dumps(read_tools(file(tools))) == json.dumps(tools)


def test_a_request(file):
    request = {"model": "m", "messages": [], "tools": base_array()}
    assert read_tools(file(request)) == base_array()


@pytest.mark.parametrize("wrap", [False, True])
def test_an_mcp_answer(file, wrap):
    answer: dict[str, Any] = {"tools": [mcp(description="D"), mcp("g", description=None)]}
    if wrap:
        answer = {"jsonrpc": "2.0", "id": 1, "result": answer}
    expected = [
        {"name": "f", "description": "D", "input_schema": SCHEMA},
        {"name": "g", "input_schema": SCHEMA},
    ]
    assert json.dumps(read_tools(file(answer))) == json.dumps(expected)


def test_openai_functions(file):
    function = {"name": "f", "description": "D", "parameters": SCHEMA, "strict": True}
    nested, flat = {"type": "function", "function": function}, {"type": "function", **function}
    bare = {"type": "function", "function": {"name": "g"}}
    expected = {"name": "f", "description": "D", "strict": True, "input_schema": SCHEMA}
    assert read_tools(file([nested])) == read_tools(file([flat])) == [expected]
    empty = {"type": "object", "properties": {}}
    assert read_tools(file([bare])) == [{"name": "g", "input_schema": empty}]


def test_what_is_let_pass(file, tmp_path):
    assert read_tools(file([])) == []
    assert read_tools(file(b"\xef\xbb\xbf" + json.dumps(base_array()).encode())) == base_array()
    assert read_tools(tmp_path / "tools.json") == base_array()
    assert ctxlab.read_tools(str(tmp_path / "tools.json")) == base_array()
    longest = {"name": "a-Z_9" + "x" * 123, "input_schema": {}}
    assert read_tools(file([longest])) == [longest]
    assert read_tools(file({"tools": [mcp()], "nextCursor": None})) != []


def test_numbers_stay_what_they_are(file):
    text = '[{"name":"f","input_schema":{"a":1,"b":1.0,"c":123456789012345678901234567890}}]'
    schema = read_tools(file(text))[0]["input_schema"]
    assert json.dumps(schema, separators=(",", ":")) in text


TOOL = {"name": "f", "input_schema": {}}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "tools.json: empty; expected a list of tools, a Messages API request or"),
        (" \n", "tools.json: empty"),
        (b"\xff\xfe[\x00]\x00", "tools.json: not UTF-8 (byte 0)"),
        ('[{"name": "caf\xe9"}]'.encode("latin-1"), "tools.json: not UTF-8 (byte 14)"),
        ('[\n  {"name": }\n]', "tools.json:2:12: not JSON: Expecting value"),
        ('[{"name": "f"}', "tools.json:1:15: not JSON"),
        ("{'name': 1}", "tools.json:1:2: not JSON"),
        ("[" * 100_000, "tools.json: not JSON that can be read: nested too deep"),
        ("[" + "9" * 5000 + "]", "tools.json: not JSON that can be read: Exceeds the limit"),
        ('[{"name": "f", "name": "g"}]', "tools.json: the key 'name' stands twice in one object"),
        ("null", "tools.json: expected a list of tools, a Messages API request or an MCP"),
        ('"text"', "found a string"),
        ("3", "found a number"),
        ("true", "found a boolean"),
        ({}, "tools.json: expected a list of tools"),
        ({"messages": []}, "found an object without `tools`"),
        ({"result": []}, "found a list without `tools`"),
        (TOOL, "tools.json: one tool; put it into a list"),
        ({"tools": None}, "tools.json:tools: expected a list of tools, found null"),
        ({"result": {"tools": {}}}, "tools.json:result.tools: expected a list of tools"),
        ({"jsonrpc": "2.0", "error": {"message": "no!"}}, "tools.json: an error answer: no!"),
        ({"tools": [mcp()], "nextCursor": "x"}, "tools.json:nextCursor: this is one page"),
        ([TOOL, 3], "tools.json:[1]: a tool is an object, found a number"),
        ([[TOOL]], "tools.json:[0]: a tool is an object, found a list"),
        ({"tools": ["f"]}, "tools.json:tools[0]: a tool is an object, found a string"),
        ([{"input_schema": {}}], "tools.json:[0].name: missing; every tool has a name"),
        ({"tools": [{"inputSchema": {}}]}, "tools.json:tools[0].name: missing"),
        ([{"name": None, "input_schema": {}}], "tools.json:[0].name: a name is a string"),
        ([{"name": 3, "input_schema": {}}], "tools.json:[0].name: a name is a string, found a"),
        ([{"name": "", "input_schema": {}}], "tools.json:[0].name: '' is no name the API takes"),
        ([{"name": "a.b", "input_schema": {}}], "[0].name: 'a.b' is no name the API takes: 1 to"),
        ([{"name": "x" * 129, "input_schema": {}}], "is no name the API takes"),
        ([{"name": "f\n", "input_schema": {}}], "is no name the API takes"),
        ([TOOL, {"name": "g", "input_schema": {}}, TOOL], "[2].name: 'f' is the name of [0]"),
        ([{"name": "f"}], "tools.json:[0].input_schema: missing"),
        ([{"name": "f", "type": "custom"}], "tools.json:[0].input_schema: missing"),
        ([{"name": "f", "input_schema": []}], "[0].input_schema: a schema is an object, found a"),
        ([{"name": "f", "inputSchema": None}], "[0].inputSchema: a schema is an object, found n"),
        ([{"name": "f", "description": 1, "input_schema": {}}], "[0].description: a description"),
        ([{"type": "function", "function": 1}], "[0].function: a function is an object"),
        ([{"type": "function", "function": {}}], "[0].function.name: missing"),
        (
            [{"type": "function", "function": {"name": "f", "parameters": 1}}],
            "[0].function.parameters: a schema is an object",
        ),
        ('[{"name": "f", "input_schema": {"a": [NaN]}}]', "tools.json:[0]/input_schema/a/0: nan"),
        ('[{"name": "f", "input_schema": {"a": 1e999}}]', "tools.json:[0]/input_schema/a: inf"),
        ('[{"name": "f", "input_schema": {"a": "\\ud800"}}]', "[0]/input_schema/a: a lone surr"),
    ],
)
def test_refused_with_file_element_and_field(file, content, told):
    with pytest.raises(InputError) as caught:
        read_tools(file(content))
    assert told in str(caught.value)
    assert str(caught.value).startswith("tools.json:")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_tools(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_tools(tmp_path)
    with pytest.raises(InputError, match="cannot be read: embedded null"):
        read_tools("a\0b.json")


def test_a_huge_file_is_not_read_whole(file, monkeypatch):
    monkeypatch.setattr(read, "MAX_BYTES", 2**20)
    path = file(b" " * (2**20 + 1))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_tools(path)
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_tools("/dev/zero")


def test_a_pipe_is_read(tmp_path):
    inlet, outlet = os.pipe()
    os.write(outlet, json.dumps(base_array()).encode())
    os.close(outlet)
    try:
        assert read_tools(f"/dev/fd/{inlet}") == base_array()
    finally:
        os.close(inlet)


@pytest.mark.shared
@pytest.mark.parametrize("name", REAL)
def test_real_tool_lists(name):
    path = shared("toolsets", f"{name}.json")
    assert json.dumps(read_tools(path)) == json.dumps(json.loads(path.read_bytes()))
