import json

import orjson
import pytest

from ctxlab import InputError, read_sessions
from ctxlab.sessions.reading import elsewhere, lines, requests, results
from tests.sessions.transcripts import answer, reasons, totals, usage, user, write


def body(*texts, system="be brief", tools=(), model="claude-opus-5", **fields):
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"model": model, "system": system, "tools": list(tools), "messages": messages, **fields}


def recorded(request, number=1, **fields):
    """A line as the recorder writes it."""
    answered = {"id": f"msg_{number}", "model": request.get("model"), "usage": usage(number)}
    return {
        "schema": 1, "time": 1_764_500_000.5 + number, "seconds": 1.5, "path": "/v1/messages",
        "status": 200, "request": request, "response": answered, "request_id": f"req_{number}",
        "tools_fingerprint": "0123456789abcdef", **fields,
    }  # fmt: skip


def one(path):
    [session] = read_sessions(path)
    return session


def streams(tmp_path, *bodies):
    session = one(write(tmp_path / "log.jsonl", *bodies))
    return [exchange.stream for exchange in session.exchanges]


def test_recorded_lines_have_body_time_and_what_was_answered(tmp_path):
    path = write(
        tmp_path / "log.jsonl",
        recorded(body("a"), 1),
        recorded(body("a", "b", "c"), 2, agent="scout"),
        recorded(body("a"), 3, path="/v1/messages/count_tokens"),
        recorded(body("a"), 4, status=529, response=None, error={"type": "overloaded_error"}),
        recorded(body("a"), 1),
        b"[]\n",
    )
    session = one(path)
    first, second = session.exchanges
    assert (session.kind, session.id, totals([session])[0]) == ("requests", "log", 3)
    assert (first.time, first.message_id, first.request_id) == (1_764_500_001.5, "msg_1", "req_1")
    assert first.tools_fingerprint == "0123456789abcdef"
    assert first.body() == body("a")
    assert (first.stream, second.stream) == ("main", "scout")
    assert reasons(session) == {
        requests.COUNTED: 1, requests.FAILED: 1, requests.REPEATED: 1, lines.NO_OBJECT: 1,
    }  # fmt: skip


def test_bare_bodies_need_no_answer(tmp_path):
    path = write(tmp_path / "log.jsonl", body("a"), {**body("a", "b", "c"), "usage": usage(7)})
    first, second = one(path).exchanges
    assert (first.usage, first.time, first.has_body) == ({}, None, True)
    assert second.usage["input_tokens"] == 7


@pytest.mark.parametrize(
    "told",
    [
        {"timestamp": "2026-11-30T12:00:00Z"},
        {"timestamp": "2026-11-30T13:00:00+01:00"},
        {"time": 1_796_040_000},
        {"created": 1_796_040_000_000},
        {"response": {"created": 1_796_040_000, "usage": usage()}},
    ],
)
def test_times_are_read_in_their_usual_spellings(tmp_path, told):
    [exchange] = one(write(tmp_path / "log.jsonl", {**body("a"), **told})).exchanges
    assert exchange.time == 1_796_040_000


@pytest.mark.parametrize(
    "used",
    [
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "total_tokens": 105,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
        {
            "input_tokens": 100,
            "output_tokens": 5,
            "total_tokens": 105,
            "input_tokens_details": {"cached_tokens": 64},
        },
    ],
)
def test_cached_tokens_of_other_apis_are_read_tokens(tmp_path, used):
    line = {"object": "chat.completion", "id": "chatcmpl-1", "model": "gpt-5.5", "usage": used}
    session = one(write(tmp_path / "log.jsonl", line))
    assert totals([session]) == [36, 0, 64, 5]
    assert session.skipped == ()


def test_parallel_agents_in_one_log_are_told_apart(tmp_path):
    assert streams(
        tmp_path,
        body("do it"),
        body("find a", system="you search"),
        body("find b", system="you search"),
        body("find a", "x", "y", system="you search"),
        body("do it", "p", "q"),
        body("find b", "z", "y", system="you search"),
    ) == ["main", "conversation-2", "conversation-3", "conversation-2", "main", "conversation-3"]


@pytest.mark.parametrize(
    "after",
    [
        body("a", "b", "c", system="be brief; it is noon"),
        body("a", "b", "c", tools=[{"name": "t"}]),
        body("a", "b", "c", "d", "e", system="else", tools=[{"name": "t"}]),
        body("A", "b", "c", "d", "e"),
        body("a", "b"),
    ],
)
def test_a_broken_prefix_stays_in_its_conversation(tmp_path, after):
    assert streams(tmp_path, body("a", "b", "c"), after) == ["main", "main"]


def test_a_cache_marker_that_moves_on_is_no_new_conversation(tmp_path):
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    assert streams(tmp_path, body(marked), body("a", "b", "c")) == ["main", "main"]


def test_a_switch_of_models_follows(tmp_path):
    bodies = body("a"), body("a", "b", "c", model="claude-haiku-4-5")
    first, second = one(write(tmp_path / "log.jsonl", *bodies)).exchanges
    assert (first.stream, second.stream) == ("main/claude-opus-5", "main/claude-haiku-4-5")
    assert second.follows == first.stream


def result(session="s1", used=None, **fields):
    return {
        "type": "result", "subtype": "success", "session_id": session, "uuid": f"u-{session}",
        "total_cost_usd": 0.25, "usage": used or usage(4, 5, 6, 7), **fields,
    }  # fmt: skip


def streamed(id_="m1", session="s1", **fields):
    entry = answer(id_, **fields)
    return {"type": "assistant", "message": entry["message"], "session_id": session}


FORMS = {
    "one object": lambda *entries: orjson.dumps(entries[-1]),
    "over several lines": lambda *entries: orjson.dumps(entries[-1], option=orjson.OPT_INDENT_2),
    "a list": lambda *entries: orjson.dumps(entries),
    "a list over several lines": lambda *entries: orjson.dumps(entries, option=orjson.OPT_INDENT_2),
    "a line each": lambda *entries: b"\n".join(orjson.dumps(each) for each in entries),
    "with a mark": lambda *entries: b"\xef\xbb\xbf" + orjson.dumps(entries[-1]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_run_counts_by_its_result_or_by_its_messages_never_by_both(tmp_path, form):
    used = {"claude-haiku-4-5": {"inputTokens": 1}, "claude-opus-5[1m]": {"inputTokens": 9}}
    entries = (
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "claude-opus-5"},
        streamed("m1"),
        streamed("m1"),
        result(modelUsage=used),
    )
    path = write(tmp_path / "run.json", FORMS[form](*entries))
    session = one(path)
    assert (session.kind, session.id) == ("usage", "s1")
    assert totals([session]) == [4, 5, 6, 7]
    [exchange] = session.exchanges
    assert (exchange.model, exchange.reported_usd) == ("claude-opus-5", 0.25)
    assert exchange.lines[0].read()


def test_a_run_without_its_result_counts_each_message_once(tmp_path):
    entries = streamed("m1", used=usage(1)), streamed("m1", used=usage(1)), streamed("m2")
    assert totals(read_sessions(write(tmp_path / "run.jsonl", *entries)))[0] == 2


def test_runs_one_after_the_other_are_sessions_of_their_own(tmp_path):
    path = write(tmp_path / "runs.jsonl", result("a"), result("b"), result("b"), b'{"type": "resu')
    first, second = read_sessions(path)
    assert totals([first, second]) == [8, 10, 12, 14]
    assert reasons(second) == {results.REPEATED: 1, lines.INCOMPLETE: 1}


def test_only_the_totals_of_the_models(tmp_path):
    used = {"a": {"inputTokens": 1, "cacheReadInputTokens": 2}, "b": {"outputTokens": 3}}
    entry = {**result(modelUsage=used), "usage": None}
    session = one(write(tmp_path / "run.json", entry))
    assert totals([session]) == [1, 0, 2, 3]


def test_a_tree_holds_every_kind(tmp_path):
    write(tmp_path / "a/5f1c.jsonl", user(), answer())
    write(tmp_path / "b/log.jsonl", body("a"))
    write(tmp_path / "c/run.json", result())
    write(tmp_path / "d/other.json", {"name": "other"})
    kinds = [session.kind for session in read_sessions(tmp_path)]
    assert kinds == ["claude-code", "requests", "usage"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "an empty file"),
        (b"\x7fELF\0\0\0\1" * 9, "a binary file"),
        ("{}".encode("utf-16"), "text in UTF-16: save it as UTF-8"),
        (b"hello\n", "no row of it is known"),
        (b'{"name": "x"}\n', "no row of it is known"),
        (b"[" * 100_000, "no row of it is known"),
    ],
)
def test_what_is_something_else_is_refused_in_one_line(tmp_path, content, told):
    path = write(tmp_path / "x.jsonl", content)
    for given in (path, tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError) as refused:
            read_sessions(given)
        assert "give a Claude Code transcript" in str(refused.value)
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=told):
        read_sessions(path)


def told(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answered(id_, time, request_id="", **more):
    usage = {"input_tokens": 3, "output_tokens": 1}
    response = {"id": id_, "model": "claude-opus-5", "usage": usage}
    request = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "hi"}]}
    return {"time": time, "request": request, "response": response, "request_id": request_id,
            **more}  # fmt: skip


def test_an_answer_with_a_simulated_id_is_simulated_whoever_recorded_it(tmp_path):
    (session,) = read_sessions(
        told(tmp_path / "forwarder.jsonl", answered("msg_simulated_000000000001", 5.0))
    )
    assert session.basis == "simulated"
    row = {"type": "assistant", "sessionId": "s", "uuid": "u", "timestamp": "2026-11-30T15:00:00Z",
           "message": answered("msg_simulated_ab_000000000001", 5.0)["response"]}  # fmt: skip
    (session,) = read_sessions(told(tmp_path / "transcript.jsonl", row))
    assert session.basis == "simulated"


@pytest.mark.parametrize("made", ["msg_01XFDUDYJgAACzvnptvVoYEL", "msg_simulated_3fa9c1d2_001"])
def test_two_logs_of_the_same_exchanges_count_once(tmp_path, made):
    told(tmp_path / "forwarder.jsonl", answered(made, 5.0, "req_1"), answered("msg_own", 6.0))
    told(tmp_path / "upstream.jsonl", answered(made, 5.2, "req_1"))
    told(tmp_path / "copy.jsonl", answered(made, 5.0, "req_1"))
    sessions = read_sessions(tmp_path)
    assert sum(len(each.exchanges) for each in sessions) == 2
    assert sum(skip.count for each in sessions for skip in each.skipped) == 2
    assert {skip.reason for each in sessions for skip in each.skipped} == {elsewhere.COPIED}


def test_ids_that_begin_anew_are_told_apart_by_their_times(tmp_path):
    told(tmp_path / "one.jsonl", answered("msg_simulated_000000000001", 5.0))
    told(tmp_path / "two.jsonl", answered("msg_simulated_000000000001", 5.2))
    told(tmp_path / "copy.jsonl", answered("msg_simulated_000000000001", 5.0))
    told(tmp_path / "later.jsonl", answered("msg_made", 5.0), answered("msg_made", 500.0))
    told(tmp_path / "other.jsonl", answered("msg_made", 900.0))
    assert sum(len(each.exchanges) for each in read_sessions(tmp_path)) == 5
