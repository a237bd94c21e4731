from __future__ import annotations

import json

import pytest

from ctxlab.errors import InputError
from ctxlab.loading import ServerTools, join_tools, joined_name


def tool(name, **fields):
    return {"name": name, "inputSchema": {"type": "object"}, **fields}


def test_names_are_prefixed_in_the_servers_order():
    servers = [ServerTools("b", (tool("z"), tool("a"))), ServerTools("a", (tool("z"),))]
    assert [t["name"] for t in join_tools(servers)] == ["mcp__b__z", "mcp__b__a", "mcp__a__z"]


def test_only_what_the_api_knows_is_sent_and_the_schema_is_the_servers_own():
    schema = {"required": ["b", "a"], "type": "object", "properties": {"b": {}, "a": {}}}
    sent = tool("t", title="T", annotations={"x": 1}, outputSchema={}, _meta={}, description="D")
    joined = join_tools([ServerTools("s", (sent | {"inputSchema": schema},))])
    assert json.dumps(joined) == json.dumps(
        [{"name": "mcp__s__t", "description": "D", "input_schema": schema}]
    )


def test_a_null_description_is_left_out():
    joined = join_tools([ServerTools("s", (tool("t", description=None),))])
    assert joined == [{"name": "mcp__s__t", "input_schema": {"type": "object"}}]


def test_what_the_api_forbids_in_names_becomes_an_underscore():
    assert joined_name("my server", "files.list/all") == "mcp__my_server__files_list_all"


def test_sixty_four_characters_are_the_limit():
    fits = "t" * (64 - len("mcp__s__"))
    assert len(join_tools([ServerTools("s", (tool(fits),))])[0]["name"]) == 64
    with pytest.raises(InputError, match=r"tool s/t+ becomes mcp__s__t+, 65 characters"):
        join_tools([ServerTools("s", (tool(f"{fits}t"),))])


@pytest.mark.parametrize(
    ("first", "second"),
    [(("s", "t"), ("s", "t")), (("s", "a.b"), ("s", "a/b")), (("a", "b__c"), ("a__b", "c"))],
)
def test_two_tools_with_one_name_are_refused(first, second):
    servers = [ServerTools(name, (tool(of),)) for name, of in (first, second)]
    with pytest.raises(InputError, match=f"tools {'/'.join(first)} and .* both become mcp__"):
        join_tools(servers)


def test_a_tool_that_is_none_is_told_with_its_server():
    with pytest.raises(InputError, match=r"s/t.inputSchema: a schema is an object, found a list"):
        join_tools([ServerTools("s", (tool("t") | {"inputSchema": []},))])


def test_no_servers_no_tools():
    assert join_tools([]) == []
