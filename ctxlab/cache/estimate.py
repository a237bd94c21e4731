"""Tokens of one block where nobody passes a counter: o200k, an estimate for Claude models.

Claude's tokenizer is not public; whatever shows these figures says `o200k estimate` (source: facts
`prompt-cache` §5). What a tool, a call or a result adds around its text is not counted. An image
or another file has no text to count: each is taken as FILE_TOKENS, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxlab import tokens
from ctxlab.cache.wire import encode

FILE_TOKENS = 1_600


def estimate(block: Mapping[str, Any]) -> int:
    """o200k tokens of a content block, a system block or a tool.

    >>> estimate({"type": "text", "text": "tiktoken is great!"})
    6
    """
    return _estimate(block, block.get("type"))


def _estimate(block: Mapping[str, Any], kind: object) -> int:
    if kind == "text" and "text" in block:
        return tokens.count(block["text"])
    if kind == "tool_result":
        return _contents(block.get("content") or "")
    if kind in ("tool_use", "server_tool_use"):
        return tokens.count(f"{block.get('name')} {_text(block.get('input'))}")
    if kind in ("thinking", "redacted_thinking"):
        return tokens.count(str(block.get("thinking") or block.get("data") or ""))
    if kind in ("image", "document"):
        return _file(block)
    return tokens.count(_text(block))


def _contents(content: str | list[Mapping[str, Any]]) -> int:
    if isinstance(content, str):
        return tokens.count(content)
    return sum(estimate(part) for part in content)


def _file(block: Mapping[str, Any]) -> int:
    source = block.get("source") or {}
    kind = source.get("type")
    if kind == "text":
        return tokens.count(str(source.get("data") or ""))
    if kind == "content":
        return _contents(source.get("content") or "")
    return FILE_TOKENS


def _text(value: Any) -> str:
    return encode(value, ()).decode()
