import pytest

from ctxlab import read_sessions
from ctxlab.sessions.reading import joining, lines, transcripts
from tests.conftest import shared
from tests.sessions.transcripts import answer, reasons, row, totals, usage, user, write


@pytest.mark.shared
def test_a_real_session_counts_every_response_once():
    [session] = read_sessions(shared("transcripts", "claude-code-viewer_1af7.jsonl"))
    assert totals([session]) == [93, 12_698, 103_219, 953]
    assert session.skipped == ()
    assert [len(exchange.lines) for exchange in session.exchanges][:2] == [2, 5]


@pytest.mark.shared
def test_hard_cases_are_counted_with_their_reasons():
    path = shared("transcripts", "claude-code-log_edge_cases.jsonl")
    [session] = read_sessions(path)
    assert totals([session]) == [488, 0, 0, 435]
    assert reasons(session) == {
        lines.NO_OBJECT: 3,
        transcripts.NO_TYPE: 1,
        transcripts.NO_MESSAGE: 1,
    }
    assert session.skipped[0].first == f"{path}:13"


def test_rows_of_one_response_are_one_request_with_the_largest_output(tmp_path):
    used = [usage(3, 10, 20, output) for output in (1, 322, 8)]
    path = write(tmp_path / "5f1c.jsonl", user(), *(answer(used=each) for each in used))
    [session] = read_sessions(path)
    assert totals([session]) == [3, 10, 20, 322]
    [exchange] = session.exchanges
    assert [line.read()["message"]["usage"]["output_tokens"] for line in exchange.lines] == [
        1, 322, 8,
    ]  # fmt: skip


def test_an_id_alone_means_the_request_that_other_rows_name(tmp_path):
    rows = [answer("m", request=None), answer("m", request="req_1"), answer("m", request=None)]
    [session] = read_sessions(write(tmp_path / "5f1c.jsonl", *rows))
    assert totals([session])[0] == 1
    assert session.exchanges[0].request_id == "req_1"


def test_what_only_looks_like_a_request_is_skipped_and_counted(tmp_path):
    path = write(
        tmp_path / "5f1c.jsonl",
        answer("m1"),
        answer("m2", model="<synthetic>"),
        answer("m3", isApiErrorMessage=True),
        answer("m4", used={}),
        answer("", request=None),
        answer("m5", model=None),
        user(toolUseResult={"totalTokens": 900, "usage": usage(900)}),
        row("progress", data={"message": answer("m6")}),
        row("result", usage=usage(900)),
        b"{broken\n",
        b"\n",
        b'{"type": "assistant"',
    )
    [session] = read_sessions(path)
    assert totals([session])[0] == 1
    assert reasons(session) == {
        transcripts.ROLL_UP: 3,
        transcripts.SYNTHETIC: 1,
        transcripts.API_ERROR: 1,
        transcripts.NO_USAGE: 1,
        transcripts.NO_ID: 1,
        transcripts.NO_MODEL: 1,
        lines.BROKEN: 1,
        lines.INCOMPLETE: 1,
    }
    first = {each.reason: each.first for each in session.skipped}
    assert first[transcripts.ROLL_UP] == f"{path}:7"
    assert first[lines.INCOMPLETE] == f"{path}:12"


def test_agents_belong_to_their_session_wherever_their_files_stand(tmp_path):
    side = {"isSidechain": True}
    main = write(tmp_path / "5f1c.jsonl", answer("m1"))
    write(tmp_path / "5f1c/subagents/agent-a1.jsonl", answer("m2", agentId="a1", **side))
    write(tmp_path / "5f1c/subagents/agent-acompact-b2.jsonl", answer("m3", **side))
    write(tmp_path / "agent-c3.jsonl", answer("m4", agentId="c3", **side))
    write(tmp_path / "agent-d4.jsonl", answer("m5", session="other", agentId="d4", **side))
    for path in (main, tmp_path):
        session = next(each for each in read_sessions(path) if each.id == "5f1c")
        assert [name for name, _ in session.streams()] == ["main", "a1", "acompact-b2", "c3"]
        assert session.paths[0] == main
    assert [each.id for each in read_sessions(tmp_path)] == ["5f1c", "other"]


def test_inline_sidechains_are_told_apart_by_the_row_that_they_answer(tmp_path):
    def inside(make, second, parent, **fields):
        return make(second=second, uuid=f"s{second}", parentUuid=parent, isSidechain=True, **fields)

    path = write(
        tmp_path / "5f1c.jsonl",
        answer("m1"),
        inside(user, 1, None),
        inside(user, 2, None),
        inside(answer, 3, "s1", id_="m2"),
        inside(answer, 4, "s2", id_="m3"),
        inside(answer, 5, "s3", id_="m4"),
    )
    [session] = read_sessions(path)
    assert [(each.message_id, each.stream) for each in session.exchanges] == [
        ("m1", "main"), ("m2", "sidechain-1"), ("m3", "sidechain-2"), ("m4", "sidechain-1"),
    ]  # fmt: skip


def test_a_switch_of_models_begins_a_stream_that_follows_the_other(tmp_path):
    models = ["claude-opus-5", "claude-haiku-4-5", "claude-opus-5"]
    rows = [answer(f"m{n}", model=model, second=n) for n, model in enumerate(models)]
    [session] = read_sessions(write(tmp_path / "5f1c.jsonl", *rows))
    assert [(each.stream, each.follows) for each in session.exchanges] == [
        ("main/claude-opus-5", ""),
        ("main/claude-haiku-4-5", "main/claude-opus-5"),
        ("main/claude-opus-5", ""),
    ]


@pytest.mark.parametrize(
    "mark",
    [row("system", subtype="compact_boundary"), user("so far: …", isCompactSummary=True)],
)
def test_the_request_behind_a_compaction_says_so(tmp_path, mark):
    path = write(tmp_path / "5f1c.jsonl", answer("m1"), mark, answer("m2"), answer("m3"))
    [session] = read_sessions(path)
    assert [each.compacted for each in session.exchanges] == [False, True, False]


def test_a_fork_repeats_nothing(tmp_path):
    old = [answer(f"m{n}", second=n) for n in range(3)]
    fork = [{**each, "sessionId": "0000"} for each in old]
    write(tmp_path / "5f1c.jsonl", *old)
    path = write(tmp_path / "0000.jsonl", *fork, answer("m9", second=9, session="0000"))
    copied, original = read_sessions(tmp_path)
    assert [each.message_id for each in copied.exchanges] == ["m9"]
    assert len(original.exchanges) == 3
    [skipped] = copied.skipped
    assert (skipped.reason, skipped.count, skipped.first) == (joining.COPIED, 3, f"{path}:1")


def test_a_clock_that_went_back_does_not_turn_a_stream_around(tmp_path):
    rows = [answer("m1", second=50), answer("m2", second=10), answer("m3", second=60)]
    [session] = read_sessions(write(tmp_path / "5f1c.jsonl", *rows))
    assert [each.message_id for each in session.exchanges] == ["m1", "m2", "m3"]
