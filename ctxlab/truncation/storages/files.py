"""Resources as files in a local directory, or in any object store that fsspec knows.

A resource is a header `<id>.json`, which is made only where none is yet and so claims the id, and
a content, whose name tells when it expires. Where a file system cannot make a file exclusively,
the header is read back: of two that claim an id at once, one finds the other's and draws again.
Headers are never swept: they are small, and an expired resource can always say what it was.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ctxlab.errors import StoreError, UsageError
from ctxlab.truncation.storages.base import Found, Lifetime


class FsspecStorage:
    """A directory of a file system: `/path`, `file:///path`, `s3://bucket/path`, `memory://x`."""

    def __init__(self, url: str, **options: Any) -> None:
        """`options` go to the file system, as credentials and endpoints do.

        Raises:
            UsageError: a url whose file system fsspec does not know, or has no package for.
            StoreError: the directory cannot be made.
        """
        import fsspec  # noqa: PLC0415  it looks for its plugins when it is imported

        try:
            self._files, self._root = fsspec.core.url_to_fs(str(url), **options)
        except (ValueError, ImportError, TypeError) as error:
            raise UsageError(f"{url}: {error}") from None
        with self._told():
            self._files.makedirs(self._root, exist_ok=True)

    def add(self, key: str, header: str, content: bytes, lifetime: Lifetime | None) -> bool:
        """See `Storage`."""
        header = json.dumps(json.loads(header) | {"claim": secrets.token_hex(8)})
        ends = None if lifetime is None else lifetime.ends
        with self._told():
            if not self._claimed(self._header(key), header.encode()):
                return False
            try:
                self._files.pipe_file(self._content(key, ends), content)
            except BaseException:  # a full disk, Ctrl-C: what was not kept must not look kept
                for path in (self._content(key, ends), self._header(key)):
                    with suppress(Exception):
                        self._files.rm_file(path)
                raise
            return True

    def read(self, key: str) -> Found | None:
        """See `Storage`."""
        with self._told():
            header = self._bytes(self._header(key))
            if header is None:
                return None
            content = self._bytes(self._content(key, json.loads(header)["expires"]))
            return header.decode(), content

    def sweep(self, now: float) -> None:
        """See `Storage`."""
        with self._told():
            for path in self._files.ls(self._root, detail=False, refresh=True):
                expires = str(path).rpartition("/")[2].partition("-")[2].removesuffix(".bin")
                if expires and float(expires) <= now:
                    self._files.rm_file(path)

    def _header(self, key: str) -> str:
        return f"{self._root}/{key}.json"

    def _content(self, key: str, expires: float | None) -> str:
        return f"{self._root}/{key}{'' if expires is None else f'-{expires}'}.bin"

    def _bytes(self, path: str) -> bytes | None:
        try:
            data: bytes = self._files.cat_file(path)
        except FileNotFoundError:
            return None
        return data

    def _claimed(self, path: str, header: bytes) -> bool:
        try:
            with self._files.open(path, "xb") as file:
                file.write(header)
        except FileExistsError:
            return False
        except (ValueError, NotImplementedError):
            if self._files.exists(path):
                return False
            self._files.pipe_file(path, header)
            return self._bytes(path) == header
        return True

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise StoreError(f"{self._root}: {type(error).__name__}: {error}") from error
