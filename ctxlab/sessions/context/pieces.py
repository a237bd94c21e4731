"""What filled the contexts of a session: each block once, with where it came from.

Bodies say it exactly. A transcript holds the blocks of the conversation and not the head, tools and
system prompt, that the agent sent with them; `contents` infers its size. Files are read row by row
and bodies one at a time. Not handled: blocks that left the context again count
(a compaction's history stood there while it did); images count as `ctxlab.cache.estimate` has them.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import orjson

from ctxlab.cache.estimate import estimate
from ctxlab.cache.wire import without_markers
from ctxlab.sessions.auditing.audit import in_order
from ctxlab.sessions.model import Exchange, Session, roots

Origin = Literal["system", "tools", "tool results", "assistant", "user"]
Block = Mapping[str, Any]
_ROLES: dict[str, Origin] = {
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool results",
}


@dataclass(frozen=True)
class Piece:
    """One block that stood in a context."""

    origin: Origin
    request: int
    """The first request that carried it: its number in the order of time, from 0."""
    block: Block = field(repr=False)
    tool: str = ""
    """Of a tool's result or definition: its name."""
    id: str = ""
    """Of a tool's result: the call's id."""

    @property
    def tokens(self) -> int:
        """An o200k estimate; 0 where the block is of no known shape."""
        try:
            return estimate(self.block)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return 0


def pieces(session: Session) -> Iterator[Piece]:
    """Every block that stood in a context of the session, each once, in the order of arrival."""
    exchanges = in_order(session)
    if session.kind == "claude-code":
        yield from _of_transcripts(session.paths, exchanges)
    else:
        yield from _of_bodies(exchanges)


def _of_bodies(exchanges: Sequence[Exchange]) -> Iterator[Piece]:
    seen: set[bytes] = set()
    names: dict[str, str] = {}
    threads = roots(exchanges)
    for number, exchange in enumerate(exchanges):
        try:
            body = exchange.body()
        except (AttributeError, IndexError, OSError, ValueError):  # the file has changed since
            continue
        for origin, marked in _parts(body or {}):
            block = without_markers(marked)  # they move from request to request
            data = f"{threads[exchange.stream]}\0{origin}\0".encode() + _bytes(block)
            key = sha256(data).digest()[:16]
            if key not in seen:
                seen.add(key)
                yield _piece(origin, block, number, names)


def _bytes(block: Block) -> bytes:
    try:
        return orjson.dumps(block)
    except orjson.JSONEncodeError:  # it reads four times as deep as it writes
        return marshal.dumps(dict(block), 2)


def _parts(body: Mapping[str, Any]) -> Iterator[tuple[Origin, Block]]:
    """The blocks of a body in the order of the prompt; deferred tools are outside of it."""
    tools = _objects(body.get("tools"))
    yield from (("tools", tool) for tool in tools if not tool.get("defer_loading"))
    yield from (("system", block) for block in _blocks(body.get("system")))
    for message in _objects(body.get("messages")):
        origin = _ROLES.get(str(message.get("role")), "user")
        if message.get("role") == "tool":  # OpenAI's form of a tool's result
            told = {"type": "tool_result", "tool_use_id": message.get("tool_call_id")}
            yield origin, {**told, "content": message.get("content")}
            continue
        yield from ((origin, block) for block in _blocks(message.get("content")))
        for call in _objects(message.get("tool_calls")):
            function = call.get("function")
            named = function if isinstance(function, Mapping) else {}
            use = {"type": "tool_use", "id": call.get("id"), "name": named.get("name")}
            yield origin, {**use, "input": named.get("arguments")}


def _piece(origin: Origin, block: Block, number: int, names: dict[str, str]) -> Piece:
    """A piece with its tool; `names` gathers call ids → tools on the way."""
    kind = block.get("type")
    if origin == "tools":
        function = block.get("function")  # OpenAI's form of a definition
        named = function if isinstance(function, Mapping) else block
        return Piece(origin, number, block, str(named.get("name", "")))
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        names[str(block.get("id"))] = str(block.get("name"))
    if isinstance(kind, str) and kind.endswith("tool_result"):
        call = str(block.get("tool_use_id"))
        return Piece("tool results", number, block, names.get(call, ""), call)
    return Piece(origin, number, block)


@dataclass
class _Waiting:
    """Blocks of one thread of a transcript that no request has carried yet."""

    blocks: list[tuple[Origin, Block]] = field(default_factory=list)
    answer: int | None = None
    """The request that was answered last: its answer may have several rows."""


def _of_transcripts(paths: Iterable[Path], exchanges: Sequence[Exchange]) -> Iterator[Piece]:
    places = {
        (line.path, line.offset): number
        for number, exchange in enumerate(exchanges)
        for line in exchange.lines
    }
    rows_seen: set[str] = set()
    names: dict[str, str] = {}
    for path in dict.fromkeys([*paths, *(path for path, _ in places)]):
        waiting: dict[tuple[bool, str], _Waiting] = {}
        for offset, row in _rows(path):
            side, agent = row.get("isSidechain") is True, row.get("agentId")
            named = agent if isinstance(agent, str) else ""
            thread = waiting.setdefault((side, named), _Waiting())
            number = places.get((path, offset))
            if number is not None and number != thread.answer:  # what waited was in its request
                for origin, block in thread.blocks:
                    yield _piece(origin, block, number, names)
                thread.blocks.clear()
                thread.answer = number
            uuid = row.get("uuid")
            if isinstance(uuid, str) and uuid:
                if uuid in rows_seen:
                    continue
                rows_seen.add(uuid)
            thread.blocks += _said(row)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a JSONL file, with their offsets; what is none is passed over."""
    offset = 0
    try:
        with path.open("rb") as file:
            for line in file:
                value = _value(line)
                if isinstance(value, Mapping):
                    yield offset, value
                offset += len(line)
    except OSError:
        return


def _value(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _said(row: Mapping[str, Any]) -> list[tuple[Origin, Block]]:
    """What a row adds to the conversation."""
    kind, message = row.get("type"), row.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, Mapping):
        return []
    return [(kind, block) for block in _blocks(message.get("content"))]


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _blocks(content: Any) -> list[Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return _objects(content)
