from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from ctxlab.cache import RequestBuilder
from ctxlab.errors import UsageError
from tests.cache.requests import (
    HOUR,
    MARK,
    assistant,
    call,
    figures,
    result,
    simulator,
    text,
    tool,
    user,
)

MODEL = "claude-opus-5"


def builder(**changes: Any) -> RequestBuilder:
    told = {"system": "300 rules", "tools": [tool("a"), tool("b")], "max_tokens": 9, **changes}
    return RequestBuilder(MODEL, **told)


def marks(request: dict[str, Any]) -> list[dict[str, str]]:
    blocks = [*request.get("tools", ()), *request.get("system", ())]
    blocks += [block for message in request["messages"] for block in message["content"]]
    return [block["cache_control"] for block in blocks if "cache_control" in block]


def test_a_context_that_changes_costs_itself_alone():
    session, cache = builder(), simulator()
    messages = [user(text(100, "question"))]
    first = cache.send(session.request(messages, {"time": "10:42"}))
    second = cache.send(session.request(messages, {"time": "10:43"}))
    assert (figures(first), figures(second)) == ((0, 800, 10), (800, 0, 10))


def test_the_next_turn_reads_everything_but_the_context():
    session, cache = builder(), simulator()
    messages = [user(text(100, "question"))]
    cache.send(session.request(messages, {"time": "10:42"}))
    messages += [assistant(text(50, "answer")), user(text(100, "and"))]
    assert figures(cache.send(session.request(messages, {"time": "10:50"}))) == (800, 150, 10)


def test_a_turn_of_many_sequential_calls_is_still_found():
    session, cache = builder(), simulator()
    messages = [user(text(100, "question"))]
    cache.send(session.request(messages))
    for number in range(25):
        messages += [assistant(call(number)), user(result(number))]
    assert figures(cache.send(session.request(messages)))[0] == 800


def test_tools_are_canonical_and_the_callers_dicts_are_left_alone():
    given = [tool("a")]
    turned = [dict(reversed(given[0].items()))]
    kept = deepcopy(given)
    first, second = (builder(tools=tools).request([user("x")]) for tools in (given, turned))
    assert list(first["tools"][0]) == ["description", "input_schema", "name"]
    assert (str(first), given) == (str(second), kept)


def test_what_a_request_changes_stays_in_that_request():
    session = builder()
    messages = [user("x")]
    session.request(messages)["tools"][0]["description"] = "spoilt"
    assert session.request(messages)["tools"][0]["description"] == "a tool"
    assert messages == [user("x")]


def test_the_marker_stands_on_the_last_tool_where_there_is_no_system():
    request = builder(system="", tools=[tool("a"), tool("z", defer_loading=True)]).request(
        [user("x")]
    )
    assert "system" not in request
    assert ["cache_control" in tool for tool in request["tools"]] == [True, False]


def test_ttls_and_their_order():
    request = builder(ttl="1h", message_ttl="5m").request([user("x")])
    assert marks(request) == [HOUR, MARK]
    with pytest.raises(UsageError, match="cannot outlive"):
        builder(message_ttl="1h")
    with pytest.raises(UsageError, match="no ttl '2h'"):
        builder(ttl="2h")


def test_thinking_is_never_marked():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    request = builder().request([user("x"), assistant("y", thinking)])
    assert [list(block) for block in request["messages"][1]["content"]] == [
        ["type", "text", "cache_control"],
        ["type", "thinking", "signature"],
    ]


@pytest.mark.parametrize(
    ("messages", "context", "told"),
    [
        ([], None, "at least one message"),
        ([user(text(1, cache_control=MARK))], None, "without cache_control"),
        ([user("x"), assistant("y")], {"time": "now"}, "goes with a user message"),
    ],
)
def test_what_it_refuses(messages: Any, context: Any, told: str):
    with pytest.raises(UsageError, match=told):
        builder().request(messages, context)
