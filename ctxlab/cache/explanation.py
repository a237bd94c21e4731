"""Why the second of two requests could not use the cache of the first, and what that loses.

>>> request = {"model": "claude-opus-5", "system": "You help.",
...            "cache_control": {"type": "ephemeral"},
...            "messages": [{"role": "user", "content": "hello"}]}
>>> told = explain(request, {**request, "system": "You help. It is 10:42."},
...                count=lambda block: 1_000)
>>> told.segment, told.path, told.lost_tokens, told.lost_tokens_at_breakpoint
('system', '/system', 2000, 2000)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from ctxlab.cache.advice import KEPT, LOOKBACK, UNCACHED, advise
from ctxlab.cache.blocks import Count
from ctxlab.cache.divergence import Divergence, diverge
from ctxlab.cache.head import TOOLS
from ctxlab.cache.loss import Loss
from ctxlab.cache.places import bare, tools_of
from ctxlab.cache.rules import SEGMENTS, rules_for
from ctxlab.cache.shape import check_shape
from ctxlab.errors import InputError
from ctxlab.prefix import ToolChange, compare_tools

Request = Mapping[str, Any] | str | bytes


@dataclass(frozen=True)
class Change:
    """One change outside the tools, in the manner of `ToolChange`."""

    kind: str
    """added, removed, edited, reserialized."""
    pointer: str
    """JSON pointer in the request."""
    before: Any
    after: Any
    semantic: bool

    def __str__(self) -> str:
        return f"{self.kind} {self.pointer}"


@dataclass(frozen=True)
class Explanation:
    """What became of the prefix. Token counts are o200k estimates unless a counter was given."""

    segment: str | None
    """The first segment that is lost: model, tools, system, messages; None where none is."""
    path: str
    """JSON pointer of the earliest divergence in the request body; empty where there is none."""
    kind: str | None
    """added, removed, renamed, moved, edited, reserialized."""
    changes: tuple[ToolChange | Change, ...]
    """Every change of the tools when they broke it, else the one at `path`."""
    tool: str | None
    """The tool at `path`."""
    message: int | None
    """The index of the message at `path`."""
    parameter: str | None
    """What did it where it is no block: tool_choice, thinking, speed, images, citations, …"""
    loss: Loss = field(repr=False, compare=False)
    """The layouts of both requests and what is counted on them."""

    @property
    def lost_tokens(self) -> int:
        """Tokens of the first request behind the divergence: what no cache could keep."""
        return self.loss.by_prefix

    @property
    def lost_tokens_at_breakpoint(self) -> int:
        """Tokens that the first request cached and the second does not find by its breakpoints."""
        return self.loss.by_breakpoint

    @property
    def broke(self) -> bool:
        """Whether anything that was cached or could have been is lost."""
        return bool(self.lost_tokens or self.lost_tokens_at_breakpoint)

    @property
    def only_reserialized(self) -> bool:
        """Whether the requests mean the same up to here and only their bytes differ."""
        return bool(self.changes) and not any(change.semantic for change in self.changes)

    @property
    def advice(self) -> str:
        """What to do about it, in one sentence."""
        if self.segment is None:
            return _nothing_changed(self.loss)
        return advise(self.segment, self.path, self.kind or "", self.parameter, self.tool)


def explain(
    before: Request,
    after: Request,
    *,
    model_rules: Mapping[str, Any] | None = None,
    count: Count | None = None,
) -> Explanation:
    """Explain what the second request lost of the first one's cache.

    Tokens of JSON bodies are counted when they are asked for, those of mappings at once, since the
    caller may change them afterwards.

    Args:
        before: a Messages API request body, as a mapping or as JSON.
        after: the request that followed it.
        model_rules: overrides of the dated rules, switches among them.
        count: tokens of one block; None estimates with o200k.

    Raises:
        InvalidRequest: the API would refuse one of the requests.
        InputError: a body that is not JSON.
    """
    bodies = _body(before, "before"), _body(after, "after")
    place = _place(*bodies, model_rules)
    parsed = not (isinstance(before, Mapping) or isinstance(after, Mapping))
    told = _told(place, bodies, Loss(bodies, place, model_rules, count, parsed))
    if not parsed:
        told.loss.settle()
    return told


def _place(
    before: dict[str, Any], after: dict[str, Any], model_rules: Mapping[str, Any] | None
) -> Divergence | None:
    try:
        return diverge(before, after, rules_for(before["model"], model_rules))
    except (AttributeError, KeyError, TypeError, ValueError):
        # Most bodies are well: what is wrong with one is looked for when something is.
        check_shape(before)
        check_shape(after)
        raise


def _told(
    place: Divergence | None, bodies: tuple[dict[str, Any], dict[str, Any]], loss: Loss
) -> Explanation:
    if place is None:
        return Explanation(None, "", None, (), None, None, None, loss)
    return Explanation(
        segment="model" if place.segment < 0 else SEGMENTS[place.segment],
        path=place.path,
        kind=place.kind,
        changes=_changes(place, *bodies),
        tool=place.tool,
        message=place.message,
        parameter=place.parameter,
        loss=loss,
    )


def _body(request: Request, which: str) -> dict[str, Any]:
    if isinstance(request, Mapping):
        return dict(request)
    try:
        body = orjson.loads(request)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{which} is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise InputError(f"{which} is not a request body: a JSON object with model and messages")
    return body


def _nothing_changed(loss: Loss) -> str:
    old = loss.layouts[0]
    if loss.by_breakpoint:
        return LOOKBACK.format(positions=old.rules.lookback_positions)
    if loss.cached:
        return KEPT
    if not old.breakpoints:
        return UNCACHED.format(reason="the first request has no cache_control")
    least = old.rules.minimum_tokens
    return UNCACHED.format(reason=f"its breakpoints stand below the minimum of {least:,} tokens")


def _changes(
    place: Divergence, before: dict[str, Any], after: dict[str, Any]
) -> tuple[ToolChange | Change, ...]:
    if place.segment == TOOLS and place.parameter is None:
        return tuple(_tool_changes(before, after, *place.shared_ends))
    change = Change(place.kind, place.path, place.before, place.after, place.semantic)
    return (change,)


def _tool_changes(
    before: dict[str, Any], after: dict[str, Any], head: int, tail: int
) -> list[ToolChange]:
    """The changes of the tools that stand in the prefix.

    What both arrays share at their ends is left out of the comparison: it is most of them.
    """
    was, now = (
        [bare(tool) for _, tool in tools[head : len(tools) - tail]]
        for tools in (tools_of(before), tools_of(after))
    )
    return [
        replace(change, before=change.before + head, after=change.after + head)
        if change.kind == "moved"
        else change
        for change in compare_tools(was, now)
    ]
