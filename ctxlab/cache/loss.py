"""What a divergence loses in tokens: by prefix, and by the breakpoints that were set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ctxlab.cache.blocks import Count
from ctxlab.cache.diagnostics import cached_tokens
from ctxlab.cache.divergence import Divergence
from ctxlab.cache.layout import Layout
from ctxlab.cache.simulator import Entry, PromptCache, found_by, key_of
from ctxlab.cache.validation import Envelope

_ALIVE = Entry(expires=1.0, lifetime=1.0)


@dataclass(frozen=True)
class Loss:
    """Counted when it is first asked for: counting costs more than finding the place."""

    bodies: tuple[Mapping[str, Any], Mapping[str, Any]] = field(repr=False)
    place: Divergence | None
    model_rules: Mapping[str, Any] | None
    count: Count | None
    parsed: bool

    @cached_property
    def layouts(self) -> tuple[Layout, Layout]:
        """Both requests laid out for one cache."""
        cache, envelope = (
            PromptCache(self.model_rules, count=self.count),
            Envelope(parsed=self.parsed),
        )
        before, after = (cache.lay_out(body, envelope) for body in self.bodies)
        return before, after

    def settle(self) -> None:
        """Count now, before the caller can change the bodies."""
        _ = self.by_prefix, self.by_breakpoint

    @cached_property
    def cached(self) -> int:
        """Tokens of the first request that the cache holds."""
        return cached_tokens(self.layouts[0])

    @cached_property
    def by_prefix(self) -> int:
        """Tokens of the first request behind the divergence."""
        old, place = self.layouts[0], self.place
        if place is None:
            return 0
        if place.segment < 0:
            return old.total
        before = old.offsets[place.segment]
        chain = old.chain(place.segment)
        last = min(place.block, chain.length) - 1
        return old.total - (before if last < 0 else before + chain.columns.tokens[last])

    @cached_property
    def by_breakpoint(self) -> int:
        """Tokens that the first request cached and the second does not find."""
        old, new = self.layouts
        entries = {
            key_of(old, marker): _ALIVE
            for marker in old.breakpoints
            if old.tokens_at(marker) >= old.rules.minimum_tokens
        }
        found = found_by(new, entries)
        return max(0, self.cached - (0 if found is None else found[1]))
