"""Where results are kept: a directory, or a URL of any file system that fsspec knows.

Everything that reads results reads a local folder. A `Store` is that folder itself; a remote one
(see `remote`) keeps a local copy of what is there, and carries what is made here over to it. So the
difference is told here, and nowhere else.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Self

from ctxlab import project
from ctxlab.errors import UsageError

_URL = re.compile(r"[a-z][a-z0-9+.-]*(://|::)", re.IGNORECASE)


class Store:
    """Results in a local directory."""

    private = False
    """Whether this process alone sees what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """Where they are read."""

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def place(self) -> str | Path:
        """By which another process opens it."""
        return self.folder

    def refresh(self) -> Self:
        """Know which runs are there now; their other files come when they are fetched."""
        return self

    def check_writable(self) -> None:
        """Refuse results that cannot be written, before anything runs (here the lock did)."""

    def fetch(self, run: Path) -> Path:
        """The local directory of a run, or of a baseline, with all of its files."""
        return run

    def has(self, path: Path) -> bool:
        """Whether a file below `folder` is there, fetched or not."""
        return path.exists()

    def keep(self, unfinished: Path, final: Path) -> None:
        """Make a run of a finished directory; a run is whole or absent."""
        unfinished.rename(final)

    def carry(self, path: Path) -> None:
        """What was written into `folder` (a page, a baseline) is now what is there."""

    def remove(self, run: Path) -> None:
        """Before a run goes from `folder`: it is no run from now on."""

    def told(self, path: Path) -> str:
        """A path below `folder` as people find it."""
        return str(path)

    def put(self, name: str, content: str) -> None:
        """Write a small file of ours."""
        (self.folder / name).write_text(content)

    def get(self, name: str) -> str | None:
        """A small file's content; None where it is not there."""
        try:
            return (self.folder / name).read_text()
        except OSError:
            return None

    def drop(self, name: str) -> None:
        """Remove a small file."""
        (self.folder / name).unlink(missing_ok=True)


def at(results: str | Path | None = None) -> Store:
    """The store of a path or URL; by default `CTXLAB_RESULTS`, else `results/` of the project.

    Raises:
        UsageError: an empty path, or a URL whose file system is not known, or whose package is not
            installed.
    """
    if results == "":
        raise UsageError("the results' path is empty; leave it out for the project's results/")
    told = str(results or os.environ.get("CTXLAB_RESULTS") or project.root() / "results")
    return _remote(told) if is_url(told) else Store(Path(told).resolve())


def is_url(results: str | Path) -> bool:
    """Whether results are kept elsewhere than in a local directory.

    >>> is_url("s3://bucket/results"), is_url("results")
    (True, False)
    """
    return bool(_URL.match(str(results)))


@lru_cache(maxsize=8)
def _remote(url: str) -> Store:
    from ctxlab.workbench.remote import RemoteStore  # noqa: PLC0415  fsspec, and seldom

    store = RemoteStore(url)
    _opened.append(store)
    return store


_opened: list[Store] = []


def of(path: Path) -> Store:
    """The store that a path below some store's folder belongs to."""
    found = (store for store in _opened if path.is_relative_to(store.folder))
    return next(found, Store(path.parent))


def folder(results: Path | None = None) -> Path:
    """The folder where results are read, up to date; `results` itself where it is given."""
    return results if results is not None else at().refresh().folder
