r"""Keep what a cut leaves out, whole, and give it back by an id.

>>> from ctxlab.truncation.storages import MemoryStorage
>>> store = ResourceStore(MemoryStorage())
>>> resource = store.save("a long result", {"tool": "grep_search"})
>>> page = store.get(resource, offset=2, limit=4)
>>> page.content, page.total_chars, page.has_more
('long', 13, True)
>>> store.metadata(resource)["sha256"][:8]
'c67cfa33'

What was saved comes back with every byte, checked against its SHA-256. An id is 8 hex digits, and
never one that was given out before. What has expired says so, and which call makes it anew
(source: `result-handling`, store).
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ctxlab.errors import ResourceExpired, StoreError, UsageError
from ctxlab.truncation.storages import Lifetime, SqliteStorage, Storage

PAGE = 4_000
"""Characters that a page has when nothing is said."""

_ID = re.compile(r"[0-9a-f]{8}")
_DRAWS = 100
_SWEEP_EVERY = 64


@dataclass(frozen=True)
class Page:
    """A part of a resource. `dict(page)` is what `lookup_full_content` answers."""

    resource_id: str
    offset: int
    """Characters before it."""
    returned_chars: int
    total_chars: int
    has_more: bool
    """Whether characters follow it: the next page begins at `offset + returned_chars`."""
    content: str

    def keys(self) -> Iterator[str]:
        """Names of the fields, in order."""
        return iter(self.__dataclass_fields__)

    def __getitem__(self, key: str) -> Any:
        if key not in self.__dataclass_fields__:
            raise KeyError(key)
        return getattr(self, key)


class ResourceStore:
    """Resources in a storage; threads and processes may share both."""

    def __init__(
        self,
        storage: Storage | None = None,
        ttl: float | None = None,
        clock: Callable[[], float] = time.time,
        draw: Callable[[], str] = lambda: secrets.token_hex(4),
    ) -> None:
        """Keep resources in `storage`, by default SQLite in the user's cache directory.

        Args:
            storage: One of `storages`, or anything with their three methods.
            ttl: Seconds after which a resource expires; None keeps it.
            clock: Seconds since 1970.
            draw: Draws ids of 8 hex digits.

        Raises:
            UsageError: a ttl that is not above 0.
        """
        if ttl is not None and not ttl > 0:
            raise UsageError(f"ttl must be above 0 seconds, or None to keep all, not {ttl!r}")
        self._storage: Storage = SqliteStorage() if storage is None else storage
        self._ttl, self._clock, self._draw = ttl, clock, draw
        self._saved = 0
        # Pages are asked for one after the other: the last resource stays at hand.
        self._last: tuple[str, dict[str, Any], str] | None = None

    def save(self, content: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Keep a text, and return its id.

        Args:
            content: The text; lone surrogates are kept too.
            metadata: JSON values, such as `tool`, `arguments` and `kind`; the time, the sizes and
                the SHA-256 are added.

        Raises:
            UsageError: content that is no text, metadata that is no JSON.
            StoreError: the storage cannot keep it.
        """
        if not isinstance(content, str):
            raise UsageError(f"content must be a string, not {type(content).__name__}")
        data = content.encode("utf-8", "surrogatepass")
        now = self._clock()
        lifetime = None if self._ttl is None else Lifetime(self._ttl, now + self._ttl)
        header = _header(metadata or {}, content, data, now, lifetime)
        if self._ttl is not None and self._saved % _SWEEP_EVERY == 0:
            self._storage.sweep(now)
        self._saved += 1
        for _ in range(_DRAWS):
            resource_id = self._draw()
            if self._storage.add(resource_id, header, data, lifetime):
                return resource_id
        raise StoreError(f"no free id in {_DRAWS} draws; use another storage")

    def get(self, resource_id: str, offset: int = 0, limit: int = PAGE) -> Page:
        """A page of a resource, by characters.

        Raises:
            UsageError: an offset below 0 or past the end, or a limit below 1.
            ResourceExpired: the resource's time is over; the error names the call to make again.
            StoreError: no such resource, or it cannot be read.
        """
        _whole(offset, "offset", 0)
        _whole(limit, "limit", 1)
        key, content = self._read(resource_id)
        if offset > len(content):
            raise UsageError(
                f"offset {offset:,} is past the end: {key} has {len(content):,} characters"
            )
        part = content[offset : offset + limit]
        has_more = offset + len(part) < len(content)
        return Page(key, offset, len(part), len(content), has_more, part)

    def text(self, resource_id: str) -> str:
        """A resource as it was saved; errors as `get`."""
        return self._read(resource_id)[1]

    def metadata(self, resource_id: str) -> dict[str, Any]:
        """What was saved with a resource, also after it expired; errors else as `get`."""
        return self._found(checked_id(resource_id))[0]

    def _read(self, resource_id: str) -> tuple[str, str]:
        key = checked_id(resource_id)
        if self._last and self._last[0] == key:
            header, content = self._last[1:]
            self._alive(key, header)
            return key, content
        header, data = self._found(key)
        self._alive(key, header, is_gone=data is None)
        if data is None or hashlib.sha256(data).hexdigest() != header["sha256"]:
            raise StoreError(f"the content of {key} is not what was saved; the storage is damaged")
        content = data.decode("utf-8", "surrogatepass")
        self._last = (key, header, content)
        return key, content

    def _found(self, key: str) -> tuple[dict[str, Any], bytes | None]:
        found = self._storage.read(key)
        if found is None:
            raise StoreError(f"no resource {key!r}; its id stands in the notice as resource_id")
        try:
            return json.loads(found[0]), found[1]
        except ValueError as error:
            raise StoreError(f"the header of {key} cannot be read: {error}") from None

    def _alive(self, key: str, header: Mapping[str, Any], *, is_gone: bool = False) -> None:
        expires = header["expires"]
        if expires is not None and (is_gone or expires <= self._clock()):
            again = _call(header)
            raise ResourceExpired(f"resource {key} has expired; to see it again, call {again}")


def checked_id(resource_id: object) -> str:
    """The id as it is stored: models change its case and put quotes or spaces around it.

    Raises:
        StoreError: it is not 8 hex digits.
    """
    key = resource_id.strip(" \t\r\n\"'`").lower() if isinstance(resource_id, str) else ""
    if not _ID.fullmatch(key):
        raise StoreError(f"{resource_id!r:.80} is no resource id; one is 8 hex digits")
    return key


def _header(
    metadata: Mapping[str, Any], content: str, data: bytes, now: float, lifetime: Lifetime | None
) -> str:
    added = {
        "saved": now,
        "expires": None if lifetime is None else lifetime.ends,
        "chars": len(content),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    try:
        return json.dumps({**metadata, **added})
    except (TypeError, ValueError) as error:
        raise UsageError(f"metadata must be JSON values: {error}") from None


def _call(header: Mapping[str, Any]) -> str:
    """The call that made a resource, as far as it is known."""
    arguments = header.get("arguments")
    given = arguments.items() if isinstance(arguments, dict) else ()
    told = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given)
    return f"{header.get('tool') or 'the tool that made it'}({told})"


def _whole(value: object, what: str, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} must be a whole number of at least {least}, not {value!r}")
