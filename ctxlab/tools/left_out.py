"""What ripgrep leaves out of a tree though it is text, remembered while the tree is the same.

ripgrep takes every file with a NUL byte for binary: UTF-16 without a byte order mark, and a log
with a NUL somewhere in it. To know them it has to explain itself, which costs a third more; so a
tree explains itself once, and again when its files or their bytes, which every search counts, are
not as many as they were.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ctxlab.errors import UsageError
from ctxlab.tools.encoding import HEAD, never_text, sniff
from ctxlab.tools.ripgrep import Counted
from ctxlab.tools.workspace import Workspace

_MOST = 64
_remembered: OrderedDict[tuple[Path, str], LeftOut] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True)
class LeftOut:
    """What a search of a tree leaves out."""

    searched: int
    bytes: int
    binary: int
    """Files with a NUL."""
    texts: dict[str, str]
    """Those that are text all the same: path → ripgrep's name of the encoding."""
    ignored: tuple[str, ...]
    """What a .gitignore names."""
    has_gitignore: bool

    def fits(self, workspace: Workspace, counted: Counted) -> bool:
        """Whether the tree is still the one that this was found in."""
        same = (self.searched, self.bytes) == (counted.searched, counted.bytes)
        return same and all(_codec(workspace, path) == codec for path, codec in self.texts.items())


def remembered(workspace: Workspace, globs: list[str]) -> LeftOut | None:
    """What is known of the tree from an earlier search."""
    with _lock:
        return _remembered.get(_key(workspace, globs))


def explained(workspace: Workspace, globs: list[str], counted: Counted) -> LeftOut:
    """What a search that explained itself left out; remembered when it came to its end."""
    codecs = {path: _codec(workspace, path) for path in counted.binary}
    texts = {path: codec for path, codec in sorted(codecs.items()) if codec is not None}
    known = LeftOut(
        counted.searched,
        counted.bytes,
        len(counted.binary),
        texts,
        tuple(sorted(counted.ignored)),
        counted.has_gitignore,
    )
    if counted.complete:
        with _lock:
            _remembered[_key(workspace, globs)] = known
            if len(_remembered) > _MOST:
                _remembered.popitem(last=False)
    return known


def _key(workspace: Workspace, globs: list[str]) -> tuple[Path, str]:
    return workspace.root, "\0".join(globs)


def _codec(workspace: Workspace, path: str) -> str | None:
    """`auto` lets ripgrep see to marks; None is for what is not text, or not there."""
    if never_text(path):
        return None
    try:
        with workspace.open(path) as file:
            encoding = sniff(os.pread(file.fd, HEAD, 0))
    except UsageError:
        return None
    if encoding is None:
        return None
    bare = not encoding.ascii_superset and not encoding.mark
    return encoding.codec.replace("16-", "16") if bare else "auto"
