"""A token budget for each route into the context, checked before a call and loud on excess.

>>> budget = TokenBudget({"history": 100, "retrieved_context": 50})
>>> budget.consume("history", 80)
>>> budget.check(history=30, retrieved_context=50)
{'history': 10}
>>> budget.consume("history", 30)
Traceback (most recent call last):
    ...
ctxlab.errors.BudgetExceeded: token budget exceeded: history by 10 tokens
>>> budget.remaining("history")
20

When `check` predicts an excess, compact the history or narrow the retrieval first, then `release`
what that freed (source: `result-handling`, token budget).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from threading import Lock
from types import MappingProxyType

from ctxlab.errors import BudgetExceeded, UsageError

DEFAULT_BUDGETS: Mapping[str, int] = MappingProxyType(
    {
        "system_prompt": 4_000,
        "tool_definitions": 4_000,
        "retrieved_context": 16_000,
        "history": 60_000,
        "user_input": 4_000,
        "output_reserved": 40_000,
    }
)
"""Tokens by route (source: `result-handling`)."""


class TokenBudget:
    """Tokens left on each route; may be shared by threads."""

    def __init__(self, limits: Mapping[str, int] = DEFAULT_BUDGETS) -> None:
        """`limits` maps each route to its tokens.

        Raises:
            UsageError: no route, or a limit that is not a whole number from 0.
        """
        if not limits:
            raise UsageError("a token budget needs at least one route")
        for route, limit in limits.items():
            _checked(limit, f"the limit of {route}")
        self._limits = dict(limits)
        self._used = dict.fromkeys(limits, 0)
        self._lock = Lock()

    @property
    def limits(self) -> dict[str, int]:
        """Tokens by route."""
        return dict(self._limits)

    def consume(self, route: str, tokens: int) -> None:
        """Count tokens that go into the context.

        Raises:
            BudgetExceeded: they would overflow the route; nothing was counted.
            UsageError: an unknown route, or a number below 0.
        """
        _checked(tokens, "tokens")
        with self._lock:
            over = self._known(route) + tokens - self._limits[route]
            if over > 0:
                raise BudgetExceeded({route: over})
            self._used[route] += tokens

    def release(self, route: str, tokens: int) -> None:
        """Give back tokens that left the context again, by compaction for one.

        Raises:
            UsageError: an unknown route, or more than were consumed.
        """
        _checked(tokens, "tokens")
        with self._lock:
            used = self._known(route)
            if tokens > used:
                raise UsageError(f"{route}: cannot release {tokens:,} tokens, {used:,} are in use")
            self._used[route] -= tokens

    def remaining(self, route: str) -> int:
        """Tokens left on a route.

        Raises:
            UsageError: an unknown route.
        """
        with self._lock:
            return -self._known(route) + self._limits[route]

    def check(self, **tokens: int) -> dict[str, int]:
        """Which routes would overflow with these tokens more, and by how many; counts nothing.

        Raises:
            UsageError: an unknown route, or a number below 0.
        """
        for route, more in tokens.items():
            _checked(more, route)
        with self._lock:
            over = {r: self._known(r) + more - self._limits[r] for r, more in tokens.items()}
        return {route: excess for route, excess in over.items() if excess > 0}

    def _known(self, route: str) -> int:
        if route not in self._used:
            known = ", ".join(self._limits)
            raise UsageError(f"no route {route!r} in the token budget; there are {known}")
        return self._used[route]


def dynamic_limit(remaining: int, share: float = 0.3) -> int:
    """A limit that follows the budget: a share of what remains (source: `result-handling`).

    >>> dynamic_limit(16_000), dynamic_limit(100, share=0.57)
    (4800, 57)

    Raises:
        UsageError: a share that is not above 0 and at most 1.
    """
    if isinstance(share, bool) or not 0 < share <= 1:
        raise UsageError(f"share must be above 0 and at most 1, not {share!r}")
    return max(int(remaining * Decimal(str(share))), 0)


def _checked(tokens: object, what: str) -> None:
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
        raise UsageError(f"{what} must be a whole number of at least 0, not {tokens!r}")
