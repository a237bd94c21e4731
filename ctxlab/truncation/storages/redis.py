"""Resources in Redis, for several machines: the extra `redis`.

Header and content are two keys, set together by a script on the server, which also lets them
expire: the content first, the header TOMBSTONE_SECONDS later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ctxlab.errors import StoreError, UsageError
from ctxlab.truncation.storages.base import TOMBSTONE_SECONDS, Found, Lifetime

_WAIT_SECONDS = 30.0
_ADD = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
if ARGV[3] ~= '' then
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return 1
"""


class RedisStorage:
    """A Redis server; keys begin with `prefix`."""

    def __init__(self, url: str, prefix: str = "ctxlab:") -> None:
        """`url` is `redis://host:port/db`, `rediss://…` or `unix:///path`.

        Raises:
            UsageError: no such url, or the extra is not installed.
            StoreError: the server does not answer.
        """
        try:
            import redis  # noqa: PLC0415  an extra, and nobody else's cost
        except ImportError:
            raise UsageError(
                "RedisStorage needs the extra redis: pip install 'ctxlab[redis]'"
            ) from None
        self._errors: tuple[type[Exception], ...] = (redis.RedisError, OSError)
        self._prefix = prefix
        try:
            self._client: Any = redis.Redis.from_url(
                url, socket_timeout=_WAIT_SECONDS, socket_connect_timeout=_WAIT_SECONDS
            )
        except ValueError as error:
            raise UsageError(f"no Redis url: {error}") from None
        with self._told():
            self._client.ping()

    def add(self, key: str, header: str, content: bytes, lifetime: Lifetime | None) -> bool:
        """See `Storage`."""
        times: tuple[Any, ...] = ("", "")
        if lifetime is not None:
            left = max(math.ceil(lifetime.seconds * 1000), 1)
            times = (left, left + int(TOMBSTONE_SECONDS * 1000))
        with self._told():
            return bool(self._client.eval(_ADD, 2, *self._keys(key), header, content, *times))

    def read(self, key: str) -> Found | None:
        """See `Storage`."""
        with self._told():
            header, content = self._client.mget(self._keys(key))
        return None if header is None else (header.decode(), content)

    def sweep(self, now: float) -> None:
        """Nothing: the server lets go by itself."""

    def _keys(self, key: str) -> tuple[str, str]:
        # Braces keep both on one node of a cluster.
        return f"{self._prefix}{{{key}}}:header", f"{self._prefix}{{{key}}}:content"

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise StoreError(f"Redis: {error}") from error
