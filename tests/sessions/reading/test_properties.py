"""Whatever stands in a line, the rest is read; however rows repeat, each request counts once."""

import random
from contextlib import suppress

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab import CtxlabError, cost, read_sessions
from ctxlab.prices.usage import read_usage
from ctxlab.sessions.reading import scanning
from ctxlab.sessions.reading.blocks import transcript_blocks
from ctxlab.sessions.reading.usage import normalised
from tests.sessions.transcripts import answer, totals, usage, user, write

EXAMPLES = settings(max_examples=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
KEYS = [
    "type",
    "message",
    "usage",
    "model",
    "id",
    "requestId",
    "timestamp",
    "isSidechain",
    "agentId",
    "uuid",
    "parentUuid",
    "isCompactSummary",
    "toolUseResult",
    "sessionId",
    "session_id",
    "messages",
    "request",
    "response",
    "content",
    "role",
    "input_tokens",
    "output_tokens",
    "cache_creation",
    "cache_creation_input_tokens",
    "prompt_tokens",
    "subtype",
    "ephemeral_5m_input_tokens",
    "ephemeral_1h_input_tokens",
    "cache_read_input_tokens",
    "service_tier",
    "server_tool_use",
    "iterations",
    "prompt_tokens_details",
    "cached_tokens",
    "speed",
    "modelUsage",
    "data",
    "tools",
    "system",
    "path",
    "status",
    "error",
    "agent",
    "time",
    "inputTokens",
]
WORDS = [
    "assistant",
    "user",
    "system",
    "result",
    "progress",
    "compact_boundary",
    "claude-opus-5",
    "m1",
    "standard",
]
known_values = st.recursive(
    st.sampled_from(WORDS) | st.integers(-2, 99) | st.none() | st.booleans() | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
usages = st.dictionaries(st.sampled_from(KEYS), known_values | json_values, max_size=8)


@EXAMPLES
@given(line=st.binary(max_size=80), kind=st.sampled_from(["transcript", "log", "run"]))
def test_no_bytes_in_a_line_stop_a_reading(tmp_path_factory, line, kind):
    good = {
        "transcript": [answer("m1"), answer("m2")],
        "log": [{"model": "m", "messages": [], "usage": usage()}] * 2,
        "run": [{"type": "result", "session_id": name, "usage": usage()} for name in ("s1", "s2")],
    }[kind]
    path = tmp_path_factory.mktemp("bytes") / "log.jsonl"
    sessions = read_sessions(write(path, good[0], line + b"\n", good[1]))
    assert totals(sessions)[0] == 2


@EXAMPLES
@given(values=st.lists(known_values, max_size=8))
def test_no_json_of_a_log_stops_a_reading(tmp_path_factory, values):
    first = answer("first")
    path = write(tmp_path_factory.mktemp("json") / "5f1c.jsonl", first, *map(_dumped, values))
    for session in read_sessions(path):
        for exchange in session.exchanges:
            read_usage(exchange.usage)
        list(transcript_blocks(session))
    for name in ("requests", "usage"):
        start = {"model": "m", "messages": []} if name == "requests" else _result()
        for session in read_sessions(write(path, start, *map(_dumped, values))):
            for exchange in session.exchanges:
                read_usage(exchange.usage)
                exchange.body()


@EXAMPLES
@given(value=known_values)
def test_a_file_of_one_value_is_read_or_refused(tmp_path_factory, value):
    path = write(tmp_path_factory.mktemp("one") / "x.json", _dumped(value))
    with suppress(CtxlabError):
        read_sessions(path)


def _dumped(value):
    return orjson.dumps(value) + b"\n"


def _result():
    return {"type": "result", "session_id": "s", "usage": usage()}


@settings(max_examples=150)
@given(used=usages)
def test_what_is_left_of_a_usage_can_be_priced(used):
    clean, _ = normalised(used)
    read_usage(clean)
    cost("claude-opus-5", clean, "2026-11-30")
    assert normalised(clean) == (clean, ())


@pytest.mark.parametrize(
    ("used", "clean", "words"),
    [
        ({"input_tokens": "9", "output_tokens": 1}, {"output_tokens": 1}, "input_tokens"),
        ({"input_tokens": 9.0}, {"input_tokens": 9}, None),
        ({"input_tokens": 1, "service_tier": "priority"}, {"input_tokens": 1}, "service_tier"),
        ({"input_tokens": 1, "brand_new": 4}, {"input_tokens": 1}, "brand_new"),
        ({"input_tokens": 1, "cache_read_input_tokens": None}, {"input_tokens": 1}, None),
        (
            {"cache_creation_input_tokens": 5, "cache_creation": {"ephemeral_5m_input_tokens": 4}},
            {"cache_creation_input_tokens": 5},
            "cache_creation",
        ),
    ],
)
def test_what_is_left_out_of_a_usage_is_told(used, clean, words):
    told, notes = normalised(used)
    assert told == clean
    assert [note.rsplit(" ", 1)[-1] for note in notes] == ([words] if words else [])


@EXAMPLES
@given(
    outputs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99)), min_size=1, max_size=12),
    seed=st.integers(0, 99),
    named=st.booleans(),
)
def test_the_order_of_repeated_rows_does_not_matter(tmp_path_factory, outputs, seed, named):
    rows = [
        answer(
            f"m{id_}", used=usage(id_, 0, 0, output), request=f"r{id_}" if n % 2 and named else 0
        )
        for n, (id_, output) in enumerate(outputs)
    ]
    random.Random(seed).shuffle(rows)
    folder = tmp_path_factory.mktemp("order")
    write(folder / "5f1c.jsonl", *rows[::2], user())
    write(folder / "fork.jsonl", *rows[1::2], user())
    largest = dict(sorted(outputs))
    assert totals(read_sessions(folder)) == [sum(largest), 0, 0, sum(largest.values())]


def test_parts_and_processes_give_the_same_answer(tmp_path, monkeypatch):
    for name in ("a", "b"):
        rows = [
            row
            for n in range(60)
            for row in (
                answer(f"{name}{n}", second=n),
                user(),
                b"{broken\n",
                b"\n",
                answer(f"{name}{n}"),
            )
        ]
        write(tmp_path / f"{name}.jsonl", *rows)
    whole = read_sessions(tmp_path)
    assert len(whole[0].exchanges) == 60
    for size in (300, 1_000, 7_777):
        monkeypatch.setattr(scanning, "PART", size)
        assert read_sessions(tmp_path) == whole
    monkeypatch.setattr(scanning, "SMALL", 0)
    seen = []
    assert read_sessions(tmp_path, processes=2, progress=lambda *told: seen.append(told)) == whole
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert (seen[0], seen[-1]) == ((0, size), (size, size))
