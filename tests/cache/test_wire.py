"""What the real SDK puts on the wire drives the simulator, and what it gets back is typed."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import pytest

from ctxlab.cache import simulated_async_client, simulated_client, tool_call
from tests.cache.requests import HOUR, MARK, base, simulator, text, tool, user


def read_written(message: Any) -> tuple[int, int, int]:
    usage = message.usage
    assert usage.cache_creation_input_tokens == (
        usage.cache_creation.ephemeral_5m_input_tokens
        + usage.cache_creation.ephemeral_1h_input_tokens
    )
    return (
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.input_tokens,
    )


def test_usage_comes_back_typed():
    client = simulated_client(simulator())
    first, second = (client.messages.create(**base()) for _ in range(2))
    assert isinstance(first, anthropic.types.Message)
    assert (read_written(first), read_written(second)) == ((0, 800, 0), (800, 0, 0))
    assert first.id != second.id
    assert second.stop_reason == "end_turn"


def test_the_split_by_ttl():
    client = simulated_client(simulator())
    request = base(tools=[tool("a"), tool("b", cache_control=HOUR)])
    creation = client.messages.create(**request).usage.cache_creation
    assert creation is not None
    assert (creation.ephemeral_1h_input_tokens, creation.ephemeral_5m_input_tokens) == (400, 400)


def number_tool(bound: float) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": {"type": "number", "maximum": bound}}}
    return tool("a", cache_control=MARK) | {"input_schema": schema}


def test_one_and_one_point_nought_are_two_things():
    client = simulated_client(simulator())
    client.messages.create(**base(tools=[number_tool(1)]))
    assert client.messages.create(**base(tools=[number_tool(1)])).usage.input_tokens == 0
    assert (
        client.messages.create(**base(tools=[number_tool(1.0)])).usage.cache_read_input_tokens == 0
    )


def test_the_callers_key_order_is_kept():
    client = simulated_client(simulator())
    client.messages.create(**base())
    properties = base()["tools"][0]["input_schema"]["properties"]
    turned = dict(reversed(properties.items()))
    request = base()
    request["tools"][0]["input_schema"]["properties"] = turned
    assert client.messages.create(**request).usage.cache_read_input_tokens == 0


def test_a_dict_changed_in_place_is_seen():
    client, request = simulated_client(simulator()), base()
    client.messages.create(**request)
    request["tools"][0]["description"] = "another"
    assert read_written(client.messages.create(**request)) == (0, 800, 0)


def test_a_reply_sent_back_costs_its_own_tokens_alone():
    client = simulated_client(simulator(), replies=[[tool_call("a", x="1")], "done"])
    request = base()
    answer = client.messages.create(**request)
    (called,) = answer.content
    assert answer.stop_reason == "tool_use"
    assert isinstance(called, anthropic.types.ToolUseBlock)
    request["messages"][0]["content"][0].pop("cache_control")
    request["messages"] += [
        {"role": "assistant", "content": answer.content},
        user(
            {"type": "tool_result", "tool_use_id": called.id, "content": "7", "cache_control": MARK}
        ),
    ]
    assert read_written(client.messages.create(**request)) == (800, 20, 0)


def test_streaming_says_the_same_as_a_whole_message():
    replies = ["A long story. " * 30, [{"type": "text", "text": "Now"}, tool_call("a", x="é" * 99)]]
    whole = simulated_client(simulator(), replies=replies)
    streamed = simulated_client(simulator(), replies=replies)
    request = base(max_tokens=999)
    for _ in replies:
        expected = whole.messages.create(**request)
        with streamed.messages.stream(**request) as stream:
            pieces = list(stream.text_stream)
            message = stream.get_final_message()
        assert message.to_dict() == expected.to_dict()
        assert "".join(pieces) == "".join(
            block.text for block in expected.content if block.type == "text"
        )


def test_raw_stream_events_come_in_the_apis_order():
    client = simulated_client(simulator(), replies=["Hello"])
    kinds = [event.type for event in client.messages.create(**base(), stream=True)]
    assert kinds == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_refusals_are_the_sdks_own_errors():
    client = simulated_client(simulator())
    with pytest.raises(anthropic.BadRequestError, match="Found 5") as refused:
        client.messages.create(
            **base(messages=[user(*(text(9, str(n), cache_control=MARK) for n in range(3)))])
        )
    assert refused.value.status_code == 400
    assert refused.value.body["error"]["type"] == "invalid_request_error"  # type: ignore[index]
    assert refused.value.request_id == "req_simulated_000001"
    with pytest.raises(anthropic.BadRequestError, match="temperature"):
        client.messages.create(**base(), extra_body={"temperature": 1.0})
    with pytest.raises(anthropic.NotFoundError, match="near names: claude-opus-5"):
        simulated_client().messages.create(**base(model="claude-opus-55"))


def test_an_error_code_becomes_its_class():
    client = simulated_client(simulator())
    removal = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "nobody"}}
    messages = [user("hello"), {"role": "system", "content": [removal]}]
    with pytest.raises(anthropic.BadRequestError) as refused:
        client.beta.messages.create(
            **base(messages=messages), betas=["mid-conversation-tool-changes-2026-07-01"]
        )
    assert type(refused.value).__name__ == "ToolReferenceUnresolvedError"
    assert refused.value.error_code == "tool_reference_unresolved"


def test_a_tool_change_without_its_beta_is_refused():
    client = simulated_client(simulator())
    removal = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "a"}}
    messages = [user("hello"), {"role": "system", "content": [removal]}]
    with pytest.raises(anthropic.BadRequestError, match="needs the header anthropic-beta"):
        client.beta.messages.create(**base(messages=messages))


def test_diagnostics_over_the_wire():
    client = simulated_client(simulator())
    first = client.messages.create(**base(), diagnostics={"previous_message_id": None})
    assert first.diagnostics is None
    asked = {"previous_message_id": first.id}
    second = client.messages.create(
        **base(system=[text(300, "other", cache_control=MARK)]), diagnostics=asked
    )
    reason = second.diagnostics.cache_miss_reason  # type: ignore[union-attr]
    assert isinstance(reason, anthropic.types.CacheMissSystemChanged)
    assert reason.cache_missed_input_tokens == 400


def test_count_tokens_counts_and_caches_nothing():
    client = simulated_client(simulator())
    request = base()
    del request["max_tokens"]
    assert client.messages.count_tokens(**request).input_tokens == 800
    assert read_written(client.messages.create(**base())) == (0, 800, 0)


def test_max_tokens_nought_only_warms_the_cache():
    client = simulated_client(simulator())
    warmed = client.messages.create(**base(max_tokens=0))
    assert (warmed.content, warmed.stop_reason, warmed.usage.output_tokens) == ([], "max_tokens", 0)
    assert read_written(client.messages.create(**base())) == (800, 0, 0)


def test_a_reply_is_cut_at_max_tokens():
    client = simulated_client(simulator(), replies=["one two three four"])
    cut = client.messages.create(**base(max_tokens=2))
    assert (cut.content[0].text, cut.stop_reason) == ("one two", "max_tokens")  # type: ignore[union-attr]
    assert cut.usage.output_tokens == 2


def test_the_echo_calls_a_tool_when_it_is_made_to():
    client = simulated_client(simulator())
    called = client.messages.create(**base(tool_choice={"type": "any"})).content[0]
    assert isinstance(called, anthropic.types.ToolUseBlock)
    assert called.name == "a"


def test_a_script_that_ran_out_says_so():
    client = simulated_client(simulator(), replies=["only"])
    client.messages.create(**base())
    with pytest.raises(anthropic.BadRequestError, match="the script has 1 replies"):
        client.messages.create(**base())


def test_a_server_tool_answers_inside_the_reply():
    search = {
        "type": "server_tool_use",
        "name": "tool_search_tool_regex",
        "input": {"pattern": "x"},
    }

    def found(request: Any, block: Any) -> dict[str, Any]:
        names = [tool["name"] for tool in request["tools"] if tool.get("defer_loading")]
        references = [{"type": "tool_reference", "tool_name": name} for name in names]
        content = {"type": "tool_search_tool_search_result", "tool_references": references}
        return {"type": "tool_search_tool_result", "tool_use_id": block["id"], "content": content}

    client = simulated_client(simulator(), replies=[[search]], server_tool=found)
    answer = client.messages.create(
        **base(tools=[tool("a"), tool("z", defer_loading=True)], max_tokens=99)
    )
    kinds = [type(block).__name__ for block in answer.content]
    assert kinds == ["ServerToolUseBlock", "ToolSearchToolResultBlock"]
    assert answer.content[1].content.tool_references[0].tool_name == "z"  # type: ignore[union-attr]


def test_parallel_requests_all_write():
    async def together() -> list[tuple[int, int, int]]:
        async with simulated_async_client(simulator()) as client:
            sent = [client.messages.create(**base()) for _ in range(50)]
            answers = [*await asyncio.gather(*sent), await client.messages.create(**base())]
        return [read_written(answer) for answer in answers]

    assert asyncio.run(together()) == [(0, 800, 0)] * 50 + [(800, 0, 0)]


def test_async_streaming():
    async def streamed() -> tuple[str, int]:
        async with simulated_async_client(simulator(), replies=["Hello there"]) as client:
            async with client.messages.stream(**base()) as stream:
                said = [piece async for piece in stream.text_stream]
            final = await stream.get_final_message()
        return "".join(said), final.usage.cache_creation_input_tokens or 0

    assert asyncio.run(streamed()) == ("Hello there", 800)
