"""Putting things in place whole or not at all, and finding them unchanged quickly."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxlab import project

_TEMPORARY = ".fetching-"


@contextmanager
def only_one(tell: Callable[[str], None]) -> Iterator[None]:
    """Only one process fetches; what one that was killed left behind is cleared away first."""
    from filelock import FileLock, Timeout  # noqa: PLC0415  0.1 s that a look should not pay

    cache = project.cache_dir()
    cache.mkdir(parents=True, exist_ok=True)
    lock = FileLock(cache / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        tell("waiting for another `ctxlab data`")
        lock.acquire()
    try:
        for rest in cache.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(rest, ignore_errors=True)
        yield
    finally:
        lock.release()


@contextmanager
def workshop() -> Iterator[Path]:
    """A temporary directory on the cache's own file system, gone afterwards whatever happens."""
    with tempfile.TemporaryDirectory(
        dir=project.cache_dir(), prefix=_TEMPORARY, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def put_tree(made: Path, place: Path) -> None:
    """Move the directory `made` to `place`; what stood there leaves through the workshop."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.rename(made.with_name(f"{made.name}.old"))
    made.rename(place)


def put_file(content: bytes, place: Path) -> None:
    """Write `place` in one step; nothing is written where it has this content already."""
    if place.is_file() and place.read_bytes() == content:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with workshop() as folder:
        made = folder / place.name
        made.write_bytes(content)
        made.replace(place)


def file_sha256(path: Path) -> str:
    """The file's SHA-256, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_sha256(tree: Path) -> str:
    """One hash of a tree: its files' relative paths and hashes, in the order of the paths."""
    digest = hashlib.sha256()
    for relative, entry in _walk(tree):
        content = "link" if entry.is_symlink() else file_sha256(Path(entry.path))
        digest.update(f"{relative}\0{content}\n".encode())
    return digest.hexdigest()


def is_unchanged(tree: Path, expected: str) -> bool:
    """Whether `tree` has the hash `expected`.

    Sizes and times that are as they were when the hash was last right answer for the content, as
    in git's index: the 3,700 files are read only when something moved.
    """
    if not tree.is_dir():
        return False
    note = project.cache_dir() / ".checked" / tree.name
    seen = f"{expected} {_look(tree)}\n".encode()
    if note.is_file() and note.read_bytes() == seen:
        return True
    if tree_sha256(tree) != expected:
        return False
    put_file(seen, note)
    return True


def _look(tree: Path) -> str:
    digest = hashlib.sha256()
    for relative, entry in _walk(tree):
        stat = entry.stat(follow_symlinks=False)
        digest.update(f"{relative}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _walk(tree: Path) -> list[tuple[str, os.DirEntry[str]]]:
    """Every file below `tree` with its path from there, slashes forward, in order."""
    found, folders = [], [(str(tree), "")]
    while folders:
        folder, prefix = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                relative = f"{prefix}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, f"{relative}/"))
                else:
                    found.append((relative, entry))
    return sorted(found, key=lambda row: row[0])
