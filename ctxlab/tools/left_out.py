"""What ripgrep leaves out of a tree, remembered while the tree is the same.

ripgrep takes every file with a NUL byte for binary: UTF-16 without a byte order mark too, and a log
with a NUL somewhere in it. To find those takes a pass of its own over the tree. It is made once,
and again when the tree has not as many files and bytes, which every search counts, as it had.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ctxlab.errors import UsageError
from ctxlab.tools import ripgrep
from ctxlab.tools.encoding import HEAD, never_text, sniff
from ctxlab.tools.ripgrep import Counted
from ctxlab.tools.workspace import Workspace

_MOST = 64
_WITH_NUL = ["--text", r"--regexp=\x00"]
_remembered: OrderedDict[Path, LeftOut] = OrderedDict()
_lock = Lock()


@dataclass
class LeftOut:
    """What a search leaves out."""

    searched: int
    bytes: int
    binary: int
    """Files with a NUL."""
    texts: dict[str, str]
    """Those that are text all the same: path → ripgrep's name of the encoding."""
    ignored: tuple[str, ...] | None = None
    """What a .gitignore names; None as long as nobody asked."""

    def fits(self, workspace: Workspace, counted: Counted) -> bool:
        """Whether the tree is still the one that this was found in."""
        same = (self.searched, self.bytes) == (counted.searched, counted.bytes)
        return same and all(_codec(workspace, path) == codec for path, codec in self.texts.items())


def left_out(
    workspace: Workspace, globs: list[str], counted: Counted, deadline: float
) -> tuple[LeftOut, bool]:
    """What the count of a search left out, and whether the time was enough to know it."""
    if globs:
        return _found(workspace, globs, counted, deadline)
    with _lock:
        known = _remembered.get(workspace.root)
    if known is not None and (not counted.complete or known.fits(workspace, counted)):
        return known, True
    known, whole = _found(workspace, globs, counted, deadline)
    if whole and counted.complete:
        with _lock:
            _remembered[workspace.root] = known
            if len(_remembered) > _MOST:
                _remembered.popitem(last=False)
    return known, whole


def ignored(
    workspace: Workspace, globs: list[str], known: LeftOut, deadline: float
) -> tuple[str, ...]:
    """What a .gitignore leaves out; with globs the files among it that they name."""
    everything = ripgrep.selection()
    if known.ignored is None:
        known.ignored = tuple(ripgrep.ignored(workspace.root, everything, deadline))
    if not globs or not known.ignored:
        return known.ignored
    named = ripgrep.listed(workspace.root, ripgrep.selection(globs), deadline)
    files = named - ripgrep.listed(workspace.root, everything, deadline)
    folders = {
        path for path in known.ignored for glob in globs if glob.lstrip("/").startswith(f"{path}/")
    }
    return tuple(sorted(files | folders))


def _found(
    workspace: Workspace, globs: list[str], counted: Counted, deadline: float
) -> tuple[LeftOut, bool]:
    options = [*_WITH_NUL, *ripgrep.selection(globs)]
    binary, whole = ripgrep.containing(workspace.root, options, deadline)
    codecs = {path: _codec(workspace, path) for path in sorted(binary)}
    texts = {path: codec for path, codec in codecs.items() if codec is not None}
    return LeftOut(counted.searched, counted.bytes, len(binary), texts), whole


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
