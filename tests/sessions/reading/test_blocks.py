from ctxlab import read_sessions
from ctxlab.sessions.reading.blocks import transcript_blocks
from tests.sessions.transcripts import answer, user, write


def test_blocks_come_in_order_once_with_the_tool_that_they_belong_to(tmp_path):
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    said = {"type": "text", "text": "let me look"}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "a"}],
    }
    rows = [
        user("what is there?", uuid="u1"),
        answer("m1", content=[said]),
        answer("m1", content=[call]),
        answer("m1", content=[said, call]),
        user([result], uuid="u2"),
        user([result], uuid="u2"),
        user("so far: …", uuid="u3", isCompactSummary=True),
    ]
    path = write(tmp_path / "5f1c.jsonl", *rows)
    write(tmp_path / "5f1c/subagents/agent-a1.jsonl", user("look", uuid="u4", isSidechain=True))
    [session] = read_sessions(path)
    blocks = list(transcript_blocks(session))
    assert [(each.stream, each.role, each.type, each.tool, each.text) for each in blocks] == [
        ("main", "user", "text", "", "what is there?"),
        ("main", "assistant", "text", "", "let me look"),
        ("main", "assistant", "tool_use", "Bash", '{"command":"ls"}'),
        ("main", "user", "tool_result", "Bash", "a"),
        ("main", "user", "text", "", "so far: …"),
        ("a1", "user", "text", "", "look"),
    ]
    assert [each.meta for each in blocks] == [False] * 4 + [True, False]
