"""Requests that several request logs hold: a forwarder's and its upstream's, or copies of lines.

They have one id, and times as far apart as the way between the two who wrote them. Ids of an API
are unique. Those of a simulated cache that were made without a name for its run begin anew with
every cache, as other makers' may: with them only a copied line, whose time is equal too, is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ctxlab.cache.simulator import SIMULATED
from ctxlab.sessions.reading.found import Found

COPIED = "already counted in another log (of a forwarder, or a copy)"
_UNIQUE = re.compile(rf"(?!{SIMULATED}\d+$)(msg|chatcmpl|resp)[_-]")
_APART = 60.0
"""Seconds that two clocks may differ by."""


class Elsewhere:
    """The requests of the logs that were read before."""

    def __init__(self) -> None:
        """No log was read yet."""
        self._known: dict[str, list[Found]] = {}

    def has(self, found: Found) -> bool:
        """Whether an earlier log has this request."""
        return any(_same(found, other) for other in self._known.get(found.id, ()))

    def add(self, requests: Iterable[Found]) -> None:
        """Remember a log's requests."""
        for found in requests:
            if found.id:
                self._known.setdefault(found.id, []).append(found)


def _same(one: Found, other: Found) -> bool:
    if one.request_id and other.request_id and one.request_id != other.request_id:
        return False
    if one.time is None or other.time is None or not _UNIQUE.match(one.id):
        return one.time == other.time and one.usage == other.usage
    return abs(one.time - other.time) <= _APART
