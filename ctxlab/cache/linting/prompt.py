"""Rules about the order of a request: what varies, where breakpoints stand, what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ctxlab.cache.head import MESSAGES, SYSTEM, TOOLS, Marker
from ctxlab.cache.layout import Layout
from ctxlab.cache.linting.finding import Finding
from ctxlab.cache.linting.volatile import volatile
from ctxlab.cache.places import spots, system_blocks, tools_of
from ctxlab.cache.simulator import PromptCache
from ctxlab.errors import InvalidRequest

Request = Mapping[str, Any]


def lint_prompt(request: Request, model_rules: Mapping[str, Any] | None) -> Iterator[Finding]:
    """What is wrong with a request's order, as far as one request shows it."""
    yield from _volatile(request)
    try:
        layout = PromptCache(model_rules).lay_out(request)
    except InvalidRequest as error:
        yield Finding("invalid-request", "", str(error))
        return
    yield from _breakpoints(layout, request)


def _volatile(request: Request) -> Iterator[Finding]:
    string = isinstance(request.get("system"), str)
    for number, block in enumerate(system_blocks(request)):
        place = "/system" if string else f"/system/{number}/text"
        for found in volatile(str(block.get("text") or "")):
            told = "move it to the end of the last user message, behind the last breakpoint"
            yield Finding("volatile-system", place, f"{found.kind} {found.text!r}: {told}")


def _breakpoints(layout: Layout, request: Request) -> Iterator[Finding]:
    least = layout.rules.minimum_tokens
    if not layout.breakpoints:
        if layout.total >= least:
            told = f"no cache_control anywhere: {layout.total:,} tokens (o200k estimate) uncached"
            yield Finding("no-breakpoint", "", f"{told}; mark the end of system at least")
        return
    for marker in layout.breakpoints:
        tokens = layout.tokens_at(marker)
        if tokens < least:
            told = (
                f"{tokens:,} tokens (o200k estimate) up to here, the model's minimum is {least:,}"
            )
            yield Finding("below-minimum", _pointer(request, marker), f"{told}: nothing is cached")
    yield from _useless(layout, request)
    yield from _distances(layout, request)


def _useless(layout: Layout, request: Request) -> Iterator[Finding]:
    """A breakpoint right on what varies: its entry is written, paid for and never found."""
    for marker in layout.breakpoints:
        if marker.segment == TOOLS:
            continue
        text = _text(request, marker)
        stale = volatile(text) if text else []
        if stale:
            told = f"stands on {stale[0].kind} {stale[0].text!r}, so no later request finds it"
            place = _pointer(request, marker)
            yield Finding("useless-breakpoint", place, f"{told}: mark the block before")


def _distances(layout: Layout, request: Request) -> Iterator[Finding]:
    """More than a lookback between two breakpoints, or behind the last one."""
    reach = layout.rules.lookback_positions
    height = _position(layout, MESSAGES, layout.messages.length - 1)
    spread = [_position(layout, marker.segment, marker.block) for marker in layout.breakpoints]
    for (one, other), marker in zip(pairwise(spread), layout.breakpoints[1:], strict=True):
        if marker.segment == MESSAGES and other - one > reach:
            told = f"{other - one} positions since the breakpoint before, a lookback is {reach}"
            yield Finding(
                "lookback-exceeded", _pointer(request, marker), f"{told}: add one between"
            )
    if height - spread[-1] > reach:
        told = f"{height - spread[-1]} positions behind the last breakpoint, a lookback is {reach}"
        yield Finding("lookback-exceeded", "/messages", f"{told}: mark the last block")


def _position(layout: Layout, segment: int, block: int) -> int:
    """A block's position in the one sequence of tools, system and messages."""
    before = 0
    for earlier in range(segment):
        chain = layout.chain(earlier)
        before += chain.columns.positions[chain.length - 1] + 1 if chain.length else 0
    return before + layout.chain(segment).columns.positions[block]


def _text(request: Request, marker: Marker) -> str:
    if marker.segment == SYSTEM:
        number = marker.block - len(tools_of(request, web=True))
        return str(system_blocks(request)[number].get("text") or "") if number >= 0 else ""
    block = [*spots(request["messages"])][marker.block].block
    return str(block.get("text") or "")


def _pointer(request: Request, marker: Marker) -> str:
    if marker.segment == MESSAGES:
        return [*spots(request["messages"])][marker.block].path
    web = tools_of(request, web=True)
    if marker.segment == SYSTEM and marker.block >= len(web):
        string = isinstance(request.get("system"), str)
        return "/system" if string else f"/system/{marker.block - len(web)}"
    tools = web if marker.segment == SYSTEM else tools_of(request)
    return f"/tools/{tools[marker.block][0]}"
