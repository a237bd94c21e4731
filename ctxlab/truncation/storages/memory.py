"""Resources in this process, for trials and tests: they end with it."""

from __future__ import annotations

from threading import Lock

from ctxlab.truncation.storages.base import TOMBSTONE_SECONDS, Found, Lifetime


class MemoryStorage:
    """A dict behind a lock."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, bytes | None, float | None]] = {}
        self._lock = Lock()

    def add(self, key: str, header: str, content: bytes, lifetime: Lifetime | None) -> bool:
        """See `Storage`."""
        ends = None if lifetime is None else lifetime.ends
        with self._lock:
            if key in self._kept:
                return False
            self._kept[key] = (header, content, ends)
            return True

    def read(self, key: str) -> Found | None:
        """See `Storage`."""
        with self._lock:
            found = self._kept.get(key)
        return found and found[:2]

    def sweep(self, now: float) -> None:
        """See `Storage`."""
        with self._lock:
            for key, (header, content, expires) in list(self._kept.items()):
                if expires is not None and expires + TOMBSTONE_SECONDS <= now:
                    del self._kept[key]
                elif expires is not None and expires <= now and content is not None:
                    self._kept[key] = (header, None, expires)
