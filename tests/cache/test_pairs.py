"""Known breakages as request pairs: facts `prompt-cache` §7, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlab.cache import InvalidRequest
from tests.cache.requests import (
    HOUR,
    MARK,
    Clock,
    assistant,
    base,
    call,
    figures,
    one_marker,
    result,
    simulator,
    text,
    tool,
    user,
)


def pair(
    first: dict[str, Any], second: dict[str, Any], *, after: float = 0
) -> tuple[tuple[int, int, int], tuple[int, int, int], str | None]:
    """Both requests' figures, and the second's diagnosis."""
    clock = Clock()
    cache = simulator(clock)
    one = cache.send({**first, "diagnostics": {"previous_message_id": None}})
    clock.now += after
    two = cache.send({**second, "diagnostics": {"previous_message_id": one["message_id"]}})
    assert one["diagnostics"] is None
    told = two["diagnostics"]
    return figures(one), figures(two), told and told["cache_miss_reason"]["type"]


def swapped(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"y": {"type": "integer"}, "x": {"type": "string"}}}
    return tool(name, **more) | {"input_schema": schema}


WARM = (0, 800, 0)
FORCED = {"type": "tool", "name": "a"}


def dated(day: int) -> list[dict[str, Any]]:
    return [text(300, f"rules of day {day}", cache_control=MARK)]


ROWS = {
    "0 identical": (base(), base(), (800, 0, 0), None),
    "1 tools turned round": (
        base(),
        base(tools=[tool("b"), tool("a", cache_control=MARK)]),
        (0, 800, 0),
        "tools_changed",
    ),
    "1 keys swapped inside properties": (
        base(),
        base(tools=[swapped("a"), tool("b", cache_control=MARK)]),
        (0, 800, 0),
        "tools_changed",
    ),
    "2 timestamp in system": (
        base(system=dated(1)),
        base(system=dated(2)),
        (400, 400, 0),
        "system_changed",
    ),
    "2 with only a last-block marker": (
        one_marker(system=[text(300, "day 1")]),
        one_marker(system=[text(300, "day 2")]),
        (0, 800, 0),
        "system_changed",
    ),
    "3 a server's tools move to the end": (
        base(tools=[tool("mcp__s__a"), tool("b", cache_control=MARK)]),
        base(tools=[tool("b"), tool("mcp__s__a", cache_control=MARK)]),
        (0, 800, 0),
        "tools_changed",
    ),
    "5 forced tool_choice": (base(), base(tool_choice=FORCED), (700, 100, 0), "unavailable"),
    "6 model switch": (base(), base(model="claude-sonnet-4-6"), (0, 800, 0), "model_changed"),
    "12 a deferred tool appended": (
        base(),
        base(tools=[*base()["tools"], tool("c", defer_loading=True)]),
        (800, 0, 0),
        None,
    ),
    "14 first user block edited": (
        base(),
        base(messages=[user(text(100, "other", cache_control=MARK))]),
        (700, 100, 0),
        "messages_changed",
    ),
}


@pytest.mark.parametrize(("first", "second", "expected", "diagnosis"), ROWS.values(), ids=ROWS)
def test_pair(
    first: dict[str, Any],
    second: dict[str, Any],
    expected: tuple[int, int, int],
    diagnosis: str | None,
):
    assert pair(first, second) == (WARM, expected, diagnosis)


def stretched(*turns: dict[str, Any]) -> tuple[int, str | None]:
    """Row 4: ten text blocks, marked at the tenth; then turns that end in the one marker."""
    blocks = [text(100, f"block {number}") for number in range(10)]
    marked = [*blocks[:9], {**blocks[9], "cache_control": MARK}]
    first = {"model": "claude-opus-5", "messages": [user(*marked)]}
    second = {"model": "claude-opus-5", "messages": [user(*blocks), *turns]}
    _, figures_of_second, diagnosis = pair(first, second)
    return figures_of_second[0], diagnosis


def sequential(pairs: int) -> list[dict[str, Any]]:
    turns = [
        turn for number in range(pairs) for turn in (assistant(call(number)), user(result(number)))
    ]
    turns[-1]["content"][-1]["cache_control"] = MARK
    return turns


def test_4_ten_sequential_pairs_are_too_far_for_the_lookback():
    assert stretched(*sequential(10)) == (0, None)


def test_4_nine_sequential_pairs_are_not():
    assert stretched(*sequential(9)) == (1000, None)


def test_4_eighteen_parallel_calls_are_one_position():
    calls = assistant(*(call(number) for number in range(18)))
    results = user(*(result(number) for number in range(17)), result(17, cache_control=MARK))
    assert stretched(calls, results) == (1000, None)


def test_7_below_the_minimum_nothing_is_cached_and_nothing_is_said():
    small = {"model": "claude-opus-5", "messages": [user(text(99, cache_control=MARK))]}
    assert pair(small, small) == ((0, 0, 99), (0, 0, 99), None)


def test_8_five_markers():
    five = [text(100, str(number), cache_control=MARK) for number in range(3)]
    with pytest.raises(InvalidRequest) as refused:
        simulator().send(base(messages=[user(*five)]))
    assert refused.value.status == 400
    assert refused.value.message == (
        "A maximum of 4 blocks with cache_control may be provided. Found 5."
    )


def test_9_a_marker_on_empty_text():
    empty = {"type": "text", "text": "", "cache_control": MARK}
    with pytest.raises(InvalidRequest) as refused:
        simulator().send(base(messages=[user("one", empty)]))
    assert refused.value.message == (
        "messages.0.content.1.text: cache_control cannot be set for empty text blocks"
    )


def test_10_one_hour_after_five_minutes():
    with pytest.raises(InvalidRequest, match="400: cache_control: a ttl='1h'"):
        simulator().send(base(system=[text(300, cache_control=HOUR)]))


def test_11_the_same_request_after_400_seconds():
    assert pair(base(), base(), after=400) == (WARM, (0, 800, 0), None)


def test_11_with_tools_and_system_at_one_hour():
    hour = base(
        tools=[tool("a"), tool("b", cache_control=HOUR)], system=[text(300, cache_control=HOUR)]
    )
    assert pair(hour, hour, after=400) == (WARM, (700, 100, 0), None)


def test_12_a_deferred_tool_with_a_marker():
    both = tool("c", defer_loading=True, cache_control=MARK)
    with pytest.raises(InvalidRequest) as refused:
        simulator().send(base(tools=[tool("a"), both]))
    assert refused.value.message == (
        "Tool 'c' cannot have both defer_loading=true and cache_control set. "
        "Tools with defer_loading cannot use prompt caching."
    )


def stable_and_date(day: int, *, marked: str) -> dict[str, Any]:
    stable, date = text(300, "stable"), text(20, f"day {day}")
    {"stable": stable, "date": date}[marked]["cache_control"] = MARK
    return {"model": "claude-opus-5", "system": [stable, date], "messages": [user(text(100))]}


@pytest.mark.parametrize(
    ("marked", "expected"), [("date", (0, 320, 100)), ("stable", (300, 0, 120))]
)
def test_13_a_date_behind_the_stable_system(marked: str, expected: tuple[int, int, int]):
    first, second = (stable_and_date(day, marked=marked) for day in (1, 2))
    assert pair(first, second)[1:] == (expected, "system_changed")
