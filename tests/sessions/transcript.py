"""A small Claude Code transcript, written by hand, and the session that a reader makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from ctxlab.sessions import Exchange, Line, Session
from tests.sessions.recorded import START


def row(kind: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {"type": kind, "uuid": uuid, "message": message, "isSidechain": False, **more}


def call(number: int, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {"n": number}}


def result(number: int, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content}


def usage(read: int, written: int, output: int = 20) -> dict[str, int]:
    return {
        "input_tokens": 3,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


def rows(large: str) -> list[Any]:
    """Three answers; the first has two rows, and some rows are no conversation."""
    return [
        {"type": "summary", "summary": "no part of it"},
        row("user", "please look", "u1"),
        row("assistant", [{"type": "text", "text": "I look."}], "a1"),
        row("assistant", [call(1, "Read"), call(2, "Bash")], "a2"),
        row("user", [result(1, large)], "u2"),
        row("user", [result(2, [{"type": "text", "text": "ok"}])], "u3"),
        "a broken row",
        row("assistant", [{"type": "text", "text": "I saw."}], "a3"),
        row("user", [{"type": "text", "text": "thanks"}], "u4"),
        row("user", [{"type": "text", "text": "thanks"}], "u4"),
        row("assistant", "Bye.", "a4"),
    ]


ANSWERS = ((2, 3), (7,), (10,))
"""Which rows each answer has."""


def transcript(folder: Path, large: str) -> Session:
    path, lines, offset = folder / "session.jsonl", [], 0
    with path.open("wb") as file:
        for value in rows(large):
            raw = orjson.dumps(value) + b"\n"
            file.write(raw)
            lines.append(Line(path, offset, len(raw)))
            offset += len(raw)
    used = [usage(4000, 1000), usage(5000, 9000), usage(14000, 30)]
    exchanges = tuple(
        Exchange(
            START + 10 * number,
            "claude-opus-5",
            used[number],
            "main",
            message_id=f"msg_{number}",
            lines=tuple(lines[at] for at in answer),
        )
        for number, answer in enumerate(ANSWERS)
    )
    return Session("s", "claude-code", (path,), exchanges)
