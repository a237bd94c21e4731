"""Known answers: facts `prompt-cache` §7 row by row, and what usage alone must tell."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxlab
from ctxlab.errors import UsageError
from ctxlab.sessions import Exchange, audit, audited, replay
from ctxlab.sessions.auditing import advising
from ctxlab.sessions.auditing.verdict import Cause, Verdict
from tests.cache.requests import (
    HOUR,
    MARK,
    assistant,
    base,
    call,
    one_marker,
    result,
    text,
    tool,
    user,
)
from tests.sessions.recorded import START, recorded, session, used

COLUMNS = [
    "time", "gap_s", "model", "read", "written_5m", "written_1h", "uncached", "output", "usd",
    "broke", "cause", "tool", "pointer", "inferred",
]  # fmt: skip


def swapped(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"y": {"type": "integer"}, "x": {"type": "string"}}}
    return tool(name, **more) | {"input_schema": schema}


def dated(day: int) -> list[dict[str, Any]]:
    return [text(300, f"rules of day {day}", cache_control=MARK)]


def stretched(*turns: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = [text(100, f"block {number}") for number in range(10)]
    marked = [*blocks[:9], {**blocks[9], "cache_control": MARK}]
    return [
        {"model": "claude-opus-5", "messages": [user(*marked)]},
        {"model": "claude-opus-5", "messages": [user(*blocks), *turns]},
    ]


def sequential(pairs: int) -> list[dict[str, Any]]:
    turns = [
        turn for number in range(pairs) for turn in (assistant(call(number)), user(result(number)))
    ]
    turns[-1]["content"][-1]["cache_control"] = MARK
    return turns


def parallel(calls: int) -> list[dict[str, Any]]:
    results = [result(number) for number in range(calls)]
    results[-1]["cache_control"] = MARK
    return [assistant(*(call(number) for number in range(calls))), user(*results)]


def small() -> dict[str, Any]:
    return {"model": "claude-opus-5", "messages": [user(text(99, cache_control=MARK))]}


def stable_and_date(day: int, marked: str) -> dict[str, Any]:
    stable, date = text(300, "stable"), text(20, f"day {day}")
    {"stable": stable, "date": date}[marked]["cache_control"] = MARK
    return {"model": "claude-opus-5", "system": [stable, date], "messages": [user(text(100))]}


HOURLY = base(
    tools=[tool("a"), tool("b", cache_control=HOUR)], system=[text(300, cache_control=HOUR)]
)
# Row of facts §7 → first request, second request, seconds between them, cause, tool, pointer.
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any], float, str, str, str]] = {
    "0 identical": (base(), base(), 10, "", "", ""),
    "1 tools turned round": (
        base(), base(tools=[tool("b"), tool("a", cache_control=MARK)]), 10,
        "tools", "b", "/tools/0",
    ),
    "1 keys swapped": (
        base(), base(tools=[swapped("a"), tool("b", cache_control=MARK)]), 10,
        "tools", "a", "/tools/0/input_schema/properties",
    ),
    "2 timestamp": (
        base(system=dated(1)), base(system=dated(2)), 10, "system", "", "/system/0/text",
    ),
    "2 only a last marker": (
        one_marker(system=[text(300, "1")]), one_marker(system=[text(300, "2")]), 10,
        "system", "", "/system/0/text",
    ),
    "3 MCP reconnect": (
        base(tools=[tool("mcp__s__a"), tool("b", cache_control=MARK)]),
        base(tools=[tool("b"), tool("mcp__s__a", cache_control=MARK)]), 10,
        "tools", "b", "/tools/0",
    ),
    "4 ten pairs": (*stretched(*sequential(10)), 10, "lookback", "", ""),  # type: ignore[dict-item]
    "4 nine pairs": (*stretched(*sequential(9)), 10, "", "", ""),  # type: ignore[dict-item]
    "4 eighteen parallel": (*stretched(*parallel(18)), 10, "", "", ""),  # type: ignore[dict-item]
    "5 forced tool_choice": (
        base(), base(tool_choice={"type": "tool", "name": "a"}), 10, "messages", "", "/tool_choice",
    ),
    "6 model": (base(), base(model="claude-sonnet-4-6"), 10, "model", "", "/model"),
    "7 below the minimum": (small(), small(), 10, "below minimum", "", ""),
    "11 TTL": (base(), base(), 400, "TTL expired", "", ""),
    "11 TTL, head at 1h": (HOURLY, HOURLY, 400, "TTL expired", "", ""),
    "12 deferred tool appended": (
        base(), base(tools=[*base()["tools"], tool("c", defer_loading=True)]), 10, "", "", "",
    ),
    "13 date behind the stable part": (
        stable_and_date(1, "date"), stable_and_date(2, "date"), 10, "system", "", "/system/1/text",
    ),
    "13 marked before the date": (
        stable_and_date(1, "stable"), stable_and_date(2, "stable"), 10, "", "", "",
    ),
    "14 first user block edited": (
        base(), base(messages=[user(text(100, "other", cache_control=MARK))]), 10,
        "messages", "", "/messages/0/content/0/text",
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_known_breakages_with_bodies(tmp_path, row):
    first, second, after, cause, name, pointer = row
    told = audit(recorded(tmp_path, [(0, first), (after, second)]))
    found = told.iloc[1]
    assert (found.cause, found.tool, found.pointer) == (cause, name, pointer)
    assert found.broke == bool(cause)
    assert not found.inferred
    assert not told.iloc[0].broke


# Rows 8, 9, 10 and 12 (a marker on a deferred tool) are 400s: no request, no usage, no row.


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "messages"),
        ({"speed": "fast"}, "system"),
    ],
)
def test_parameters_lose_what_the_table_says(tmp_path, change, cause):
    rows = audited(recorded(tmp_path, [(0, base()), (10, base(**change))]))
    (parameter,) = change
    assert (rows[1].cause, rows[1].verdict.pointer) == (cause, f"/{parameter}")


def test_an_image_that_comes_loses_the_messages(tmp_path):
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    image = {"type": "image", "source": source}
    more = [*base()["messages"], assistant("ok"), user(image, text(10, "see", cache_control=MARK))]
    rows = audited(recorded(tmp_path, [(0, base()), (10, base(messages=more))]))
    assert (rows[1].cause, rows[1].verdict.pointer) == ("messages", "/messages/2/content/0")


def test_a_table_has_exactly_these_columns_and_types():
    told = audit(session(used(write=800), used(at=None), replace(used(), usage={})))
    assert list(told.columns) == COLUMNS
    assert str(told.time.dtype).startswith("datetime64[")
    assert str(told.time.dt.tz) == "UTC"
    assert {str(told[name].dtype) for name in COLUMNS[3:8]} == {"Int64"}
    assert (str(told.broke.dtype), str(told.inferred.dtype)) == ("bool", "bool")
    assert list(audit(session()).columns) == COLUMNS


def test_times_are_utc():
    told = audit(session(used(write=800)))
    assert told.time[0] == pd.Timestamp("2026-11-30T15:00:00Z")


@pytest.mark.parametrize(
    ("seconds", "cause"), [(299, "unknown"), (300, "TTL expired"), (301, "TTL expired")]
)
def test_five_minutes(seconds, cause):
    told = audited(session(used(write=800), used(write=801, at=seconds)))[1]
    assert told.cause == cause
    assert told.verdict.inferred


@pytest.mark.parametrize(
    ("seconds", "cause"), [(3599, "unknown"), (3600, "TTL expired"), (3601, "TTL expired")]
)
def test_one_hour(seconds, cause):
    assert audited(session(used(hour=800), used(hour=801, at=seconds)))[1].cause == cause


@pytest.mark.parametrize(("seconds", "reads"), [(299, 800), (300, 0), (301, 0)])
def test_the_simulator_agrees_on_five_minutes(tmp_path, seconds, reads):
    told = audit(recorded(tmp_path, [(0, base()), (seconds, base())])).iloc[1]
    assert told["read"] == reads
    assert told.cause == ("" if reads else "TTL expired")


def test_what_was_written_for_an_hour_outlives_the_rest():
    first = used(hour=700, write=100)
    kept, lost = used(700, write=150, at=400), used(400, write=450, at=400)
    assert audited(session(first, kept))[1].cause == "TTL expired"
    assert audited(session(first, lost))[1].cause != "TTL expired"


def test_a_read_refreshes_the_lifetime():
    times = [0, 250, 500, 750]
    requests = [used(write=800), *(used(800, at=at) for at in times[1:])]
    assert not any(row.broke for row in audited(session(*requests)))


def test_identical_requests_sent_at_once_all_write(tmp_path):
    bodies = [(number * 0.1, base()) for number in range(5)]
    for with_bodies in (True, False):
        told = recorded(tmp_path, bodies, at_once=True, with_bodies=with_bodies)
        assert [exchange.usage["cache_creation_input_tokens"] for exchange in told.exchanges] == [
            800
        ] * 5
        assert not audit(told).broke.any()


def test_the_same_counts_with_other_tools_are_a_break_however_close(tmp_path):
    other = base(tools=[tool("b"), tool("a", cache_control=MARK)])
    assert audit(recorded(tmp_path, [(0, base()), (0.1, other)])).cause[1] == "tools"


def test_what_follows_requests_sent_at_once_is_held_against_them():
    burst = [used(write=800, at=at) for at in (0, 1, 2)]
    rows = audited(session(*burst, used(800, write=50, at=10), used(write=900, at=20)))
    assert [row.broke for row in rows] == [False] * 4 + [True]
    assert rows[4].expected == 850


def test_streams_are_judged_each_for_itself():
    requests = [
        used(write=800, at=0),
        used(write=300, at=1, stream="agent-1"),
        used(800, write=50, at=2),
        used(300, write=20, at=3, stream="agent-1"),
        used(write=500, at=4, stream="agent-2"),
    ]
    told = audit(session(*requests))
    assert not told.broke.any()
    assert told.gap_s.isna().to_list() == [True, True, False, False, True]
    assert told.gap_s[3] == 2.0


def test_a_stream_that_carries_on_another_under_another_model_is_a_switch():
    requests = [
        used(write=800),
        used(write=850, at=10, stream="main sonnet", model="claude-sonnet-5", follows="main"),
        used(850, write=40, at=20, stream="main sonnet", model="claude-sonnet-5"),
        used(800, write=90, at=30),
    ]
    rows = audited(session(*requests))
    assert [row.cause for row in rows] == ["", "model", "", ""]
    assert (rows[1].expected, rows[1].lost, rows[1].gap_s) == (800, 800, None)
    assert not rows[1].verdict.inferred


def test_a_recorded_compaction_is_not_inferred():
    rows = audited(session(used(write=9000), used(700, write=500, at=9, compacted=True)))
    assert (rows[1].cause, rows[1].verdict.inferred) == ("compaction", False)


def test_a_context_that_shrinks_sharply_was_compacted():
    rows = audited(session(used(write=9000), used(700, write=500, at=9)))
    assert (rows[1].cause, rows[1].verdict.inferred) == ("compaction", True)


def test_a_history_that_was_replaced_is_a_compaction_with_its_place(tmp_path):
    turns = [turn for n in range(20) for turn in (user(text(100, f"q{n}")), assistant(f"100 a{n}"))]
    long = base(messages=[*turns, user(text(100, "last", cache_control=MARK))])
    short = base(messages=[user(text(100, "summary", cache_control=MARK))])
    row = audit(recorded(tmp_path, [(0, long), (10, short)])).iloc[1]
    assert (row.cause, row.pointer, row.inferred) == (
        "compaction", "/messages/0/content/0/text", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("read", "cause"), [(0, "tools"), (400, "system"), (700, "messages"), (800, "messages")]
)
def test_levels_that_were_seen_tell_what_was_lost(read, cause):
    """Tools end at 400, system at 700, the first message at 800; the stream found 700."""
    requests = [used(700, 100), used(800, 50, at=10), used(read, 900 - read, at=20)]
    row = audited(session(*requests))[2]
    assert (row.cause, row.verdict.inferred) == (cause, True)


def test_a_level_that_nobody_saw_tells_nothing():
    assert audited(session(used(write=800), used(400, 450, at=10)))[1].cause == "unknown"


def test_below_the_minimum_from_usage_alone():
    row = audited(session(used(write=800), used(uncached=300, at=10)))[1]
    assert (row.cause, row.verdict.inferred) == ("below minimum", True)


@pytest.mark.parametrize(
    ("reason", "cause", "inferred"),
    [
        ("tools_changed", "tools", False),
        ("system_changed", "system", False),
        ("messages_changed", "messages", False),
        ("model_changed", "model", False),
        ("unavailable", "messages", True),
        ("previous_message_not_found", "unknown", True),
    ],
)
def test_the_api_s_own_diagnosis_is_evidence(reason, cause, inferred):
    told = {"cache_miss_reason": {"type": reason, "cache_missed_input_tokens": 400}}
    row = audited(session(used(write=800), used(400, 450, at=9, diagnostics=told)))[1]
    assert (row.cause, row.verdict.inferred) == (cause, inferred)


def test_a_diagnosis_stands_where_the_bodies_say_nothing(tmp_path):
    told = recorded(tmp_path, [(0, base()), (100, base())], with_bodies=True)
    reason = {"cache_miss_reason": {"type": "tools_changed"}}
    first, second = told.exchanges
    fallen = {**first.usage}
    odd = replace(second, usage=fallen, diagnostics=reason)
    row = audited(replace(told, exchanges=(first, odd)))[1]
    assert (row.cause, row.verdict.pointer) == ("tools", "/tools")
    plain = audited(replace(told, exchanges=(first, replace(second, usage=fallen))))[1]
    assert (plain.cause, plain.verdict.inferred) == ("unknown", False)


def test_two_fingerprints_explain_a_drop_to_zero():
    first = used(write=800, tools_fingerprint="e9645932b17d6a64")
    second = used(write=850, at=9, tools_fingerprint="fbb2335d5aea35d5")
    row = audited(session(first, second))[1]
    assert (row.cause, row.verdict.pointer, row.verdict.inferred) == ("tools", "/tools", False)


def test_an_edit_after_a_pause_that_outlived_everything_is_the_pause(tmp_path):
    other = base(messages=[user(text(100, "other", cache_control=MARK))])
    row = audited(recorded(tmp_path, [(0, base()), (400, other)]))[1]
    assert row.cause == "TTL expired"
    assert row.note.startswith("Messages changed too, at /")
    assert row.note.endswith("each read refreshes it.")


def test_a_dropped_marker_is_told(tmp_path):
    plain = one_marker(messages=[user(text(100, "question"))])
    row = audited(recorded(tmp_path, [(0, base()), (10, plain)]))[1]
    assert (row.cause, row.lost) == ("lookback", 800)


def test_lost_tokens_and_money():
    rows = audited(session(used(write=100_000), used(write=101_000, at=10, output=10)))
    row = rows[1]
    assert (row.lost, row.avoided and row.avoided.read) == (100_000, 100_000)
    # Opus 5: 5 USD a million, 1.25× to write, 0.1× to read.
    assert row.usd_lost == pytest.approx(0.1 * 5 * (1.25 - 0.1))
    assert rows[0].usd_lost == 0


def test_nothing_can_be_read_of_what_was_not_sent():
    row = audited(session(used(write=9000), used(write=500, at=9)))[1]
    assert row.lost == 500


def test_an_unknown_model_costs_nobody_knows_what():
    rows = audited(session(used(write=800, model="my-own"), used(write=900, at=9, model="my-own")))
    assert all(math.isnan(row.usd) for row in rows)
    assert rows[1].broke
    assert math.isnan(rows[1].usd_lost)
    assert rows[0].note.startswith("No price: ")


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"input_tokens": None},
        {"input_tokens": "many"},
        {"input_tokens": -3, "cache_creation": "all"},
        {"input_tokens": 5, "cache_creation": {"ephemeral_5m_input_tokens": 7}},
        {"input_tokens": 5, "iterations": [3]},
        {"input_tokens": 5, "server_tool_use": [1]},
        {"a_new_key": 5, "input_tokens": 5},
    ],
)
def test_whatever_usage_was_recorded_never_an_exception(usage):
    odd = Exchange(START, "claude-opus-5", usage, "main")
    told = audit(session(used(write=800), odd, used(800, write=10, at=20)))
    assert len(told) == 3
    assert not told.broke[2]


@pytest.mark.parametrize("time", [math.inf, 1e30, -1e30])
def test_times_that_no_calendar_has(time):
    odd = replace(used(), time=time)
    assert math.isnan(audited(session(odd))[0].usd)
    assert audit(session(odd)).time.isna().all()


def test_what_the_log_says_it_cost_stands_in_where_no_price_is_known():
    rows = audited(session(used(write=8, model="my-own", reported_usd=0.5)))
    assert (rows[0].usd, rows[0].note) == (0.5, "The cost is what the log says.")
    assert audited(session(used(write=8, reported_usd=0.5)))[0].usd < 0.5


def test_totals_of_runs_are_not_held_against_each_other():
    runs = replace(session(used(800, write=900), used(0, write=500, at=9)), kind="usage")
    assert not audit(runs).broke.any()


def test_missing_usage_and_missing_times():
    requests = [used(write=800, at=None), replace(used(at=None), usage={}), used(800, 50, at=None)]
    told = audit(session(*requests))
    assert told.gap_s.isna().all()
    assert told.time.isna().all()
    assert told["read"].isna().to_list() == [False, True, False]
    assert not told.broke.any()


def test_requests_out_of_order_are_put_in_order():
    requests = [used(800, 50, at=10), used(write=800, at=0), used(850, 20, at=20)]
    told = audit(session(*requests))
    assert not told.broke.any()
    assert told.gap_s.to_list()[1:] == [10.0, 10.0]


def test_openai_reads_in_steps_and_writes_unseen():
    def openai(read, uncached, at):
        return used(read, 0, uncached, at, model="gpt-5.5")

    steady = [openai(0, 1500, 0), openai(1408, 300, 10), openai(1664, 200, 20)]
    assert not any(row.broke for row in audited(session(*steady)))
    slack = audited(session(*steady, openai(1600, 400, 30)))
    assert not slack[3].broke
    fallen = audited(session(*steady, openai(0, 2000, 30)))[3]
    assert (fallen.broke, fallen.expected, fallen.verdict.inferred) == (True, 1664, True)
    assert fallen.usd_lost > 0


def test_bodies_without_usage_tell_what_changed(tmp_path):
    big = {**text(1, "word " * 900), "cache_control": MARK}
    first, second = base(system=[big]), base(system=[{**big, "text": "other"}])
    told = recorded(tmp_path, [(0, first), (10, first), (20, second)])
    bare = replace(told, exchanges=tuple(replace(one, usage={}) for one in told.exchanges))
    table = audit(bare)
    assert table.cause.to_list() == ["", "", "system"]
    assert table.pointer[2] == "/system/0/text"
    assert table.usd.isna().all()


def test_a_log_that_is_gone_or_of_another_api_is_judged_by_usage(tmp_path):
    told = recorded(tmp_path, [(0, base()), (400, base())])
    assert audit(told).inferred[1] == False  # noqa: E712  numpy's own
    (tmp_path / "log.jsonl").write_bytes(b"x" * 10)
    table = audit(told)
    assert (table.cause[1], bool(table.inferred[1])) == ("TTL expired", True)
    (tmp_path / "log.jsonl").unlink()
    assert audit(told).cause[1] == "TTL expired"


def test_old_parameters_do_not_hide_a_change(tmp_path):
    first, second = base(), base(system=dated(2))
    told = recorded(tmp_path, [(0, first), (10, second)])
    log = tmp_path / "log.jsonl"
    raw = log.read_bytes().replace(b'"max_tokens":16', b'"temperature":1')
    log.write_bytes(raw)
    assert audit(told).cause[1] == "system"


GROWTH = st.lists(
    st.tuples(st.integers(1, 5000), st.integers(0, 50), st.floats(0, 299), st.sampled_from("abc")),
    min_size=1,
    max_size=30,
)


def grown(growth) -> list[Exchange]:
    """Streams that only append, each request within five minutes of the one before it."""
    reach: dict[str, int] = {}
    times: dict[str, float] = {}
    requests = []
    for written, uncached, gap, stream in growth:
        times[stream] = times.get(stream, 0.0) + gap
        requests.append(used(reach.get(stream, 0), written, uncached, times[stream], stream=stream))
        reach[stream] = reach.get(stream, 0) + written
    return requests


@given(GROWTH)
def test_an_unbroken_session_shows_no_break(growth):
    rows = audited(session(*grown(growth)))
    assert not any(row.broke for row in rows)
    assert sum(row.usd_lost for row in rows) == 0


@settings(max_examples=50)
@given(GROWTH.filter(lambda growth: len(growth) > 1), st.data())
def test_a_planted_fall_is_found_at_its_place(growth, data):
    requests = grown([(*row[:3], "a") for row in growth])
    place = data.draw(st.integers(1, len(requests) - 1))
    usage = requests[place].usage
    read = data.draw(st.integers(0, usage["cache_read_input_tokens"] - 1))
    fallen = used(
        read,
        usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"] - read,
        at=requests[place].time - START + 31,  # no parallel request
        stream="a",
    )
    later = [replace(one, time=one.time + 31) for one in requests[place + 1 :]]
    rows = audited(session(*requests[:place], fallen, *later))
    assert [number for number, row in enumerate(rows) if row.broke] == [place]
    assert rows[place].lost == usage["cache_read_input_tokens"] - read


PLANTS = {
    "tools": lambda body: body["tools"][0].update(description="edited"),
    "system": lambda body: body["system"][0].update(text="300 edited"),
    "messages": lambda body: body["messages"][0]["content"][0].update(text="100 edited"),
}


@settings(max_examples=25)
@given(st.integers(2, 6), st.data())
def test_a_planted_change_is_named_at_its_place(tmp_path_factory, length, data):
    place = data.draw(st.integers(1, length - 1))
    cause = data.draw(st.sampled_from(sorted(PLANTS)))
    messages, bodies = [], []
    for number in range(length):
        messages = [*messages, user(text(100, f"q{number}"))]
        body = base(messages=messages, cache_control=MARK)
        if number >= place:
            PLANTS[cause](body)
        bodies.append((number * 10.0, body))
        messages = [*messages, assistant(f"50 a{number}")]
    told = audit(recorded(tmp_path_factory.mktemp("log"), bodies))
    assert told.cause.to_list() == ["" if number != place else cause for number in range(length)]


def test_every_cause_comes_with_advice():
    assert set(get_args(Cause)) - {""} == set(advising.ADVICE)
    for cause, advice in advising.ADVICE.items():
        assert advising.told(Verdict(cause)) == advice
        assert advice[0].isupper()
        assert advice.endswith(".")


def test_what_is_no_session_is_told_what_gives_one(tmp_path):
    for asking in (
        ctxlab.audit, ctxlab.what_if, ctxlab.context_by_origin, ctxlab.large_results, replay,
    ):  # fmt: skip
        for wrong in ("log.jsonl", tmp_path, [session(used(write=800))], None):
            with pytest.raises(UsageError, match=r"read_sessions\(path\) gives a list of them"):
                asking(wrong)


def test_home_is_a_path(tmp_path, monkeypatch):
    recorded(tmp_path, [(0, base())])
    monkeypatch.setenv("HOME", str(tmp_path))
    (log,) = tmp_path.glob("*.jsonl")
    assert ctxlab.read_sessions(f"~/{log.name}")
