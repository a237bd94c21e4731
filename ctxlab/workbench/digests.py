"""What a file or a tree holds, as one SHA-256.

Of a file it is its content's, as `sha256sum` prints it. Of a tree it is taken over one line for
each entry, sorted by path: kind, content's SHA-256 or link's target, path. Times, owners and modes
do not count.

Links inside a tree count with their target's text, those to files with the content as well; a
directory behind a link is not entered (it may lead out of the tree, or in a circle). Files that
cannot be read, and what is neither file, directory nor link, count by name and kind alone: the
notebook cannot read them either.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ctxlab.errors import InputError

_CHUNK = 1 << 20


class Content(NamedTuple):
    """What stands at a path."""

    sha256: str
    bytes: int


class _Entry(NamedTuple):
    path: bytes
    kind: bytes
    what: bytes
    bytes: int


def content(path: Path) -> Content:
    """The content of a file, or of a whole tree.

    Raises:
        InputError: it cannot be read, or is neither a file nor a directory.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _tree(path)
        if stat.S_ISREG(mode):
            return _file(os.fsencode(path))
    except OSError as error:
        raise InputError(error.strerror or str(error), path=path) from None
    raise InputError("neither a file nor a directory", path=path)


def _file(path: bytes | str) -> Content:
    # Non-blocking: a FIFO that took the file's place since it was looked at must not hold us up.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123  a descriptor, not a path
        digest, size = hashlib.sha256(), 0
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Content(digest.hexdigest(), size)


def _tree(root: Path) -> Content:
    next(root.iterdir(), None)  # the root itself must be readable
    digest, size = hashlib.sha256(), 0
    for entry in sorted(_walk(os.fsencode(root))):
        digest.update(b"%s %s %d:%s\n" % (entry.kind, entry.what, len(entry.path), entry.path))
        size += entry.bytes
    return Content(digest.hexdigest(), size)


def _walk(root: bytes) -> Iterator[_Entry]:
    folders = [b""]
    while folders:
        folder = folders.pop()
        try:
            found = list(os.scandir(os.path.join(root, folder)))  # noqa: PTH118  bytes
        except OSError:
            yield _Entry(folder, b"unreadable", b"-", 0)
            continue
        for entry in found:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield _Entry(path, b"directory", b"-", 0)
                folders.append(path + b"/")
            else:
                yield _leaf(entry, path)


def _leaf(entry: os.DirEntry[bytes], path: bytes) -> _Entry:
    if entry.is_symlink():
        return _link(entry, path)
    if entry.is_file():
        return _readable(entry, path, b"")
    return _Entry(path, b"special", b"-", 0)


def _link(entry: os.DirEntry[bytes], path: bytes) -> _Entry:
    target = os.readlink(entry.path)  # noqa: PTH115  bytes
    text = b"link:%s" % hashlib.sha256(target).hexdigest().encode()
    if _is_file(entry):
        return _readable(entry, path, text)
    return _Entry(path, text, b"-", 0)


def _is_file(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link in a circle
        return False


def _readable(entry: os.DirEntry[bytes], path: bytes, link: bytes) -> _Entry:
    try:
        found = _file(entry.path)
    except OSError:
        return _Entry(path, link or b"unreadable", b"-", 0)
    return _Entry(path, link or b"file", found.sha256.encode(), found.bytes)
