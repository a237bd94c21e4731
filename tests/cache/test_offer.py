from __future__ import annotations

from typing import Any

import pytest

from ctxlab.cache import Envelope
from tests.cache.requests import (
    MARK,
    assistant,
    base,
    call,
    figures,
    reads,
    result,
    simulator,
    text,
    tool,
    user,
)

BETAS = Envelope(frozenset({"inline-tools-2026-09-15"}))


REFERENCE = {"type": "tool_reference", "tool_name": "z"}


def deferred(*found: dict[str, Any], description: str = "z tool") -> dict[str, Any]:
    tools = [tool("a"), tool("b", cache_control=MARK)]
    later = tool("z", defer_loading=True, description=description)
    messages = [user(text(100, "question")), *found]
    return base(tools=[*tools, later], messages=messages, cache_control=MARK)


def found_by_search() -> list[dict[str, Any]]:
    use = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "tool_search_tool_regex",
        "input": {},
    }
    content = {"type": "tool_search_tool_search_result", "tool_references": [REFERENCE]}
    answer = {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content}
    return [assistant(use, answer)]


def found_by_client() -> list[dict[str, Any]]:
    return [assistant(call(1)), user(result(1, content=[REFERENCE]))]


@pytest.mark.parametrize("found", [found_by_search(), found_by_client()])
def test_a_found_tool_is_billed_where_it_was_found_and_keeps_the_prefix(
    found: list[dict[str, Any]],
):
    cache = simulator()
    assert figures(cache.send(deferred())) == (0, 800, 0)
    assert figures(cache.send(deferred(*found))) == (800, 220, 0)
    assert figures(cache.send(deferred(*found, user(text(5))))) == (1020, 5, 0)


def test_a_tool_found_twice_is_billed_once():
    twice = [*found_by_client(), assistant(call(2)), user(result(2, content=[REFERENCE]))]
    assert simulator().send(deferred(*twice))["cache_creation_input_tokens"] == 800 + 220 + 20


def test_a_definition_that_changes_after_it_was_found_is_lost_from_there():
    cache = simulator()
    cache.send(deferred(*found_by_client()))
    assert reads(cache, deferred(*found_by_client(), description="another")) == 700


def test_a_deferred_tool_made_ordinary_loses_everything_behind_the_tools():
    cache = simulator()
    cache.send(deferred())
    ordinary = deferred()
    ordinary["tools"][2].pop("defer_loading")
    assert reads(cache, ordinary) == 400
    cautious = simulator(tool_entries_survive_later_changes=False)
    cautious.send(deferred())
    assert reads(cautious, ordinary) == 0


def change(kind: str, **tool: Any) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": kind, "tool": tool}]}


def named(name: str) -> dict[str, Any]:
    return {"type": "tool_reference", "name": name}


def test_a_tool_added_in_the_conversation_keeps_the_prefix_and_costs_itself():
    cache = simulator()
    cache.send(deferred())
    added = deferred(change("tool_addition", **named("z")))
    assert figures(cache.send(added, BETAS)) == (800, 210, 0)
    assert figures(
        cache.send(deferred(change("tool_addition", **named("z")), assistant("5 ok")))
    ) == (
        1010,
        5,
        0,
    )


def test_a_tool_removed_in_the_conversation_keeps_the_prefix():
    cache = simulator()
    cache.send(base(cache_control=MARK))
    removed = base(cache_control=MARK)
    removed["messages"] += [change("tool_removal", **named("a"))]
    assert figures(cache.send(removed, BETAS)) == (800, 10, 0)
    removed["messages"] += [assistant("5 ok"), user("5 go"), change("tool_addition", **named("a"))]
    assert figures(cache.send(removed, BETAS)) == (810, 20, 0)


def test_a_system_message_edited_later_is_lost_from_there():
    cache = simulator()
    request = base(cache_control=MARK)
    request["messages"] += [{"role": "system", "content": "20 be brief"}]
    assert figures(cache.send(request)) == (0, 820, 0)
    request["messages"][1]["content"] = "20 be long"
    assert figures(cache.send(request)) == (800, 20, 0)


def test_a_cleared_system_message_is_no_longer_shown():
    cache = simulator()
    request = base(cache_control=MARK)
    brief = {"role": "system", "content": "20 be brief", "clear_at": "next_user_message"}
    request["messages"] += [brief]
    assert figures(cache.send(request)) == (0, 820, 0)
    request["messages"] += [assistant("5 ok"), user("5 go")]
    assert figures(cache.send(request)) == (800, 10, 0)
