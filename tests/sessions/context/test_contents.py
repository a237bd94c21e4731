from __future__ import annotations

import math

import orjson
import pytest

from ctxlab.cache.estimate import estimate
from ctxlab.sessions import audited
from ctxlab.sessions.context.contents import HEAD, by_origin, context_by_origin, input_per_output
from ctxlab.sessions.context.pieces import pieces
from ctxlab.tokens import count
from tests.cache.requests import assistant, base, call, result, tool, user
from tests.sessions.recorded import recorded, session, used
from tests.sessions.transcript import transcript


def told(table, origin, tool=""):
    rows = table[(table.origin == origin) & (table.tool == tool)]
    return rows.blocks.sum(), rows.tokens.sum()


def test_a_transcript_by_its_blocks_and_the_head_by_what_they_leave(tmp_path):
    large = "a line of output\n" * 500
    recording = transcript(tmp_path, large)
    table = context_by_origin(recording)
    assert told(table, "tool results", "Read") == (1, count(large))
    assert told(table, "tool results", "Bash") == (1, 1)
    assert told(table, "user") == (2, count("please look") + count("thanks"))
    assert told(table, HEAD) == (1, 5003 - count("please look"))
    assert table[table.inferred].origin.to_list() == [HEAD]
    assert table.share.sum() == pytest.approx(1)
    assert table.tokens.is_monotonic_decreasing


def test_pieces_go_with_the_request_that_first_carried_them(tmp_path):
    found = [
        (piece.origin, piece.tool, piece.request) for piece in pieces(transcript(tmp_path, "x"))
    ]
    assert found == [
        ("user", "", 0),
        ("assistant", "", 1), ("assistant", "", 1), ("assistant", "", 1),
        ("tool results", "Read", 1), ("tool results", "Bash", 1),
        ("assistant", "", 2), ("user", "", 2),
    ]  # fmt: skip


def test_a_row_with_strange_agents_costs_nothing(tmp_path):
    recording = transcript(tmp_path, "x")
    (path,) = recording.paths
    whole = len(list(pieces(recording)))
    with path.open("ab") as file:
        for number, value in enumerate(([], {}, 7)):
            row = {"type": "user", "uuid": f"new{number}", "isSidechain": value, "agentId": value}
            file.write(orjson.dumps(row) + b"\n")
    assert len(list(pieces(recording))) == whole


def test_a_subagent_has_a_head_of_its_own(tmp_path):
    rows = audited(session(used(write=800), used(write=500, at=1, stream="agent-1")))
    piece = next(pieces(transcript(tmp_path, "x")))
    shares = by_origin([piece], rows, headless=True)
    assert [(one.origin, one.blocks, one.tokens) for one in shares if one.inferred] == [
        (HEAD, 2, 1300 - count("please look"))
    ]


def test_bodies_are_counted_exactly_and_once(tmp_path):
    first = base()
    turns = [*first["messages"], assistant(call(1)), user(result(1))]
    second = base(messages=turns, system=[{"type": "text", "text": "another"}])
    deferred = [*second["tools"], tool("c", defer_loading=True)]
    bodies = [(0, first), (9, second), (18, {**second, "tools": deferred})]
    table = context_by_origin(recorded(tmp_path, bodies))
    assert told(table, "tools") == (2, estimate(tool("a")) + estimate(tool("b")))
    assert told(table, "system")[0] == 2
    assert told(table, "tool results", "a") == (1, 1)
    assert told(table, "user")[0] == told(table, "assistant")[0] == 1
    assert not table.inferred.any()


def test_where_nothing_was_recorded_there_are_no_rows():
    assert len(context_by_origin(session(used(write=800)))) == 0


def test_blocks_of_no_known_shape_are_counted_as_they_are(tmp_path):
    strange = [{"type": "text"}, {"type": 3, "content": {"a": 1}}, {"type": "tool_result"}, {}]
    body = {"model": "claude-opus-5", "messages": [{"role": "user", "content": strange}, 7]}
    told = recorded(tmp_path, [(0, base())])
    (tmp_path / "log.jsonl").write_bytes(
        orjson.dumps({"request": body}).ljust(told.exchanges[0].lines[0].length)
    )
    assert context_by_origin(told).blocks.sum() == 4


def test_input_per_output():
    rows = audited(session(used(write=800, output=8), used(800, 0, 3, at=1, output=2)))
    assert input_per_output(rows) == (800 + 803) / 10
    assert math.isnan(input_per_output([]))


def test_bodies_in_the_form_of_openai(tmp_path):
    function = {"name": "look", "arguments": '{"at": 1}'}
    body = {
        "model": "gpt-5.5",
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
        "messages": [
            {"role": "developer", "content": "You help."},
            {"role": "user", "content": "hello"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "what was seen"},
        ],
    }
    told_ = recorded(tmp_path, [(0, base())])
    (tmp_path / "log.jsonl").write_bytes(
        orjson.dumps({"request": body}).ljust(told_.exchanges[0].lines[0].length)
    )
    table = context_by_origin(told_)
    assert told(table, "tool results", "look") == (1, count("what was seen"))
    assert set(table.origin) == {"system", "tools", "user", "assistant", "tool results"}
