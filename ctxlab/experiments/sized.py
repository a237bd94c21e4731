"""Texts that say their own size, for sessions whose wording does not matter (notebooks 06 to 08).

>>> block = text(300, "turn 7")
>>> block["text"], count(block)
('300 tokens: turn 7', 300)

Everything else (tools, calls) is counted by `ctxlab.cache` with o200k, and once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from ctxlab.cache import PromptCache, rules_for
from ctxlab.cache.estimate import estimate

_SIZE = re.compile(r"(\d+) tokens: ")


class Clock:
    """Seconds that an experiment moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def text(tokens: int, words: str, **more: Any) -> dict[str, Any]:
    """A text block of exactly so many tokens; other `words`, another block."""
    return {"type": "text", "text": f"{tokens} tokens: {words}", **more}


def count(block: Mapping[str, Any]) -> int:
    """Tokens of a block: what it says of itself, else `o200k estimate`."""
    said = _SIZE.match(block["text"]) if block.get("type") == "text" else None
    return int(said[1]) if said else _estimated(orjson.dumps(block))


def marker(ttl: str) -> dict[str, str]:
    """A `cache_control` value.

    >>> marker("1h")
    {'type': 'ephemeral', 'ttl': '1h'}
    """
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}


def cache(
    model: str, rules: Mapping[str, Any] | None = None, clock: Callable[[], float] | None = None
) -> PromptCache:
    """An empty cache that believes the texts' sizes; the model's tool-use prompt is counted.

    Raises:
        InvalidRequest: 404, a model that the dated table does not know.
    """
    prompt = {"tool_prompt_tokens": rules_for(model).tool_prompt_tokens}
    return PromptCache({**prompt, **(rules or {})}, clock or Clock(), count)


@lru_cache(maxsize=100_000)
def _estimated(raw: bytes) -> int:
    return estimate(orjson.loads(raw))
