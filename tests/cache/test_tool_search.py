"""The API's tool search over the wire: blocks, errors in a 200, and the 400s."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from ctxlab.cache import simulated_client, tool_call
from tests.cache.requests import MARK, base, simulator, text, tool, user

REGEX = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
BM25 = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}


def deferred(name: str, **fields: Any) -> dict[str, Any]:
    return tool(name, defer_loading=True, **fields)


def searching(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "server_tool_use", "name": name, "input": given}


def ask(reply: list[dict[str, Any]], *tools: dict[str, Any], **fields: Any) -> Any:
    client = simulated_client(simulator(), replies=[reply])
    return client.messages.create(**base(tools=[*tools], max_tokens=999, **fields))


def found(message: Any) -> list[str]:
    (block,) = [block for block in message.content if block.type == "tool_search_tool_result"]
    return [reference.tool_name for reference in block.content.tool_references]


MANY = [deferred(f"read_{n}") for n in range(7)]


@pytest.mark.parametrize(
    ("entry", "argument"), [(REGEX, {"pattern": "^READ_"}), (BM25, {"query": "read"})]
)
def test_a_search_is_answered_with_typed_references(entry, argument):
    message = ask([searching(entry["name"], **argument), tool_call("read_0")], entry, *MANY)
    kinds = [type(block).__name__ for block in message.content]
    assert kinds == ["ServerToolUseBlock", "ToolSearchToolResultBlock", "ToolUseBlock"]
    call, result, _ = message.content
    assert call.id.startswith("srvtoolu_")
    assert result.tool_use_id == call.id
    assert found(message) == [f"read_{n}" for n in range(5)]
    assert message.stop_reason == "tool_use"


def test_the_limit_of_the_call_counts():
    message = ask([searching(BM25["name"], query="read", limit=7)], BM25, *MANY)
    assert len(found(message)) == 7


def test_only_deferred_tools_are_searched():
    message = ask([searching(REGEX["name"], pattern=".")], REGEX, tool("read_x"), deferred("z"))
    assert found(message) == ["z"]


def test_no_match_is_an_empty_list():
    assert found(ask([searching(REGEX["name"], pattern="zebra")], REGEX, *MANY)) == []


@pytest.mark.parametrize(
    ("block", "code"),
    [
        (searching(REGEX["name"], pattern="("), "invalid_tool_input"),
        (searching(REGEX["name"], pattern="x" * 201), "invalid_tool_input"),
        (searching(REGEX["name"], query="read"), "invalid_tool_input"),
        (searching(REGEX["name"]), "invalid_tool_input"),
        (searching(REGEX["name"], pattern="x", limit=0), "invalid_tool_input"),
        (searching(BM25["name"], query="read"), "unavailable"),
    ],
)
def test_what_goes_wrong_is_an_error_inside_a_200(block, code):
    message = ask([block], REGEX, *MANY)
    error = message.content[1].content
    assert isinstance(error, anthropic.types.ToolSearchToolResultError)
    assert error.error_code == code
    assert error.error_message


def test_a_pattern_that_explodes_is_execution_time_exceeded():
    slow = deferred("slow", description="x" * 2_000)
    message = ask([searching(REGEX["name"], pattern="(x+x+)+y")], REGEX, slow)
    assert message.content[1].content.error_code == "execution_time_exceeded"


def test_a_reply_that_brings_its_own_result_keeps_it():
    call = searching(REGEX["name"], pattern="read") | {"id": "srvtoolu_mine"}
    content = {"type": "tool_search_tool_search_result", "tool_references": []}
    own = {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_mine", "content": content}
    assert found(ask([call, own], REGEX, *MANY)) == []


def test_other_server_tools_are_left_alone():
    message = ask([searching("web_search", query="x")], REGEX, *MANY)
    assert [block.type for block in message.content] == ["server_tool_use"]


def test_a_streamed_search_says_the_same():
    reply = [text(1, "Let me see"), searching(REGEX["name"], pattern="read"), tool_call("read_0")]
    client = simulated_client(simulator(), replies=[reply] * 2)
    request = base(tools=[REGEX, *MANY], max_tokens=999)
    whole = client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        streamed = stream.get_final_message()
    assert found(streamed) == found(whole)


def test_a_found_definition_stands_at_its_reference_and_the_prefix_is_kept():
    reply = [searching(REGEX["name"], pattern="read_3"), tool_call("read_3")]
    client = simulated_client(simulator(), replies=[reply, "done", "done"])
    request = base(tools=[{**REGEX, "cache_control": MARK}, *MANY], max_tokens=999)
    first = client.messages.create(**request)
    result = {"type": "tool_result", "tool_use_id": first.content[2].id, "content": "7"}
    request["messages"] = [
        user(text(100, "user")),
        {"role": "assistant", "content": first.content},
        user({**result, "cache_control": MARK}),
    ]
    second = client.messages.create(**request).usage
    third = client.messages.create(**request).usage
    search_and_system, user_and_calls, definition = 10 + 300, 100 + 4 * 10, 200
    assert second.cache_read_input_tokens == search_and_system
    assert second.cache_creation_input_tokens == user_and_calls + definition
    assert third.cache_read_input_tokens == search_and_system + user_and_calls + definition
    assert third.cache_creation_input_tokens == third.input_tokens == 0


def replay(client: anthropic.Anthropic, content: Any, *tools: dict[str, Any]) -> Any:
    messages = [user(text(1, "hi")), {"role": "assistant", "content": content}, user(text(1, "go"))]
    return client.messages.create(**base(tools=[*tools], messages=messages))


def test_a_reference_to_a_tool_that_left_the_array_is_a_400():
    client = simulated_client(simulator(), replies=[[searching(REGEX["name"], pattern="read_3")]])
    first = client.messages.create(**base(tools=[REGEX, *MANY], max_tokens=999))
    with pytest.raises(
        anthropic.BadRequestError, match="Tool reference 'read_3' not found in available tools"
    ):
        replay(client, first.content, REGEX, *MANY[:3])


def test_all_tools_deferred_without_a_search_entry_is_a_400():
    with pytest.raises(anthropic.BadRequestError, match="All tools cannot be deferred"):
        ask([], *MANY)


def test_a_marker_on_a_deferred_tool_is_a_400():
    with pytest.raises(anthropic.BadRequestError, match="cannot use prompt caching"):
        ask([], REGEX, deferred("a", cache_control=MARK))


def test_a_result_for_a_server_tools_call_is_a_400():
    result = {"type": "tool_result", "tool_use_id": "srvtoolu_1", "content": "x"}
    with pytest.raises(anthropic.BadRequestError, match="takes no tool_result"):
        ask([], REGEX, *MANY, messages=[user(result)])


def test_a_deferred_tool_whose_schema_is_none_is_a_400():
    broken = deferred("a") | {"input_schema": {"type": "object", "properties": ["x"]}}
    with pytest.raises(anthropic.BadRequestError, match="JSON schema is invalid"):
        ask([searching(REGEX["name"], pattern="a")], REGEX, broken)
