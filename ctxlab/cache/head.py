"""What stands before the messages: tools, system, and the parameters that the cache minds.

A change here loses what is behind it, by segment: tools, then system, then messages. Parameters
that are no blocks (a forced tool, thinking, speed) are folded in at the first segment they lose, as
the dated table says. Deferred tools stand outside (source: facts `prompt-cache` §1, §4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from ctxlab.cache.blocks import Block, BlockReader
from ctxlab.cache.chain import Chain, chain_of
from ctxlab.cache.offer import Offer
from ctxlab.cache.rules import SEGMENTS, Rules
from ctxlab.cache.validation import FORCED, check_marked, check_tools, ttl_of
from ctxlab.prefix import canonical

TOOLS, SYSTEM, MESSAGES = range(3)
HEAD_FIELDS = ("tools", "system", "tool_choice", "thinking", "speed")
"""What of a request body makes its head, besides the model."""
_WEB_TOOLS = ("web_search", "web_fetch")


class Marker(NamedTuple):
    """A breakpoint: a block of a segment, and how long its entry lives."""

    segment: int
    block: int
    ttl: str


@dataclass(frozen=True)
class Head:
    """Everything of a request but its messages."""

    model: str
    rules: Rules
    tools: Chain
    system: Chain
    """The entries for web tools, then the system prompt: a web tool's change keeps `tools`."""
    deferred: Mapping[str, Block]
    """Definitions outside the prefix, by tool name."""
    offer: Offer
    markers: tuple[Marker, ...]
    parameters: Mapping[str, str]
    """`tool_choice`, `thinking`, `speed` where they are not what the API does by itself."""
    toolset: bytes
    """Digest of every tool that is not deferred, for diagnostics."""
    prompt: bytes
    """Digest of the system prompt alone, for diagnostics."""
    prompt_tokens: tuple[int, int]
    """Tokens of the tool-use system prompt: before the tools, and before the messages."""
    _keys: dict[tuple[bool, int], tuple[bytes, bytes, bytes]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def keys(self, *, cited: bool, images: int) -> tuple[bytes, bytes, bytes]:
        """What each segment's entries begin with, for messages with these images and citations."""
        known = self._keys.get((cited, images))
        if known is None:
            known = self._keys[cited, images] = self._derive(cited=cited, images=images)
        return known

    def _derive(self, *, cited: bool, images: int) -> tuple[bytes, bytes, bytes]:
        told: dict[str, str] = dict(self.parameters)
        if cited:
            told["citations"] = "on"
        if images:
            told["images"] = str(images)
        mixed = [
            [f"{name}={told[name]}" for name in sorted(told) if self.rules.loses(name) == segment]
            for segment in SEGMENTS
        ]
        survive = self.rules.tool_entries_survive_later_changes
        start = _mix(self.model.encode(), b"" if survive else self.tools.key, mixed[TOOLS])
        system = _mix(start, self.tools.key, mixed[SYSTEM])
        return start, system, _mix(system, self.system.key, mixed[MESSAGES])


def read_head(request: Mapping[str, Any], model: str, rules: Rules, reader: BlockReader) -> Head:
    """The head of a request body.

    Raises:
        InvalidRequest: what the API would refuse in `tools` or `system`.
        InputError: something that is not JSON.
    """
    tools = request.get("tools") or ()
    check_tools(tools, rules, model)
    laid = _Tools(rules, reader)
    for number, tool in enumerate(tools):
        laid.add(tool, number)
    system, markers = _system(request.get("system"), rules, reader, len(laid.web))
    names = frozenset(str(tool["name"]) for tool in tools if "name" in tool)
    return Head(
        model=model,
        rules=rules,
        tools=chain_of(laid.ordinary),
        system=chain_of([*laid.web, *system]),
        deferred=laid.deferred,
        offer=Offer(names, names - laid.deferred.keys()),
        markers=(*laid.markers, *laid.web_markers, *markers),
        parameters=parameters_of(request),
        toolset=_digest([*laid.ordinary, *laid.web]),
        prompt=_digest(system),
        prompt_tokens=_prompt_tokens(request, rules) if tools else (0, 0),
    )


def is_web_tool(tool: Mapping[str, Any]) -> bool:
    """Whether the API runs this one itself, for the web: its change keeps the other tools."""
    kind = tool.get("type")
    return kind is not None and str(kind).startswith(_WEB_TOOLS)


class _Tools:
    """Tools told apart: in the prefix, web tools (they belong to system), deferred."""

    def __init__(self, rules: Rules, reader: BlockReader) -> None:
        self._rules, self._reader = rules, reader
        self.ordinary: list[Block] = []
        self.web: list[Block] = []
        self.deferred: dict[str, Block] = {}
        self.markers: list[Marker] = []
        self.web_markers: list[Marker] = []

    def add(self, tool: Mapping[str, Any], number: int) -> None:
        block = self._reader.tool(tool, ("tools", number))
        if tool.get("defer_loading"):
            self.deferred[str(tool.get("name"))] = block
            return
        web = is_web_tool(tool)
        blocks = self.web if web else self.ordinary
        if "cache_control" in tool:
            ttl = ttl_of(tool["cache_control"], self._rules, ("tools", number))
            if ttl and web:
                self.web_markers.append(Marker(SYSTEM, len(blocks), ttl))
            elif ttl:
                self.markers.append(Marker(TOOLS, len(blocks), ttl))
        blocks.append(block)


def _system(
    system: str | Sequence[Mapping[str, Any]] | None, rules: Rules, reader: BlockReader, before: int
) -> tuple[list[Block], list[Marker]]:
    blocks: list[Block] = []
    markers: list[Marker] = []
    if isinstance(system, str):
        system = [{"type": "text", "text": system}] if system else []
    for number, block in enumerate(system or ()):
        ttl = ttl_of(block.get("cache_control"), rules, ("system", number))
        if ttl:
            check_marked(block, ("system", number))
            markers.append(Marker(SYSTEM, before + number, ttl))
        blocks.append(reader.content(b"S", block, ("system", number)))
    return blocks, markers


def parameters_of(request: Mapping[str, Any]) -> dict[str, str]:
    """`tool_choice`, `thinking`, `speed` where they are not what the API does by itself."""
    choice = dict(request.get("tool_choice") or {}) if request.get("tools") else {}
    if choice.get("type") == "auto":
        choice.pop("type")
    if not choice.get("disable_parallel_tool_use", True):
        choice.pop("disable_parallel_tool_use")
    thinking = request.get("thinking") or {}
    told = {
        "tool_choice": choice,
        "thinking": {} if thinking.get("type") == "disabled" else thinking,
        "speed": request.get("speed") if request.get("speed") != "standard" else None,
    }
    return {name: canonical(value) for name, value in told.items() if value}


def _prompt_tokens(request: Mapping[str, Any], rules: Rules) -> tuple[int, int]:
    """A forced call makes the prompt longer and yet keeps tools and system.

    So the surplus is taken to stand behind them.
    """
    auto, forced = rules.tool_prompt_tokens
    choice = (request.get("tool_choice") or {}).get("type")
    return auto, forced - auto if choice in FORCED else 0


def _mix(*parts: bytes | list[str]) -> bytes:
    whole = sha256()
    for part in parts:
        told = part if isinstance(part, bytes) else "\n".join(part).encode()
        whole.update(len(told).to_bytes(4) + told)
    return whole.digest()


def _digest(blocks: Sequence[Block]) -> bytes:
    return _mix(*(block.digest for block in blocks))
