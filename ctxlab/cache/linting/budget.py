"""What a request spends on each route, held against the document's budgets (`result-handling`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxlab.cache.blocks import shared_reader
from ctxlab.cache.linting.finding import Finding
from ctxlab.cache.places import spots, system_blocks
from ctxlab.truncation import DEFAULT_BUDGETS

Request = Mapping[str, Any]
_READER = shared_reader(())


def lint_tool_budget(tools: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Definitions that stand in the context from the start."""
    upfront = [tool for tool in tools if not tool.get("defer_loading")]
    tokens = sum(_READER.tool(tool, ("tools",)).tokens for tool in upfront)
    yield from _over("tool_definitions", tokens, "/tools", "defer those that are seldom called")


def lint_budget(request: Request) -> Iterator[Finding]:
    """System prompt, history, user input, and what is reserved for the answer."""
    system = sum(_tokens(b"S", block) for block in system_blocks(request))
    yield from _over(
        "system_prompt", system, "/system", "move what is not always needed into tools"
    )
    last = len(request["messages"]) - 1
    sizes = [(spot.message, _tokens(spot.tag, spot.block)) for spot in spots(request["messages"])]
    history = sum(tokens for message, tokens in sizes if message < last)
    yield from _over("history", history, "/messages", "compact it before the next call")
    if request["messages"][last].get("role") == "user":
        said = sum(
            _tokens(spot.tag, spot.block)
            for spot in spots(request["messages"][last:], last)
            if spot.block.get("type") == "text"
        )
        yield from _over("user_input", said, f"/messages/{last}", "refer to what is long")
    reserved = request.get("max_tokens") or 0
    yield from _over("output_reserved", reserved, "/max_tokens", "reserve what an answer takes")


def _over(route: str, tokens: int, place: str, advice: str) -> Iterator[Finding]:
    limit = DEFAULT_BUDGETS[route]
    if tokens > limit:
        told = f"{tokens:,} tokens (o200k estimate) for {route}, its budget is {limit:,}"
        yield Finding("over-budget", place, f"{told}: {advice}")


def _tokens(tag: bytes, block: Mapping[str, Any]) -> int:
    return _READER.content(tag, block, ()).tokens
