"""The real inputs beside a checkout, read and audited; skipped where they are absent."""

from __future__ import annotations

import pytest

from ctxlab.sessions import audit, audited, context_by_origin, read_sessions, what_if
from tests.conftest import shared

pytestmark = pytest.mark.shared


def test_a_real_session_is_unbroken_request_by_request():
    (session,) = read_sessions(shared("transcripts", "claude-code-viewer_1af7.jsonl"))
    table = audit(session)
    assert not table.broke.any()
    written = table.written_5m + table.written_1h
    assert (table["read"] + written).to_list()[:-1] == table["read"].to_list()[1:]
    assert table[["uncached", "read", "output"]].sum().to_list() == [93, 103_219, 953]
    assert written.sum() == 12_698
    costs = what_if(session).set_index("variant").usd
    assert costs["every break avoided"] == costs["as it was"] < costs["without caching"]


def test_its_head_is_most_of_its_context():
    (session,) = read_sessions(shared("transcripts", "claude-code-viewer_1af7.jsonl"))
    table = context_by_origin(session)
    assert table.origin[0] == "system + tools"
    assert table.inferred[0]
    assert set(table.tool) == {"", "Bash", "Glob", "TodoWrite", "Write"}


def test_hard_cases_are_rows_too():
    for session in read_sessions(shared("transcripts", "claude-code-log_edge_cases.jsonl")):
        assert len(audited(session)) == len(session.exchanges)
        assert context_by_origin(session).share.sum() == pytest.approx(1)
