"""Transcript rows as Claude Code writes them, for tests: made up, every one."""

from __future__ import annotations

from pathlib import Path

import orjson

MODEL = "claude-opus-5"
COUNTS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


def usage(input_=1, write=0, read=0, output=1, **more):
    return {**dict(zip(COUNTS, (input_, write, read, output), strict=True)), **more}


def answer(id_="msg_1", used=None, content=None, second=0, **fields):
    """An assistant row; `request`, `model` and any other field by name."""
    model, request = fields.pop("model", MODEL), fields.pop("request", f"req_{id_}")
    message = {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content or [{"type": "text", "text": "so be it"}],
        "usage": usage() if used is None else used,
    }
    return row("assistant", message=message, requestId=request, second=second, **fields)


def user(content="go on", second=0, **fields):
    return row("user", message={"role": "user", "content": content}, second=second, **fields)


def row(kind, second=0, session="5f1c", **fields):
    return {
        "type": kind,
        "sessionId": session,
        "uuid": f"u{second}-{kind}",
        "parentUuid": None,
        "isSidechain": False,
        "timestamp": f"2026-11-30T12:{second // 60:02d}:{second % 60:02d}.000Z",
        **fields,
    }


def write(path: Path, *rows: object) -> Path:
    """A file of rows; bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [each if isinstance(each, bytes) else orjson.dumps(each) + b"\n" for each in rows]
    path.write_bytes(b"".join(lines))
    return path


def totals(sessions):
    """Input, creation, read, output over all exchanges."""
    each = [exchange.usage for session in sessions for exchange in session.exchanges]
    return [sum(used.get(key, 0) for used in each) for key in COUNTS]


def reasons(session):
    return {skipped.reason: skipped.count for skipped in session.skipped}
