"""Sessions drawn at random: the books balance, and a literal reading of the rules agrees."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.cache import PromptCache
from tests.cache.reference import Reference
from tests.cache.requests import MODEL, Clock, call, result, size, text, tool

MINIMUM = 100
SWITCHES = [
    {},
    {"lookback_positions": 3},
    {"lookback_positions": 3, "tool_entries_survive_later_changes": False},
    {"lookback_positions": 5, "lookback_into_tools": "one_position"},
    {"lookback_positions": 5, "lookback_into_tools": "never"},
]
names = st.sampled_from("abcdefgh")
tool_arrays = st.lists(names, unique=True, max_size=8)
texts = st.builds(text, st.sampled_from([20, 60, 200]), st.sampled_from(["x", "y"]))
calls = st.builds(call, st.integers(0, 3))
results = st.builds(result, st.integers(0, 3))
blocks = st.one_of(texts, texts, calls, results)
system = st.lists(texts, max_size=3)
history = st.lists(blocks, min_size=1, max_size=8)


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[float, dict[str, Any]]]:
    """Requests with the seconds before each: mostly one that appends to the last."""
    told = draw(history)
    request = _request(draw(tool_arrays), draw(system), told[:1])
    session = [(0.0, _marked(draw, request))]
    for _ in range(draw(st.integers(1, 5))):
        step = draw(
            st.sampled_from(["append", "append", "append", "same", "tools", "system", "edit"])
        )
        if step == "tools":
            request = {**request, "tools": [tool(name) for name in draw(tool_arrays)]}
        elif step == "system":
            request = {**request, "system": draw(system)}
        elif step == "edit":
            request = {**request, "messages": _messages([draw(texts)])}
        elif step == "append":
            sent = [block for message in request["messages"] for block in message["content"]]
            request = {**request, "messages": _messages([*sent, *draw(history)])}
        gap = draw(st.sampled_from([0.0, 200.0, 200.0, 299.0, 300.0, 3600.0]))
        session.append((gap, _marked(draw, _choice(draw, request))))
    return session


def _request(tools: list[str], system: list[Any], told: list[Any]) -> dict[str, Any]:
    return {
        "model": MODEL,
        "tools": [tool(name) for name in tools],
        "system": system,
        "messages": _messages(told),
    }


def _messages(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    roles = {"tool_use": "assistant"}
    return [{"role": roles.get(block["type"], "user"), "content": [block]} for block in told]


def _choice(draw: st.DrawFn, request: dict[str, Any]) -> dict[str, Any]:
    if draw(st.integers(0, 5)):
        return request
    return {**request, "tool_choice": {"type": "any"}, "speed": "fast"}


def _marked(draw: st.DrawFn, request: dict[str, Any]) -> dict[str, Any]:
    marked = deepcopy(request)
    places = [*marked["tools"], *marked["system"]]
    places += [block for message in marked["messages"] for block in message["content"]]
    automatic = draw(st.booleans())
    chosen = draw(st.sets(st.integers(0, len(places) - 1), max_size=3))
    hours = draw(st.integers(0, 3))
    for number, index in enumerate(sorted(chosen)):
        ttl = {"ttl": "1h"} if number < hours else {}
        places[index]["cache_control"] = {"type": "ephemeral", **ttl}
    last_is_hour = "ttl" in places[-1].get("cache_control", {})
    if automatic and not last_is_hour:
        marked["cache_control"] = {"type": "ephemeral"}
    return marked


def told(usage: dict[str, Any]) -> tuple[int, int, int, int]:
    creation = usage["cache_creation"]
    five, hour = creation["ephemeral_5m_input_tokens"], creation["ephemeral_1h_input_tokens"]
    assert usage["cache_creation_input_tokens"] == five + hour
    return usage["cache_read_input_tokens"], five, hour, usage["input_tokens"]


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@settings(max_examples=80, deadline=None)
@given(session=sessions())
def test_a_literal_reading_of_the_rules_agrees(
    switches: dict[str, Any], session: list[tuple[float, dict[str, Any]]]
):
    clock = Clock()
    cache = PromptCache({"minimum_tokens": MINIMUM, **switches}, clock=clock, count=size)
    reference = Reference(MINIMUM, size, **switches)
    for gap, request in session:
        clock.now += gap
        *expected, total = reference.send(request, clock.now)
        figures = told(cache.send(request))
        assert figures == tuple(expected)
        assert sum(figures) == total


@settings(max_examples=60, deadline=None)
@given(session=sessions())
def test_an_identical_repeat_reads_everything_that_was_cached(
    session: list[tuple[float, dict[str, Any]]],
):
    cache = PromptCache({"minimum_tokens": MINIMUM}, clock=Clock(), count=size)
    for _, request in session:
        first, second = told(cache.send(request)), told(cache.send(request))
        assert second == (sum(first[:3]), 0, 0, first[3])


@settings(max_examples=60, deadline=None)
@given(session=sessions())
def test_laid_out_and_appended_is_the_same_as_sent_whole(
    session: list[tuple[float, dict[str, Any]]],
):
    whole, parts = (
        PromptCache({"minimum_tokens": MINIMUM}, clock=Clock(), count=size) for _ in range(2)
    )
    for _, request in session:
        first, *rest = request["messages"]
        layout = parts.lay_out({**request, "messages": [first], "cache_control": None})
        layout = layout.append(rest)
        plain = {**request, "cache_control": None}
        assert told(parts.send(layout)) == told(whole.send(plain))


def test_a_dict_changed_in_place_is_always_seen():
    clock = Clock()
    cache = PromptCache({"minimum_tokens": MINIMUM}, clock=clock, count=size)
    request = _request(["a", "b"], [text(200)], [text(200, "x"), text(200, "y")])
    request["cache_control"] = {"type": "ephemeral"}
    assert told(cache.send(request)) == (0, 1000, 0, 0)
    for change in (
        lambda: request["tools"][1].update(description="changed"),
        lambda: request["system"][0].update(text="200 changed"),
        lambda: request["messages"][0]["content"][0].update(text="200 changed"),
        lambda: request["messages"][1]["content"][0].update(text="200 changed"),
        lambda: request["tools"][0]["input_schema"]["properties"].pop("x"),
    ):
        assert told(cache.send(request)) == (1000, 0, 0, 0)
        change()
        assert told(cache.send(request))[0] == 0
