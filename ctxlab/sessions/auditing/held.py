"""What the cache holds of one stream, as far as the usage of its requests tells.

In an unbroken stream every request reads what the one before it read and wrote:
`cache_read[i+1] = cache_read[i] + cache_creation[i]` (facts `prompt-cache` §1, Billing).

>>> from ctxlab.sessions.auditing.counts import Counts
>>> held = EMPTY.after(Counts(written_1h=700, written_5m=100))
>>> held.reach, held.hour, held.expired(400, read=700), held.expired(400, read=400)
(800, 700, True, False)
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxlab.cache.rules import table
from ctxlab.sessions.auditing.counts import Counts


@dataclass(frozen=True, slots=True)
class Held:
    """Levels at which entries stand, in tokens from the beginning of the prompt."""

    reach: int = 0
    """What the last request left: the next one should read so much."""
    hour: int = 0
    """So much of it lives for an hour; the rest for five minutes."""
    first: int = 0
    """What the first request left: tools, system and the first message."""
    base: int = 0
    """What the first request found already: an end of tools or of system."""
    heads: frozenset[int] = frozenset()
    """Levels below `first` that were read: ends of tools or of system."""

    def after(self, counts: Counts, *, rewritten: bool = False) -> Held:
        """What it holds once another request was answered.

        Args:
            counts: of that request.
            rewritten: the prompt was found to be another one from `counts.read` on.
        """
        hour = counts.read + counts.written_1h if counts.written_1h else min(self.hour, counts.read)
        first, base = self.first, self.base
        if not first:
            first, base = counts.reach, counts.read
        elif rewritten and counts.read < first:
            first = counts.reach
        heads = self.heads | {counts.read} if 0 < counts.read < first else self.heads
        return Held(counts.reach, hour, first, base, heads)

    def expired(self, gap: float | None, read: int, *, known_lifetimes: bool = True) -> bool:
        """Whether a gap of so many seconds explains that no more than `read` was there.

        An entry is found while its age is below its lifetime. Where lifetimes are not known
        (another provider's cache), only a gap above the longest one counts.
        """
        if gap is None:
            return False
        five, hour = (lifetimes()[name] for name in ("5m", "1h"))
        if gap >= hour:
            return True
        return known_lifetimes and gap >= five and self.hour <= read < self.reach


EMPTY = Held()


def lifetimes() -> dict[str, float]:
    """Seconds that an entry lives, by its name (facts `prompt-cache` §1, TTL)."""
    return {row["name"]: row["seconds"] for row in table()["ttl"]}
