"""Cache diagnostics: how a request differs from an earlier one (facts `prompt-cache` §2).

It compares two requests and not the cache: no divergence with little read means that an entry
expired or lay beyond the lookback. Fingerprints are stored only for requests that ask.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ctxlab.cache.layout import Layout

_REMEMBERED = 10_000


class Fingerprint(NamedTuple):
    """What is kept of a request that asked for diagnostics."""

    layout: Layout
    cached: int
    """Tokens up to its last breakpoint that could be cached."""


class Fingerprints:
    """The requests that asked, by message id; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Fingerprint] = OrderedDict()

    def compare(
        self, layout: Layout, asked: Mapping[str, Any] | None, message_id: str, read: int
    ) -> dict[str, Any] | None:
        """The response's `diagnostics`, and this request remembered under its id.

        Args:
            layout: the request.
            asked: its `diagnostics`; None where it has none.
            message_id: its response's id.
            read: tokens it read from the cache.
        """
        if asked is None:
            return None
        self._known[message_id] = Fingerprint(layout, cached_tokens(layout))
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        previous = asked.get("previous_message_id")
        if previous is None:
            return None
        before = self._known.get(str(previous))
        if before is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        return _reason(divergence(before.layout, layout), before.cached - read)


def divergence(before: Layout, after: Layout) -> str | None:
    """The earliest difference, in prefix order; None where `after` only appends."""
    old, new = before.head, after.head
    if old.model != new.model:
        return "model_changed"
    if old.toolset != new.toolset:
        return "tools_changed"
    if old.prompt != new.prompt:
        return "system_changed"
    if old.parameters != new.parameters:
        return "unavailable"
    old_chain, new_chain = before.messages, after.messages
    last = min(old_chain.length, new_chain.length) - 1
    if last >= 0 and old_chain.columns.keys[last] != new_chain.columns.keys[last]:
        return "messages_changed"
    return None


def cached_tokens(layout: Layout) -> int:
    """Tokens of a request that the cache holds once it was sent."""
    reached = [layout.tokens_at(marker) for marker in layout.breakpoints]
    return max([tokens for tokens in reached if tokens >= layout.rules.minimum_tokens], default=0)


def _reason(kind: str | None, missed: int) -> dict[str, Any] | None:
    if kind is None:
        return None
    reason: dict[str, Any] = {"type": kind}
    if kind != "unavailable":
        reason["cache_missed_input_tokens"] = max(0, missed)
    return {"cache_miss_reason": reason}
