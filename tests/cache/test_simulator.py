from __future__ import annotations

import pytest

from tests.cache.requests import (
    HOUR,
    MARK,
    MODEL,
    Clock,
    assistant,
    base,
    call,
    figures,
    numbered,
    reads,
    result,
    simulator,
    text,
    tool,
    user,
)

# ── lookback ──


def test_the_vendors_example():
    cache = simulator()
    cache.send(numbered(10, 10))
    assert figures(cache.send(numbered(15, 15))) == (1000, 500, 0)
    fresh = simulator()
    fresh.send(numbered(10, 10))
    assert reads(fresh, numbered(35, 35)) == 0
    another = simulator()
    another.send(numbered(10, 10))
    assert reads(another, numbered(35, 15, 35)) == 1000


@pytest.mark.parametrize(("breakpoint_at", "read"), [(29, 1000), (30, 0)])
def test_twenty_positions_the_breakpoint_itself_being_the_first(breakpoint_at: int, read: int):
    cache = simulator()
    cache.send(numbered(10, 10))
    assert reads(cache, numbered(breakpoint_at, breakpoint_at)) == read


@pytest.mark.parametrize(("blocks", "read"), [(19, 300), (20, 0)])
def test_lookback_crosses_from_messages_into_system(blocks: int, read: int):
    cache = simulator()
    system = [text(300, "rules")]
    cache.send(
        {"model": MODEL, "system": [{**system[0], "cache_control": MARK}], "messages": [user("x")]}
    )
    assert reads(cache, {**numbered(blocks, blocks), "system": system}) == read


@pytest.mark.parametrize(
    ("reading", "behind", "read"),
    [
        ("per_tool", 18, 400),
        ("per_tool", 19, 0),
        ("one_position", 19, 400),
        ("one_position", 20, 0),
        ("never", 1, 0),
    ],
)
def test_lookback_into_tools_is_a_switch(reading: str, behind: int, read: int):
    """Two marked tools and one behind them; then nothing but a breakpoint at the end."""
    cache = simulator(lookback_into_tools=reading)
    tools = [tool("a"), tool("b")]
    marked = [tools[0], {**tools[1], "cache_control": MARK}]
    cache.send({"model": MODEL, "tools": marked, "messages": [user("x")]})
    request = {**numbered(behind, behind), "tools": [*tools, tool("c")]}
    assert reads(cache, request) == read


def test_a_run_may_span_messages_of_one_role():
    cache = simulator()
    cache.send(numbered(10, 10))
    messages = [user(*(text(100, f"block {number}") for number in range(1, 11)))]
    messages += [assistant(call(number)) for number in range(30)]
    messages += [user(result(number)) for number in range(30)]
    messages[-1]["content"][0]["cache_control"] = MARK
    assert reads(cache, {"model": MODEL, "messages": messages}) == 1000


# ── lifetimes ──


def test_a_read_refreshes_for_nothing():
    clock = Clock()
    cache = simulator(clock)
    cache.send(base())
    for _ in range(5):
        clock.now += 299
        assert figures(cache.send(base())) == (800, 0, 0)
    clock.now += 300
    assert figures(cache.send(base())) == (0, 800, 0)


def test_a_read_refreshes_the_marked_prefixes_too():
    clock = Clock()
    cache = simulator(clock)
    cache.send(base())
    clock.now += 200
    cache.send(base())
    clock.now += 200
    edited = base(messages=[user(text(100, "other", cache_control=MARK))])
    assert figures(cache.send(edited)) == (700, 100, 0)


def test_lifetime_runs_from_the_start_of_the_request():
    clock = Clock()
    cache = simulator(clock)
    pending = cache.begin(base())
    clock.now += 200
    pending.finish()
    clock.now += 100
    assert figures(cache.send(base())) == (0, 800, 0)


def test_mixed_lifetimes_split_the_write():
    cache = simulator()
    hour = base(tools=[tool("a"), tool("b", cache_control=HOUR)])
    creation = cache.send(hour)["cache_creation"]
    assert creation == {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 400}


def test_an_hour_entry_is_read_after_the_five_minutes_are_over_and_the_rest_written_anew():
    clock = Clock()
    cache = simulator(clock)
    hour = base(tools=[tool("a"), tool("b", cache_control=HOUR)])
    cache.send(hour)
    clock.now += 3599
    usage = cache.send(hour)
    assert figures(usage) == (400, 400, 0)
    assert usage["cache_creation"]["ephemeral_1h_input_tokens"] == 0


def test_an_hour_marker_below_the_minimum_writes_nothing_for_an_hour():
    system = [text(50, cache_control=HOUR), text(300, cache_control=MARK)]
    usage = simulator().send({"model": MODEL, "system": system, "messages": [user(text(7))]})
    assert usage["cache_creation"] == {
        "ephemeral_5m_input_tokens": 350,
        "ephemeral_1h_input_tokens": 0,
    }


# ── overlapping requests ──


def test_what_overlaps_all_writes():
    cache = simulator()
    pending = [cache.begin(base()) for _ in range(3)]
    assert [figures(one.finish()) for one in pending] == [(0, 800, 0)] * 3
    assert figures(cache.send(base())) == (800, 0, 0)


def test_the_first_response_makes_the_entry_readable():
    cache = simulator()
    first, second = cache.begin(base()), cache.begin(base())
    first.finish()
    assert figures(cache.send(base())) == (800, 0, 0)
    assert figures(second.finish()) == (0, 800, 0)
    assert second.finish() is second.usage


def test_a_request_whose_response_never_begins_leaves_nothing():
    cache = simulator()
    cache.begin(base())
    assert figures(cache.send(base())) == (0, 800, 0)
