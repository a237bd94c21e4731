"""A request log as a recorder writes it, with breaks planted at known requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ctxlab.cache import PromptCache
from tests.cache.requests import Clock, assistant, one_marker, text, tool, user
from tests.sessions.recorded import START

SECRET = "sk-ant-api03-abcdefghijklmnop"


def bodies(count: int) -> list[dict[str, Any]]:
    """A conversation above every model's minimum."""
    messages, made = [], []
    for number in range(count):
        messages = [*messages, user(f"question {number} " + "word " * 700)]
        made.append(
            one_marker(
                messages=list(messages),
                cache_control={"type": "ephemeral"},
                tools=[tool("a"), tool("b")],
            )
        )
        messages = [*messages, assistant(f"answer {number}")]
    return made


def planted_log(path: Path, count: int = 12) -> Path:
    """Request 4 turns the tools round, 7 edits the system, before 10 there is a pause."""
    clock = Clock()
    cache, at = PromptCache(clock=clock), START
    with path.open("w") as file:
        for number, body in enumerate(bodies(count), 1):
            if number >= 4:
                body["tools"] = [tool("b"), tool("a")]
            if number >= 7:
                body["system"] = [text(300, f"\x1b[31mtoday {SECRET}")]
            at += 720 if number == 10 else 40
            clock.now = at
            usage = cache.send(body)
            del usage["message_id"]
            answer = {
                "id": f"msg_{path.parent.name}_{path.stem}_{number}",
                "model": body["model"],
                "usage": usage,
            }
            del usage["diagnostics"]
            line = {"schema": 1, "time": at, "path": "/v1/messages", "status": 200}
            file.write(json.dumps({**line, "request": body, "response": answer}) + "\n")
    return path
