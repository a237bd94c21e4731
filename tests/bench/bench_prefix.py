"""What chains, requests and comparisons cost on the registry that `make data` fetches."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from ctxlab.prefix import (
    ToolSegments,
    ToolSetSession,
    compare_tools,
    prefix_chain,
    read_tools,
)
from tests.bench import Figure, interleaved

REGISTRY = "data/cache/toolsets/registry.json"
TIMES = 4  # how much larger the larger registry is


def figures() -> Iterator[Figure]:
    tools = read_tools(REGISTRY)
    after = edited(tools)
    session = ToolSetSession(ToolSegments(tools[:100], tools[100:]))
    size = f"{len(tools)} tools"
    yield figure(
        f"prefix_chain, {size}",
        (lambda: prefix_chain(tools), lambda: plain_chain(tools)),
        bound=2,
        against="json.dumps(sort_keys) + SHA-256",
    )
    yield figure(
        f"request_tools (guard and copies), {size}",
        (session.request_tools, lambda: copy.deepcopy([tools, tools[:100]])),
        bound=2,
        against="copy.deepcopy of array and core",
    )
    yield figure(
        f"compare_tools, a tool in, one out, one edited, {size}",
        (lambda: compare_tools(tools, after), lambda: (json.dumps(tools), json.dumps(after))),
        bound=2,
        against="json.dumps of both",
    )
    yield figure(
        f"compare_tools, {TIMES} times the tools, all moved",
        (lambda: reverse(many(tools, TIMES)), lambda: reverse(many(tools, 1))),
        bound=TIMES * 1.5,
        against=f"{size}, all moved",
    )


def figure(
    name: str, pair: tuple[Callable[[], object], Callable[[], object]], bound: float, against: str
) -> Figure:
    ours, reference = interleaved(*pair, repeats=15)
    detail = f"{ours * 1e3:.1f} ms against {reference * 1e3:.1f} ms"
    return Figure(name, ours / reference, bound, against, detail=detail)


def plain_chain(tools: list[dict[str, Any]]) -> list[str]:
    """A chain without any care: nothing checked, `required` taken as it comes."""
    running, chain = hashlib.sha256(), []
    for tool in tools:
        text = json.dumps(tool, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        running.update(text.encode())
        chain.append(running.hexdigest())
    return chain


def edited(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A copy with a new first tool, without the middle one, the last one's text edited."""
    middle = len(tools) // 2
    after = copy.deepcopy([{"name": "new"}, *tools[:middle], *tools[middle + 1 :]])
    after[-1]["description"] = "edited"
    return after


def many(tools: list[dict[str, Any]], times: int) -> list[dict[str, Any]]:
    return [{**tool, "name": f"{tool['name']}_{i}"} for i in range(times) for tool in tools]


def reverse(tools: list[dict[str, Any]]) -> object:
    return compare_tools(tools, tools[::-1])
