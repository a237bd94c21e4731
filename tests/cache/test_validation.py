# ruff: noqa: E501  tables with a row a line
"""The 400s of facts `prompt-cache` that test_pairs does not have, one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxlab.cache import Envelope, InvalidRequest, MessagesHandler
from tests.cache.requests import (
    HOUR,
    MARK,
    assistant,
    base,
    call,
    result,
    simulator,
    text,
    tool,
    user,
)

CHANGES = Envelope(frozenset({"mid-conversation-tool-changes-2026-07-01"}))
INLINE = Envelope(frozenset({"inline-tools-2026-09-15"}))
NO_BETA = Envelope(frozenset())
REFERENCE = {"type": "tool_reference", "tool_name": "nobody"}


def refused(request: dict[str, Any], envelope: Envelope = NO_BETA) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as error:
        simulator().send(request, envelope)
    return error.value


def spoken(*messages: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return base(messages=list(messages), **changes)


def system(*content: Any) -> dict[str, Any]:
    return {"role": "system", "content": list(content) or "be brief"}


def change(kind: str, **tool: Any) -> dict[str, Any]:
    return {"type": kind, "tool": tool}


def named(name: str) -> dict[str, Any]:
    return {"type": "tool_reference", "name": name}


def defined(name: str) -> dict[str, Any]:
    return {"type": "tool_definition", "definition": tool(name)}


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s", "cache_control": MARK}
SERVER_ANSWER = {"type": "tool_result", "tool_use_id": "srvtoolu_1", "content": "x"}
MIXED = [REFERENCE, {"type": "text", "text": "found"}]

BAD: list[tuple[str, dict[str, Any]]] = [
    ("temperature: not accepted from API version 2026-10-21", base(temperature=1)),
    ("top_p: ", base(top_p=0.5)),
    ("top_k: ", base(top_k=5)),
    ("model: Field required", base(model=None)),
    ("messages: at least one message", base(messages=[])),
    ("model: Input should be a valid string", base(model=5)),
    ("messages: Field required", base(messages=None)),
    ("messages: Input should be a valid list", base(messages="hello")),
    ("max_tokens: Input should be greater than or equal to 0", base(max_tokens=-1)),
    ("max_tokens: Input should be a valid integer", base(max_tokens=True)),
    ("stream: Input should be a valid boolean", base(stream="yes")),
    ("stop_sequences: Input should be a valid list", base(stop_sequences=5)),
    ("stop_sequences.1: Input should be a valid string", base(stop_sequences=["a", 5])),
    ("metadata: Input should be an object", base(metadata=5)),
    ("metadata.user_id: Input should be a valid string", base(metadata={"user_id": 5})),
    ("service_tier: Input should be 'auto' or 'standard_only'", base(service_tier="fast")),
    ("messages.0: Input should be an object", base(messages=["hello"])),
    ("messages.0.role: Input should be", base(messages=[{"role": "tool", "content": "x"}])),
    ("messages.0.content: Input should be", base(messages=[{"role": "user", "content": 5}])),
    ("messages.0.content.0: Input should be an object", base(messages=[{"role": "user", "content": ["x"]}])),
    ("messages.0.content.0.type: Field required", spoken({"role": "user", "content": [{"text": "x"}]})),
    ("messages.0.content.0.text: Input should be", spoken(user({"type": "text", "text": 5}))),
    ("tools: Input should be a valid list", base(tools={"a": 1})),
    ("tools.1: Input should be an object", base(tools=[tool("a"), "b"])),
    ("tools: Tool names must be unique: 'a'", base(tools=[tool("a"), tool("a")])),
    ("system: Input should be", base(system=5)),
    ("system.0.text: cache_control cannot be set for empty", base(system=[{"type": "text", "text": "", "cache_control": MARK}])),
    ("messages.0.content.0.cache_control.type", spoken(user(text(9, cache_control={"type": "forever"})))),
    ("cache_control.ttl: Input should be '5m' or '1h'", base(cache_control={"type": "ephemeral", "ttl": "2h"})),
    ("system.0.cache_control: Input should be an object", base(system=[text(9, cache_control="yes")])),
    ("cache_control cannot be set for thinking blocks", spoken(user("x"), assistant(THINKING))),
    ("must not come after a ttl='5m' one", base(messages=[user(text(9, cache_control=HOUR))])),
    ("tool_choice: type 'any' is not supported on claude-opus-5-5", base(model="claude-opus-5-5", tool_choice={"type": "any"})),
    ("role 'system' is not supported on this model", spoken(user("x"), system(), model="claude-sonnet-5")),
    ("the first message cannot have the role 'system'", spoken(system(), user("x"))),
    ("must directly follow a user message", spoken(user("x"), assistant("y"), system())),
    ("must be the last or be followed by an assistant", spoken(user("x"), system(), user("y"))),
    ("stands in messages of role 'system' only", spoken(user(change("tool_removal", **named("a"))))),
    ("needs the header anthropic-beta", spoken(user("x"), system(change("tool_removal", **named("a"))))),
    ("All tools cannot be deferred", base(tools=[tool("a", defer_loading=True)])),
    ("Tool reference 'nobody' not found in available tools", spoken(user("x"), assistant(call(1)), user(result(1, content=[REFERENCE])))),
    ("is a server tool's call, which takes no tool_result", spoken(user(SERVER_ANSWER))),
    ("tool_reference blocks cannot be mixed", spoken(user(result(1, content=MIXED)))),
    ("defer_loading is not supported on claude-opus-4-1", base(model="claude-opus-4-1", tools=[tool("a"), tool("b", defer_loading=True)])),
]  # fmt: skip


@pytest.mark.parametrize(("told", "request_"), BAD, ids=[told for told, _ in BAD])
def test_what_the_api_would_refuse(told: str, request_: dict[str, Any]):
    error = refused(request_)
    assert told in error.message
    assert (error.status, error.error_code) == (400, None)


@pytest.mark.parametrize(
    ("blocks", "envelope", "code"),
    [
        ([change("tool_removal", **named("nobody"))], CHANGES, "tool_reference_unresolved"),
        ([change("tool_addition", **named("nobody"))], CHANGES, "tool_reference_unresolved"),
        ([change("tool_addition", **defined("a"))], INLINE, "tool_name_conflict"),
        ([change("tool_addition", **defined("c"))] * 2, INLINE, "tool_name_conflict"),
        ([change("tool_addition", **defined("c"))], CHANGES, None),
    ],
)
def test_tool_changes_are_refused_with_their_codes(
    blocks: list[Any], envelope: Envelope, code: str | None
):
    assert refused(spoken(user("x"), system(*blocks)), envelope).error_code == code


def test_too_many_tools_on_offer():
    cache = simulator(maximum_tools=2)
    request = spoken(user("x"), system(change("tool_addition", **defined("c"))))
    with pytest.raises(InvalidRequest) as error:
        cache.send(request, INLINE)
    assert error.value.error_code == "available_tools_limit_exceeded"


def test_too_many_deferred_tools():
    cache = simulator(maximum_tools=2)
    later = [tool(name, defer_loading=True) for name in "xyz"]
    with pytest.raises(InvalidRequest, match="at most 2 tools may be deferred, found 3"):
        cache.send(base(tools=[tool("a"), *later]))


@pytest.mark.parametrize(
    "request_",
    [
        spoken(user("x"), system()),
        spoken(user("x"), system(), assistant("y"), user("z")),
        spoken(user("x"), system(change("tool_removal", **named("a"))), assistant("y")),
        spoken(
            user("x"),
            system(change("tool_addition", **defined("c"))),
            assistant("y"),
            user("z"),
            system(change("tool_removal", **named("c")), change("tool_addition", **named("c"))),
        ),
        base(tool_choice={"type": "tool", "name": "a"}),
        base(tools=[tool("a"), {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}]),
        base(tools=[{"type": "tool_search_tool_regex_20251119", "name": "s"}, tool("b", defer_loading=True)]),
        base(system=None, tools=None),
    ],
)  # fmt: skip
def test_what_is_allowed(request_: dict[str, Any]):
    simulator().send(request_, INLINE)


def test_older_api_versions_take_sampling_parameters():
    simulator().send(base(temperature=1), Envelope(version="2023-06-01"))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{}", "model: Field required"),
        ('{"model":"claude-opus-5"}', "messages: Field required"),
        ('{"model":5,"messages":[]}', "model: Input should be a valid string"),
    ],
)
def test_what_is_missing_is_a_400_of_the_real_cache_too(body: str, told: str):
    answer = MessagesHandler().answer("POST", "/v1/messages", {}, body.encode())
    assert answer.status == 400
    assert told in b"".join(answer.chunks).decode()


@pytest.mark.parametrize("depth", [300, 900, 1100])
@pytest.mark.parametrize("place", ["input", "tools", "diagnostics"])
def test_what_is_nested_deep_is_answered_or_refused(depth: int, place: str):
    deep = '{"a":' * depth + "1" + "}" * depth
    block = {"type": "tool_use", "id": "t", "name": "n", "input": place}
    asked = {
        **base(messages=[user("x"), assistant(block), user(result(1, tool_use_id="t"))]),
        "tools": [{"name": "n", "input_schema": place + "s"}],
        "diagnostics": {"previous_message_id": None, "more": place},
    }
    body = json.dumps(asked).replace(f'"{place}"', deep).replace('"toolss"', deep)
    answer = MessagesHandler(simulator()).answer("POST", "/v1/messages", {}, body.encode())
    assert b"".join(answer.chunks)
    assert answer.status in (200, 400)
