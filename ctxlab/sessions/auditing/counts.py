"""The token counts of one request, out of whatever usage was recorded.

>>> counts = counts_of({"input_tokens": 3, "cache_read_input_tokens": 700,
...                     "cache_creation_input_tokens": 100, "output_tokens": 12})
>>> counts.reach, counts.total, counts.avoiding(50)
(800, 803, Counts(read=750, written_5m=50, written_1h=0, uncached=3, output=12))

Unlike `ctxlab.prices`, which refuses what it cannot price, this reads what it can: a log is data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_SPLIT = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens of one request; the four of the input do not overlap."""

    read: int = 0
    """Read from the cache."""
    written_5m: int = 0
    written_1h: int = 0
    uncached: int = 0
    """Neither read nor written."""
    output: int = 0

    @property
    def written(self) -> int:
        """Written to the cache, whatever the lifetime."""
        return self.written_5m + self.written_1h

    @property
    def reach(self) -> int:
        """What the cache holds of this prompt afterwards: the next request can read so much."""
        return self.read + self.written

    @property
    def total(self) -> int:
        """The whole input."""
        return self.reach + self.uncached

    def avoiding(self, lost: int) -> Counts:
        """The same input if `lost` more tokens of it had been read instead of sent anew.

        What is read comes first in the prompt, then what is written for an hour, then what is
        written for five minutes, then the rest: they give way in this order.
        """
        left = min(lost, self.total - self.read)
        hour = min(left, self.written_1h)
        five = min(left - hour, self.written_5m)
        plain = left - hour - five
        return replace(
            self,
            read=self.read + left,
            written_1h=self.written_1h - hour,
            written_5m=self.written_5m - five,
            uncached=self.uncached - plain,
        )

    def to_usage(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """A usage mapping with these counts; what else prices depend on is as it was recorded."""
        kept = {
            key: value
            for key, value in recorded.items()
            if key not in _INPUT and key not in ("output_tokens", "cache_creation")
        }
        return {
            **kept,
            "input_tokens": self.uncached,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written,
            "cache_creation": dict(zip(_SPLIT, (self.written_5m, self.written_1h), strict=True)),
            "output_tokens": self.output,
        }


def counts_of(usage: Mapping[str, Any]) -> Counts | None:
    """The counts of a recorded usage; None where it says nothing of the input.

    A write without a lifetime counts as five minutes, which is the API's default.
    """
    if all(usage.get(key) is None for key in _INPUT):
        return None
    uncached, read, written = (_tokens(usage.get(key)) for key in _INPUT)
    split = usage.get("cache_creation")
    hour = _tokens(split.get(_SPLIT[1])) if isinstance(split, Mapping) else 0
    five = _tokens(split.get(_SPLIT[0])) if isinstance(split, Mapping) else 0
    if hour + five != written and written:
        hour = min(hour, written)
        five = written - hour
    return Counts(read, five, hour, uncached, _tokens(usage.get("output_tokens")))


def _tokens(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return max(0, value) if whole else 0
