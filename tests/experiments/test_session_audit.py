import json
import math
from dataclasses import replace

import pandas as pd
import pytest

from ctxlab import read_tools
from ctxlab.errors import InputError
from ctxlab.experiments import planted_session, session_audit, session_context
from ctxlab.sessions.telling.audit import as_text
from ctxlab.sessions.telling.summary import audit_all
from tests.conftest import shared

TOOLS = read_tools("data/tools/agent.json")
SECRET = "sk-ant-api03-" + "a1b2c3d4" * 4


@pytest.fixture(scope="module")
def generated():
    return session_audit.load("", TOOLS)


def transcript(path, results):
    """A transcript of as many turns, each of which brings a tool's result."""
    rows = []
    for turn, text in enumerate(results):
        call = f"toolu_{turn}"
        stamp = f"2026-11-30T10:00:{turn:02}.000Z"
        usage = {
            "input_tokens": 5,
            "cache_read_input_tokens": 1000 * turn,
            "cache_creation_input_tokens": 1000,
            "output_tokens": 50,
        }
        message = {
            "id": f"msg_{turn}",
            "role": "assistant",
            "model": "claude-opus-5",
            "content": [{"type": "tool_use", "id": call, "name": "Bash", "input": {}}],
            "usage": usage,
        }
        common = {"sessionId": "s1", "isSidechain": False, "timestamp": stamp}
        rows.append(
            {
                "type": "assistant",
                "uuid": f"a{turn}",
                "requestId": f"r{turn}",
                "message": message,
                **common,
            }
        )
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        rows.append(
            {
                "type": "user",
                "uuid": f"u{turn}",
                "message": {"role": "user", "content": [result]},
                **common,
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_planted_break_is_found_for_what_it_is(generated):
    table = session_audit.planted(generated[0])
    assert table["right"].all()
    assert table["planted"].tolist() == list(planted_session.BREAKS.values())


def test_what_a_simulated_cache_said_is_called_simulated(generated, tmp_path):
    assert session_audit.basis(generated) == "simulated"
    assert set(session_context.variants(generated)["basis"]) == {"simulated"}
    assert "simulated: no API answered" in as_text(audit_all([generated[0].session]))
    recorded = session_audit.load(transcript(tmp_path / "s1.jsonl", ["a", "b"]), TOOLS)
    assert session_audit.basis(recorded) == "recorded"
    assert session_context.variants(recorded)["basis"].tolist()[0] == "recorded"
    assert session_audit.basis([*generated, *recorded]) == "partly simulated"


def test_a_break_that_nobody_planted_is_wrong(generated):
    rows = [row for row in generated[0].rows if row.cause != "tools"]
    table = session_audit.planted(replace(generated[0], rows=rows))
    assert not table["right"].all()


def test_tables_are_the_same_each_time(generated):
    again = session_audit.load("", TOOLS)
    pd.testing.assert_frame_equal(session_audit.requests(generated), session_audit.requests(again))
    pd.testing.assert_frame_equal(
        session_context.largest(generated, 5), session_context.largest(again, 5)
    )


def test_the_money_adds_up(generated):
    summary = session_audit.summaries(generated).iloc[0]
    lost = session_audit.causes(generated)
    ways = session_context.variants(generated).set_index("variant")["usd"]
    assert summary["usd_lost"] == pytest.approx(lost["usd_lost"].sum())
    assert ways["as it was"] == pytest.approx(summary["usd"])
    assert ways["every break avoided"] == pytest.approx(summary["usd"] - summary["usd_lost"])
    assert session_audit.requests(generated)["usd"].sum() == pytest.approx(summary["usd"])


def test_the_simulator_agrees_with_what_it_recorded(generated):
    ways = session_context.variants(generated).set_index("variant")["relative"]
    again = session_context.replayed(generated).set_index("variant")["relative"]
    for name in again.index:
        assert again[name] == pytest.approx(ways[name], rel=0.01)


def test_shares_of_a_context_add_up(generated):
    table = session_context.origins(generated)
    assert table["share"].sum() == pytest.approx(100, abs=0.1)
    figures = session_context.figures(generated, table).set_index("figure")["value"]
    tools = table.loc[table["origin"] == "tool results", "share"].sum()
    assert figures["tool results in the context"] == pytest.approx(tools)
    assert session_context.bars(table)["tokens"].sum() == table["tokens"].sum()


def test_the_smallest_tools_become_one_bar():
    tools = [
        {
            "origin": "tool results",
            "tool": f"t{n}",
            "blocks": 1,
            "tokens": 9 - n,
            "share": 1.0,
            "inferred": False,
        }
        for n in range(5)
    ]
    parts = session_context.bars(pd.DataFrame(tools), most=3)["part"].tolist()
    assert parts == [
        "result of t0",
        "result of t1",
        "result of t2",
        "results of 2 other tools",
    ]


def test_a_long_session_is_shown_where_it_lost_most(generated):
    whole = session_audit.timeline(generated[0], 100)
    part = session_audit.timeline(generated[0], 5)
    assert len(whole) == planted_session.REQUESTS
    assert len(part) == 5
    assert "lookback" in set(part["cause"])


def test_text_of_a_session_is_masked_and_shortened(tmp_path):
    path = transcript(tmp_path / "s1.jsonl", [f"\x1b[31mkey {SECRET} " + "x" * 9000, "ok", "ok"])
    (audit,) = session_audit.load(path, TOOLS)
    table = session_context.largest([audit], 5)
    assert len(table) == 1
    begins = table["begins"].iloc[0]
    assert "key ***" in begins
    assert begins.isprintable()
    assert len(begins) <= 60
    assert SECRET not in table.to_csv()


def test_a_session_in_which_nothing_broke(tmp_path):
    (audit,) = session_audit.load(transcript(tmp_path / "s1.jsonl", ["a", "b", "c"]), TOOLS)
    lost = session_audit.causes([audit])
    assert lost.empty
    summary, ways = session_audit.summaries([audit]), session_context.variants([audit])
    told = session_audit.conclusion(summary, lost, ways)
    assert "Nothing broke" in told
    costs = ways.set_index("variant")["usd"]
    assert costs["every break avoided"] == pytest.approx(costs["as it was"])


def test_a_model_without_a_price_is_still_told(tmp_path):
    path = transcript(tmp_path / "s1.jsonl", ["a", "b"])
    path.write_text(path.read_text().replace("claude-opus-5", "a-model-of-mine"))
    audits = session_audit.load(path, TOOLS)
    summary = session_audit.summaries(audits)
    assert summary["read"].tolist() == [1000]
    assert math.isnan(session_audit.requests(audits)["usd"].iloc[0])
    assert session_audit.conclusion(
        summary, session_audit.causes(audits), session_context.variants(audits)
    )


def test_what_is_no_session_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of the kind\n")
    with pytest.raises(InputError):
        session_audit.load(tmp_path / "notes.txt", TOOLS)


@pytest.mark.shared
def test_a_real_session_is_counted_once():
    path = shared("transcripts/claude-code-viewer_1af7.jsonl")
    summary = session_audit.summaries(session_audit.load(path, TOOLS)).iloc[0]
    found = summary[["uncached", "written", "read", "output"]].tolist()
    assert found == [93, 12_698, 103_219, 953]


@pytest.mark.shared
def test_hard_cases_are_counted_with_where_they_stand():
    table = session_audit.skipped(
        session_audit.load(shared("transcripts/claude-code-log_edge_cases.jsonl"), TOOLS)
    )
    assert table["rows"].sum() > 0
    assert table["first"].str.startswith("claude-code-log_edge_cases.jsonl:").all()
