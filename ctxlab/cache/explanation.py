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
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ctxlab.cache.advice import KEPT, LOOKBACK, UNCACHED, advise
from ctxlab.cache.blocks import Count
from ctxlab.cache.chain import Chain
from ctxlab.cache.diagnostics import cached_tokens
from ctxlab.cache.divergence import Divergence, bare, diverge, ordinary
from ctxlab.cache.head import TOOLS
from ctxlab.cache.layout import Layout
from ctxlab.cache.rules import SEGMENTS
from ctxlab.cache.simulator import Entry, PromptCache, found_by
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
    lost_tokens: int
    """Tokens of the first request behind the divergence: what no cache could keep."""
    lost_tokens_at_breakpoint: int
    """Tokens that the first request cached and the second does not find by its breakpoints."""
    advice: str
    """What to do about it, in one sentence."""
    tool: str | None = None
    """The tool at `path`."""
    message: int | None = None
    """The index of the message at `path`."""
    parameter: str | None = None
    """The parameter that did it, where it is no block: tool_choice, thinking, speed, images, …"""

    @property
    def broke(self) -> bool:
        """Whether anything that was cached or could have been is lost."""
        return bool(self.lost_tokens or self.lost_tokens_at_breakpoint)

    @property
    def only_reserialized(self) -> bool:
        """Whether the requests mean the same up to here and only their bytes differ."""
        return bool(self.changes) and not any(change.semantic for change in self.changes)


def explain(
    before: Request,
    after: Request,
    *,
    model_rules: Mapping[str, Any] | None = None,
    count: Count | None = None,
) -> Explanation:
    """Explain what the second request lost of the first one's cache.

    Args:
        before: a Messages API request body, as a mapping or as JSON.
        after: the request that followed it.
        model_rules: overrides of the dated rules, switches among them.
        count: tokens of one block; None estimates with o200k.

    Raises:
        InvalidRequest: the API would refuse one of the requests.
        InputError: a body that is not JSON.
    """
    old_body, new_body = _body(before, "before"), _body(after, "after")
    cache = PromptCache(model_rules, count=count)
    old, new = cache.lay_out(old_body), cache.lay_out(new_body)
    place = diverge(old, new, old_body, new_body)
    cached = cached_tokens(old)
    missed = max(0, cached - _read(old, new))
    if place is None:
        return Explanation(None, "", None, (), 0, missed, _kept(old, cached, missed))
    segment = "model" if place.segment < 0 else SEGMENTS[place.segment]
    return Explanation(
        segment=segment,
        path=place.path,
        kind=place.kind,
        changes=_changes(place, old, new, old_body, new_body),
        lost_tokens=old.total - _tokens_before(old, place),
        lost_tokens_at_breakpoint=missed,
        advice=advise(segment, place.path, place.kind, place.parameter, place.tool),
        tool=place.tool,
        message=place.message,
        parameter=place.parameter,
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


def _read(old: Layout, new: Layout) -> int:
    """Tokens that the second request finds among the entries of the first."""
    alive = Entry(expires=1.0, lifetime=1.0)
    entries = {
        (old.keys[marker.segment], old.chain(marker.segment).keys[marker.block]): alive
        for marker in old.breakpoints
        if old.tokens_at(marker) >= old.rules.minimum_tokens
    }
    found = found_by(new, entries)
    return 0 if found is None else found[1]


def _tokens_before(old: Layout, place: Divergence) -> int:
    if place.segment < 0:
        return 0
    if place.block <= 0:
        return old.offsets[place.segment]
    chain = old.chain(place.segment)
    return old.offsets[place.segment] + chain.tokens[min(place.block, chain.length) - 1]


def _kept(old: Layout, cached: int, missed: int) -> str:
    if missed:
        return LOOKBACK.format(positions=old.rules.lookback_positions)
    if cached:
        return KEPT
    if not old.breakpoints:
        return UNCACHED.format(reason="the first request has no cache_control")
    least = old.rules.minimum_tokens
    return UNCACHED.format(reason=f"its breakpoints stand below the minimum of {least:,} tokens")


def _changes(
    place: Divergence, old: Layout, new: Layout, before: dict[str, Any], after: dict[str, Any]
) -> tuple[ToolChange | Change, ...]:
    if place.segment == TOOLS and place.parameter is None:
        return tuple(_tool_changes(old.head.tools, new.head.tools, before, after))
    change = Change(place.kind, place.path, place.before, place.after, place.semantic)
    return (change,)


def _tool_changes(
    old: Chain, new: Chain, before: dict[str, Any], after: dict[str, Any]
) -> list[ToolChange]:
    """The changes of the tools that stand in the prefix.

    What both arrays share at their ends is left out of the comparison: it is most of them.
    """
    was, now = ([bare(tool) for _, tool in ordinary(body)] for body in (before, after))
    head, tail = _shared_ends(
        [block.digest for block in old.blocks], [block.digest for block in new.blocks]
    )
    changes = compare_tools(was[head : len(was) - tail], now[head : len(now) - tail])
    return [
        replace(change, before=change.before + head, after=change.after + head)
        if change.kind == "moved"
        else change
        for change in changes
    ]


def _shared_ends(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    rest = most - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    return head, tail
