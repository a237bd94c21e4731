"""A fall: a request that read less than the request before it left in the cache."""

from __future__ import annotations

from dataclasses import dataclass

from ctxlab.cache.rules import model_id, rules_for
from ctxlab.errors import InvalidRequest
from ctxlab.sessions.auditing.counts import Counts
from ctxlab.sessions.auditing.held import Held
from ctxlab.sessions.model import Exchange

_SHARPLY = 0.5


@dataclass(frozen=True)
class Fall:
    """What is known before any body is read."""

    before: Exchange
    was: Counts
    """Of the request before."""
    now: Exchange
    counts: Counts
    held: Held
    """What the request before left."""
    gap: float | None
    """Seconds between the two; None where a time is missing."""

    @property
    def lost(self) -> int:
        """Tokens that were there and were not read."""
        return max(0, self.held.reach - self.counts.read)

    @property
    def expired(self) -> bool:
        """Whether the gap alone explains it."""
        return self.held.expired(
            self.gap, self.counts.read, known_lifetimes=is_claude(self.now.model)
        )

    @property
    def shrank(self) -> bool:
        """Whether the context became so much smaller that its history must have been replaced."""
        return self.counts.total < _SHARPLY * self.was.total

    @property
    def too_short(self) -> bool:
        """Whether nothing at all was cached because the whole prompt is below the minimum."""
        return not self.counts.reach and self.counts.total < minimum_tokens(self.now.model)

    @property
    def switched(self) -> bool:
        """Whether the two went to different models."""
        return model_id(self.before.model) != model_id(self.now.model)


def minimum_tokens(model: str) -> int:
    """The shortest prefix that is cached; 0 where the table does not know the model."""
    try:
        return rules_for(model).minimum_tokens
    except InvalidRequest:
        return 0


def is_claude(model: str) -> bool:
    """Whether the Messages API's lifetimes hold for it."""
    return model_id(model).startswith("claude")
