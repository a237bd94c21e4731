"""The three methods of a storage.

A storage keeps a header (JSON text) and a content (bytes) under a key. The header outlives the
content by TOMBSTONE_SECONDS, so that an expired resource can still say what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

TOMBSTONE_SECONDS = 30 * 24 * 3600.0
"""How long a header is kept after its content expired."""


@dataclass(frozen=True)
class Lifetime:
    """How long a content is kept."""

    seconds: float
    """From now on."""
    ends: float
    """In seconds since 1970, by the store's clock."""


Found = tuple[str, bytes | None]
"""A header, and the content unless it is gone."""


class Storage(Protocol):
    """What `ResourceStore` needs. Each method raises StoreError when the storage fails."""

    def add(self, key: str, header: str, content: bytes, lifetime: Lifetime | None) -> bool:
        """Keep both under a new key, at once and for good; False, and nothing kept, if it is taken.

        Without a lifetime it is kept for good.
        """

    def read(self, key: str) -> Found | None:
        """What was kept under the key."""

    def sweep(self, now: float) -> None:
        """Let go of what has expired; a storage that does so by itself does nothing."""
