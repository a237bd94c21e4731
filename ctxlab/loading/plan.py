"""Which tools stand in the context from the start, which are deferred, and what that costs.

>>> tools = [{"name": "mcp__clock__now", "description": "The time.", "input_schema": {}}]
>>> plan = plan_loading(tools, None, 200_000)
>>> [tool["name"] for tool in plan.deferred], plan.reason
(['mcp__clock__now'], 'ENABLE_TOOL_SEARCH is unset: every MCP tool is deferred')
>>> [tool.get("defer_loading", False) for tool in plan.request_tools("bm25")]
[False, True]

Deferred definitions are still sent in every request: what shrinks is the context window, not the
request (source: `tool-search`). Tokens are o200k estimates. What the search entry becomes in the
model's context is not published: it counts as the JSON that is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ctxlab import tokens
from ctxlab.errors import InputError, InvalidRequest, UsageError
from ctxlab.loading.conditions import Condition, Setting, deciding, host, is_google, read_mode
from ctxlab.loading.joining import joined_name
from ctxlab.loading.searchable import cut, read_catalogue
from ctxlab.prefix.convert import request_tool

Tool = dict[str, Any]

SEARCH_ENTRIES = {
    "regex": {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
    "bm25": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
}
"""The API's own search tools (facts `prompt-cache` §4)."""


@dataclass(frozen=True)
class ContextTokens:
    """Tokens that stand in the context window from the start (o200k estimate)."""

    definitions: int
    """Of the tools that are upfront."""
    names: int
    """Of the deferred tools, one on a line: the model is told that they exist."""
    instructions: int
    """What servers say of themselves, each cut at 2 KB; there in every mode."""
    search: int
    """The search tool; 0 where nothing is deferred."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.definitions + self.names + self.instructions + self.search


@dataclass(frozen=True)
class LoadingPlan:
    """Tools told apart."""

    upfront: tuple[Tool, ...]
    """In the context from the start; the caller's own dicts, in their order."""
    deferred: tuple[Tool, ...]
    """Found by search only; likewise."""
    reason: str
    """Why, in words."""
    context: ContextTokens
    condition: str
    """The row of `conditions.CONDITIONS` that decided."""
    threshold: int | None = None
    """Tokens of definitions that `auto` allows upfront; None in other modes."""
    warnings: tuple[str, ...] = ()
    """What will go wrong with these settings, though nothing refuses them."""
    search_denied: bool = False

    @property
    def tokens(self) -> int:
        """Tokens in the context window from the start (o200k estimate)."""
        return self.context.total

    @property
    def deferred_tokens(self) -> int:
        """Tokens of the definitions that stay out of the context (o200k estimate)."""
        return _definitions(self.deferred)

    def request_tools(
        self, search: str = "bm25", cache_control: Mapping[str, Any] | None = None
    ) -> list[Tool]:
        """The `tools` of a request: search entry, upfront, deferred with `defer_loading`.

        Deferred ones stand last: they are outside the cached prefix. The marker, when one is
        given, is put where it may stand (`breakpoint`).

        Raises:
            UsageError: no such search, or a marker and no tool that may carry it.
        """
        if search not in SEARCH_ENTRIES:
            raise UsageError(f"search is one of {', '.join(SEARCH_ENTRIES)}, found {search!r}")
        entry = [dict(SEARCH_ENTRIES[search])] if self._searches else []
        shown = [*entry, *({**tool} for tool in self.upfront)]
        if cache_control is not None:
            if not shown:
                raise UsageError("no tool may carry a marker: deferred tools take none")
            shown[-1]["cache_control"] = dict(cache_control)
        return [*shown, *({**tool, "defer_loading": True} for tool in self.deferred)]

    @property
    def breakpoint(self) -> int | None:
        """Index in `request_tools()` of the last tool that may carry `cache_control`."""
        shown = self._searches + len(self.upfront)
        return shown - 1 if shown else None

    @property
    def _searches(self) -> bool:
        return bool(self.deferred) and not self.search_denied


def plan_loading(  # noqa: PLR0913, PLR0917  every documented condition is an argument
    tools: Iterable[Tool],
    mode: str | None,
    context_window: int,
    always_load: Iterable[str] = (),
    model: str | None = None,
    base_url: str | None = None,
    platform: str | None = None,
    betas_disabled: bool = False,  # noqa: FBT001, FBT002  a fixed public signature
    *,
    instructions: Mapping[str, str] | None = None,
    search_denied: bool = False,
) -> LoadingPlan:
    """Plan which MCP tools are loaded upfront and which are deferred.

    Args:
        tools: every one counts as an MCP tool, named `mcp__server__tool` or otherwise.
        mode: the text of `ENABLE_TOOL_SEARCH`; None when it is unset.
        context_window: tokens.
        always_load: names of tools, or of servers (`alwaysLoad`), that are upfront in any mode.
        model: None counts as capable of `tool_reference`.
        base_url: `ANTHROPIC_BASE_URL`; None is the vendor's.
        platform: `anthropic`, `vertex` (Google's Agent Platform), `bedrock`, `foundry`.
        betas_disabled: whether `CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS` is set.
        instructions: server → what it tells the model about itself.
        search_denied: whether the search tool itself is denied by a permission rule.

    Under `auto` tools are taken in their order until one does not fit, those of `always_load`
    first: the document leaves the order open.

    Raises:
        UsageError: a mode, platform, base URL, window or `always_load` name that is none.
        InputError: no tools, or one that is none (with its place).
        InvalidRequest: what the API would refuse: a marker on a deferred tool, over 10,000 tools.
    """
    given = _checked(tools)
    if isinstance(context_window, bool) or not isinstance(context_window, int):
        raise UsageError(f"context_window is a number of tokens, found {context_window!r}")
    if context_window < 1:
        raise UsageError(f"context_window is at least 1 token, found {context_window}")
    if base_url:
        host(base_url)
    is_google(platform)
    setting = Setting(read_mode(mode), base_url or None, platform, model, betas_disabled)
    condition, reason = deciding(setting)
    always = _always(given, always_load)
    threshold = None
    if condition.outcome == "threshold":
        threshold = int(context_window * (setting.mode.percent or 0) / 100)
    upfront = _upfront(given, always, condition, threshold)
    shown = tuple(tool for tool in given if tool["name"] in upfront)
    rest = tuple(tool for tool in given if tool["name"] not in upfront)
    for tool in rest:
        _check_marker(tool)
    return LoadingPlan(
        upfront=shown,
        deferred=rest,
        reason=_told(reason, condition, always, rest, threshold),
        context=_context(shown, rest, instructions or {}, searches=not search_denied),
        condition=condition.id,
        threshold=threshold,
        warnings=tuple(_warnings(setting, rest, search_denied=search_denied)),
        search_denied=search_denied,
    )


def _checked(tools: Iterable[Tool]) -> list[Tool]:
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
        raise InputError(f"tools are a list of tool dicts, found a {type(tools).__name__}")
    given = list(tools)
    if not given:
        raise InputError("no tools: nothing to load upfront or to defer; a server may have failed")
    for number, tool in enumerate(given):
        kind = tool.get("type") if isinstance(tool, Mapping) else None
        if isinstance(kind, str) and kind.startswith("tool_search_tool_"):
            message = "the search entry is added by request_tools(); leave it out"
            raise InputError(message, place=f"tools[{number}]")
        if isinstance(tool, Mapping) and "name" not in tool:
            raise InputError("an MCP tool has a name", place=f"tools[{number}].name")
        request_tool(tool, f"tools[{number}]")  # whether it is JSON, too
    read_catalogue(given)
    return given


def _always(tools: Sequence[Tool], always_load: Iterable[str]) -> frozenset[str]:
    """Names of the tools that `always_load` means; a server stands for all of its tools."""
    if isinstance(always_load, str) or not isinstance(always_load, Iterable):
        raise UsageError(f"always_load is a list of names; found {always_load!r}")
    names = [tool["name"] for tool in tools]
    meant: set[str] = set()
    for wanted in always_load:
        prefix = joined_name(str(wanted), "")
        own = [name for name in names if name == wanted or name.startswith(prefix)]
        if not own:
            raise UsageError(f"always_load: no tool and no server is called {wanted!r}")
        meant.update(own)
    return frozenset(meant)


def _upfront(
    tools: Sequence[Tool], always: frozenset[str], condition: Condition, threshold: int | None
) -> frozenset[str]:
    if condition.outcome == "upfront":
        return frozenset(tool["name"] for tool in tools)
    if threshold is None:
        return always
    left = threshold - sum(_definition(tool) for tool in tools if tool["name"] in always)
    taken = set(always)
    for tool in tools:
        if tool["name"] in always:
            continue
        left -= _definition(tool)
        if left < 0:
            break
        taken.add(tool["name"])
    return frozenset(taken)


def _check_marker(tool: Tool) -> None:
    if tool.get("cache_control") is not None:
        raise InvalidRequest(
            f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set. "
            "Tools with defer_loading cannot use prompt caching."
        )


def _told(
    reason: str,
    condition: Condition,
    always: frozenset[str],
    rest: Sequence[Tool],
    threshold: int | None,
) -> str:
    parts = [reason]
    if threshold is not None:
        parts.append(f"that is {threshold:,} tokens, {len(rest)} tools are beyond")
    if always and condition.outcome != "upfront":
        parts.append(f"alwaysLoad keeps {len(always)} upfront")
    return "; ".join(parts)


def _context(
    upfront: Sequence[Tool],
    deferred: Sequence[Tool],
    instructions: Mapping[str, str],
    *,
    searches: bool,
) -> ContextTokens:
    said = [cut(text) for text in instructions.values() if text]
    entry = json.dumps(SEARCH_ENTRIES["bm25"]) if deferred and searches else ""
    return ContextTokens(
        definitions=_definitions(upfront),
        names=tokens.count("\n".join(tool["name"] for tool in deferred)),
        instructions=sum(tokens.count_many(said)),
        search=tokens.count(entry),
    )


def _warnings(setting: Setting, rest: Sequence[Tool], *, search_denied: bool) -> Iterable[str]:
    condition, _ = deciding(Setting(read_mode(None), setting.base_url, setting.platform))
    if rest and condition.id == "base_url":
        yield "requests fail behind a proxy that drops tool_reference blocks"
    if rest and search_denied:
        yield f"the search tool is denied: {len(rest)} deferred tools stay out of reach"


def _definitions(tools: Iterable[Tool]) -> int:
    return sum(map(_definition, tools))


def _definition(tool: Tool) -> int:
    """Tokens of a definition as it is sent, without its marker."""
    sent = {key: tool[key] for key in tool if key not in ("cache_control", "defer_loading")}
    return _count(json.dumps(sent, ensure_ascii=False, separators=(",", ":")))


@lru_cache(maxsize=20_000)
def _count(sent: str) -> int:
    return tokens.count(sent)
