"""Content blocks of a transcript, one by one in the order of its files: what made up the context.

Each block counts once: an answer's by its message id and what it says, since rows repeat and files
are copied; others by their row. Nothing is kept but digests and the names of the tools that were
called. Not handled here: what was never written down, such as the system prompt and the tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from ctxlab.sessions.model import Session
from ctxlab.sessions.reading.lines import rows
from ctxlab.sessions.reading.owners import agent_of
from ctxlab.sessions.reading.transcripts import Sidechains, stream_of

_DIGEST = 8


@dataclass(frozen=True, slots=True)
class Block:
    """One content block, or one text that is the whole content of a message."""

    stream: str
    """The agent, as `Exchange.stream` names it without a model."""
    role: str
    """`user` or `assistant`."""
    type: str
    """`text`, `thinking`, `tool_use`, `tool_result`, `image`, …"""
    text: str
    """What the model reads: a tool's input as JSON, a result's texts joined by line feeds; empty
    for an image."""
    tool: str = ""
    """The tool that was called or that answered; empty where its call is not in the transcript."""
    tool_use_id: str = ""
    message_id: str = ""
    meta: bool = False
    """Written by the agent's program, not by a person (`isMeta`), or a summary of a compaction."""


def transcript_blocks(session: Session) -> Iterator[Block]:
    """Every block of a transcript's files; nothing for other kinds of session.

    Raises:
        OSError: a file is gone.
    """
    if session.kind != "claude-code":
        return
    seen: set[bytes] = set()
    tools: dict[str, str] = {}
    for path in session.paths:
        agent, sides = agent_of(path), Sidechains()
        for row in rows(path):
            value = row.value
            if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
                continue
            base, side = stream_of(value, agent)
            if side:
                base = sides.add(side, _text(value.get("parentUuid")))
            for block in _blocks(value, base, tools):
                key = _key(value, block)
                if key not in seen:
                    seen.add(key)
                    yield block


def _blocks(row: dict[str, Any], stream: str, tools: dict[str, str]) -> Iterator[Block]:
    message = row.get("message")
    if not isinstance(message, dict):
        return
    content = message.get("content")
    for part in content if isinstance(content, list) else [content]:
        block = {"type": "text", "text": part} if isinstance(part, str) else part
        if not isinstance(block, dict):
            continue
        kind, id_ = _text(block.get("type")), _text(block.get("id") or block.get("tool_use_id"))
        name = _text(block.get("name"))
        if name and id_:
            tools[id_] = name
        yield Block(
            stream=stream,
            role=_text(message.get("role")) or row["type"],
            type=kind,
            text=_said(block),
            tool=name or tools.get(id_, ""),
            tool_use_id=id_,
            message_id=_text(message.get("id")),
            meta=row.get("isMeta") is True or row.get("isCompactSummary") is True,
        )


def _said(block: dict[str, Any]) -> str:
    for key in ("text", "thinking"):
        if isinstance(block.get(key), str):
            return str(block[key])
    if "input" in block:
        return orjson.dumps(block["input"]).decode()
    content = block.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            part if isinstance(part, str) else _said(part)
            for part in content
            if isinstance(part, str | dict)
        )
    return ""


def _key(row: dict[str, Any], block: Block) -> bytes:
    """An answer's block by its message; another's by its row, or without one by what it says."""
    told = (block.message_id or _text(row.get("uuid")), block.type, block.tool_use_id, block.text)
    return blake2b(orjson.dumps(told), digest_size=_DIGEST).digest()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
