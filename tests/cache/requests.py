"""The base request of facts `prompt-cache` §7, and what the tests build from it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ctxlab.cache import Envelope, PromptCache

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
MODEL = "claude-opus-5"


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def size(block: Mapping[str, Any]) -> int:
    """Exact sizes: a tool is 200, a text says its own size in front, the rest is 10."""
    if "input_schema" in block:
        return 200
    words = str(block.get("text", "")).split()
    return int(words[0]) if words and words[0].isdigit() else 10


def simulator(clock: Clock | None = None, **rules: Any) -> PromptCache:
    return PromptCache({"minimum_tokens": 100, **rules}, clock=clock or Clock(), count=size)


def tool(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}}
    return {"name": name, "description": f"{name} tool", "input_schema": schema, **more}


def text(size: int, words: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": f"{size} {words}".strip(), **more}


def user(*blocks: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "user", "content": [_block(block) for block in blocks]}


def assistant(*blocks: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "assistant", "content": [_block(block) for block in blocks]}


def _block(block: dict[str, Any] | str) -> dict[str, Any]:
    return {"type": "text", "text": block} if isinstance(block, str) else block


def call(number: int, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "a", "input": {}, **more}


def result(number: int, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "ok", **more}


def base(**changes: Any) -> dict[str, Any]:
    """Tools a, b of 200 tokens, system 300, user 100; a marker at the end of each."""
    request = {
        "model": MODEL,
        "max_tokens": 16,
        "tools": [tool("a"), tool("b", cache_control=MARK)],
        "system": [text(300, "rules", cache_control=MARK)],
        "messages": [user(text(100, "question", cache_control=MARK))],
    }
    return deepcopy({**request, **changes})


def one_marker(**changes: Any) -> dict[str, Any]:
    """The base with a marker on the last block alone."""
    plain = {"tools": [tool("a"), tool("b")], "system": [text(300, "rules")]}
    return base(**{**plain, **changes})


def figures(usage: Mapping[str, Any]) -> tuple[int, int, int]:
    """Read, written, uncached."""
    return (
        usage["cache_read_input_tokens"],
        usage["cache_creation_input_tokens"],
        usage["input_tokens"],
    )


def numbered(count: int, marked: int, *more: int) -> dict[str, Any]:
    """`count` text blocks of 100 tokens, counted from 1, with markers at these."""
    blocks = [text(100, f"block {number}") for number in range(1, count + 1)]
    for number in (marked, *more):
        blocks[number - 1]["cache_control"] = MARK
    return {"model": MODEL, "messages": [user(*blocks)]}


def reads(cache: PromptCache, request: Any, envelope: Envelope | None = None) -> int:
    usage = cache.send(request, envelope) if envelope else cache.send(request)
    return int(usage["cache_read_input_tokens"])
