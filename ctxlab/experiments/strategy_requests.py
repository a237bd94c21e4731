"""Eight ways to give a session tools that come and go: the requests of each, laid out.

| strategy | what a request carries |
|---|---|
| rebuild sorted | core and tail as one array, sorted by name each turn |
| core + tail | the core with a breakpoint of its own, the tail behind it (`tool-registry`) |
| fixed, tool refuses | every tool in every turn; one that is not available says so when called |
| fixed, tool_choice | every tool; a turn that takes one away restricts the call by `tool_choice` |
| deferred | the core; the others deferred and found by a search, which is one request more |
| mid-conversation | core and first tail; messages add and remove tools (facts `prompt-cache` §3) |
| no caching | the requests of *rebuild sorted* without a breakpoint |
| oracle | the same; whatever was sent before is read, every token is written once |

All but the last two have breakpoints behind their tools, behind the system prompt and at the end
of the messages. `tool_choice` cannot name a subset: it forces one tool or any, or allows none. So
"restrict" is to force one core tool, or no call at all where the model takes no forced ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ctxlab.cache import Layout, PromptCache, rules_for
from ctxlab.experiments import sized
from ctxlab.experiments.core_tail_session import Operations, Toolset
from ctxlab.prefix import canonical_tool
from ctxlab.sessions import ToolOperation, ToolOperations

Tool = dict[str, Any]
Message = dict[str, Any]
Laid = Iterator[tuple[ToolOperation, Layout]]

SEARCH_TOOL: Tool = {
    "name": "tool_search",
    "description": "Find tools by what they do. Returns at most five; a tool can be called once "
    "it was found.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "words of the tool's purpose"}},
        "required": ["query"],
    },
}
"""Ours: a search of the client's own, whose answer is ordinary `tool_reference` blocks."""


@dataclass(frozen=True)
class Conversation:
    """Everything of a session but its tools."""

    model: str = "claude-opus-5"
    ttl: str = "5m"
    gap: float = 60.0
    """Seconds from one turn's request to the next."""
    system_tokens: int = 2_000
    turn_tokens: int = 1_000
    """Added to the history by each turn: a quarter is the model's reply."""

    def user(self, turn: int) -> Message:
        """What the turn adds before its request: a question, results of calls."""
        tokens = self.turn_tokens - self.turn_tokens // 4
        return {"role": "user", "content": [sized.text(tokens, f"turn {turn}")]}

    def reply(self, turn: int) -> Message:
        """What the model answers."""
        return {
            "role": "assistant",
            "content": [sized.text(self.turn_tokens // 4, f"reply {turn}")],
        }


@dataclass(frozen=True)
class Session:
    """A conversation, its tools and what happens to them."""

    talk: Conversation
    tools: Toolset
    operations: ToolOperations

    @cached_property
    def core(self) -> list[Tool]:
        """The core as it is sent."""
        return [canonical_tool(tool) for tool in self.tools.core]

    @cached_property
    def pool(self) -> list[Tool]:
        """The pool as it is sent."""
        return [canonical_tool(tool) for tool in self.tools.pool]

    def request(self, tools: list[Tool], *, mark: int = -1, cached: bool = True) -> dict[str, Any]:
        """A request without messages; `mark` is the tool with a breakpoint."""
        told = [dict(tool) for tool in tools]
        system = sized.text(self.talk.system_tokens, "system prompt")
        body: dict[str, Any] = {"model": self.talk.model, "tools": told, "system": [system]}
        if cached:
            control = sized.marker(self.talk.ttl)
            told[mark]["cache_control"] = system["cache_control"] = body["cache_control"] = control
        return body


@dataclass(frozen=True)
class Setup:
    """What sessions have in common: every seed is another order of the operations."""

    talk: Conversation
    tools: Toolset
    operations: Operations

    def session(self, seed: int) -> Session:
        """The session of this seed.

        Raises:
            UsageError: operations that cannot be done.
        """
        return Session(self.talk, self.tools, self.operations.draw(seed, len(self.tools.pool)))


def rebuild_sorted(session: Session, cache: PromptCache) -> Laid:
    """One array each turn, sorted by name."""
    return _changing(session, cache, lambda op: session.request(_sorted(session, op)))


def no_caching(session: Session, cache: PromptCache) -> Laid:
    """The same requests without breakpoints."""
    return _changing(session, cache, lambda op: session.request(_sorted(session, op), cached=False))


def core_and_tail(session: Session, cache: PromptCache) -> Laid:
    """The core with its breakpoint, then the tail."""
    core, pool = session.core, session.pool
    mark = len(core) - 1
    return _changing(
        session, cache, lambda op: session.request([*core, *(pool[i] for i in op.tail)], mark=mark)
    )


def fixed(session: Session, cache: PromptCache) -> Laid:
    """Every tool in every turn."""
    request = session.request([*session.core, *session.pool])
    return _changing(session, cache, lambda _: request)


def fixed_choice(session: Session, cache: PromptCache) -> Laid:
    """Every tool; `tool_choice` in turns that take one away."""
    request = session.request([*session.core, *session.pool])
    forced = rules_for(session.talk.model).forced_tool_choice
    choice = {"type": "tool", "name": session.core[0]["name"]} if forced else {"type": "none"}
    restricted = {**request, "tool_choice": choice}
    return _changing(session, cache, lambda op: request if op.dropped is None else restricted)


def deferred(session: Session, cache: PromptCache) -> Laid:
    """The pool deferred; what a turn needs for the first time is searched for, at one request."""
    pool = [{**tool, "defer_loading": True} for tool in session.pool]
    upfront = [*session.core, canonical_tool(SEARCH_TOOL)]
    request = session.request([*upfront, *pool], mark=len(upfront) - 1)
    layout, found = None, set[int]()
    for op in session.operations:
        new = _said(session.talk, op.turn)
        layout = layout.append(new) if layout else cache.lay_out({**request, "messages": new})
        yield op, layout
        needed = [tool for tool in op.tail if tool not in found]
        if needed:
            found |= set(needed)
            layout = layout.append(_search([pool[tool]["name"] for tool in needed], op.turn))
            yield op, layout


def mid_conversation(session: Session, cache: PromptCache) -> Laid:
    """`tools` stays; a system message behind the user's adds and removes."""
    start = session.operations.start
    upfront = [*session.core, *(session.pool[tool] for tool in start)]
    later = [
        {**tool, "defer_loading": True} for i, tool in enumerate(session.pool) if i not in start
    ]
    request = session.request([*upfront, *later], mark=len(upfront) - 1)
    layout = None
    for op in session.operations:
        new = _said(session.talk, op.turn, *_changes(session, op))
        layout = layout.append(new) if layout else cache.lay_out({**request, "messages": new})
        yield op, layout


STRATEGIES: Mapping[str, Callable[[Session, PromptCache], Laid]] = {
    "rebuild sorted": rebuild_sorted,
    "core + tail": core_and_tail,
    "fixed, tool refuses": fixed,
    "fixed, tool_choice": fixed_choice,
    "deferred": deferred,
    "mid-conversation": mid_conversation,
    "no caching": no_caching,
    "oracle": no_caching,
}
"""Name → requests; the oracle's usage is another (see `tool_strategies`)."""


def impossible(model: str) -> dict[str, str]:
    """Strategies that a model cannot follow, and why.

    >>> impossible("claude-sonnet-4-6")
    {'mid-conversation': "takes no messages of role 'system'"}
    """
    rules = rules_for(model)
    told = {}
    if not rules.tool_search:
        told["deferred"] = "takes no deferred tools"
    if not rules.system_messages:
        told["mid-conversation"] = "takes no messages of role 'system'"
    return told


def _sorted(session: Session, op: ToolOperation) -> list[Tool]:
    held = [*session.core, *(session.pool[tool] for tool in op.tail)]
    return sorted(held, key=lambda tool: str(tool["name"]))


def _changing(
    session: Session, cache: PromptCache, request: Callable[[ToolOperation], dict[str, Any]]
) -> Laid:
    layout, before = None, None
    for op in session.operations:
        now, new = request(op), _said(session.talk, op.turn)
        if layout is None:
            layout = cache.lay_out({**now, "messages": new})
        else:
            layout = layout.append(new)
            layout = layout if now is before else layout.with_head(now)
        yield op, layout
        before = now


def _said(talk: Conversation, turn: int, *more: Message) -> list[Message]:
    """What a turn appends: the reply to the one before, and what comes now."""
    before = [talk.reply(turn - 1)] if turn > 1 else []
    return [*before, talk.user(turn), *more]


def _search(names: list[str], turn: int) -> list[Message]:
    called = f"toolu_search_{turn}"
    call = {"type": "tool_use", "id": called, "name": SEARCH_TOOL["name"], "input": {"query": ""}}
    call["input"] = {"query": " ".join(names)}
    found = [{"type": "tool_reference", "tool_name": name} for name in names]
    result = {"type": "tool_result", "tool_use_id": called, "content": found}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def _changes(session: Session, op: ToolOperation) -> tuple[Message, ...]:
    blocks = [
        {"type": kind, "tool": {"type": "tool_reference", "name": session.pool[tool]["name"]}}
        for kind, tool in (("tool_removal", op.dropped), ("tool_addition", op.added))
        if tool is not None
    ]
    return ({"role": "system", "content": blocks},) if blocks else ()
