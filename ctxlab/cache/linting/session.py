"""Rules that need more than one request, or the history of one: the tool set over a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ctxlab.cache.linting.finding import Finding
from ctxlab.cache.places import bare, spots, tools_of
from ctxlab.prefix import compare_tools

Request = Mapping[str, Any]
_SHOWN = 3


def lint_history(request: Request) -> Iterator[Finding]:
    """Tools that the history called and the request no longer has."""
    defined = {str(tool.get("name")) for tool in request.get("tools") or ()}
    gone: dict[str, str] = {}
    for spot in spots(request["messages"]):
        tool = spot.block.get("tool")
        if spot.block.get("type") == "tool_addition" and isinstance(tool, Mapping):
            defined.add(str((tool.get("definition") or tool).get("name")))
        name = str(spot.block.get("name"))
        if spot.block.get("type") == "tool_use" and name not in defined:
            gone.setdefault(name, spot.path)
    for name, place in gone.items():
        told = "was called and is no longer in `tools`: keep it, and have it answer that it is off"
        yield Finding("tools-changed", place, f"'{name}' {told}", name)


def lint_session(requests: Sequence[Request]) -> Iterator[Finding]:
    """Tool arrays that differ from one request of a session to the next."""
    for number, (before, after) in enumerate(pairwise(requests), 1):
        was, now = ([bare(tool) for _, tool in tools_of(body)] for body in (before, after))
        changes = compare_tools(was, now) if was != now else []
        if changes:
            more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
            told = "; ".join(str(change) for change in changes[:_SHOWN]) + more
            advice = "the tools of a session are fixed"
            yield Finding("tools-changed", f"/{number}/tools", f"{told}: {advice}", changes[0].tool)
