"""The passes of ripgrep that make up one search.

1. Count the matching lines of every file of the tree.
2. Where the tree has texts that look binary, count in those, each in its encoding.
3. Where a glob may have brought back what .gitignore names, list what it leaves, and keep to that.
4. Get the first matching lines of the files that will be shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxlab.tools import left_out, ripgrep
from ctxlab.tools.left_out import LeftOut
from ctxlab.tools.matches import matches
from ctxlab.tools.workspace import Workspace

_BATCH = 1 << 17
"""Bytes of file names in one command; Linux takes 2 MB, macOS 1 MB."""
_FEW = 8
_GRACE = 2.0
"""Seconds to get the lines of what was counted, when the time limit came before that."""
_NOTHING = ["--fixed-strings", "--regexp=\x01\x02\x03"]


@dataclass
class Found:
    """What a search found."""

    counts: dict[str, int]
    """Matching lines of each file that has any."""
    searched: int
    """Files that were searched."""
    complete: bool
    unread: list[str]
    ignored: list[str]
    codecs: dict[str, str] = field(default_factory=dict)
    """ripgrep's name of the encoding of files that look binary."""


def find(workspace: Workspace, what: list[str], globs: list[str], deadline: float) -> Found:
    """Count the matching lines of every file.

    Raises:
        SearchError: ripgrep refuses the pattern or a glob.
    """
    options = [*what, *ripgrep.selection(globs)]
    before = left_out.remembered(workspace, globs)
    counted = ripgrep.count(workspace.root, options, deadline=deadline, explain=before is None)
    known = _left_out(workspace, globs, counted, before, deadline)
    texts = len(known.texts) - known.binary
    found = Found(
        counted.files,
        counted.searched + texts,
        counted.complete,
        counted.complaints,
        list(known.ignored),
        known.texts,
    )
    for option, paths in _by_option(known.texts, list(known.texts)):
        more = ripgrep.count(workspace.root, [*options, *option], paths, deadline=deadline)
        found.counts |= more.files
        found.complete &= more.complete
    if globs and known.has_gitignore and found.counts:
        visible = ripgrep.listed(workspace.root, ripgrep.selection(), deadline)
        found.ignored = sorted({*found.ignored, *(found.counts.keys() - visible)})
        found.counts = {path: n for path, n in found.counts.items() if path in visible}
    return found


def first(
    workspace: Workspace, what: list[str], found: Found, wanted: dict[str, int], deadline: float
) -> dict[str, list[bytes]]:
    """The first matching lines of each file, as many as wanted or a few more."""
    deadline = max(deadline, time.monotonic() + _GRACE)
    options = [*what, *ripgrep.selection()]
    events: dict[str, list[bytes]] = {}
    few = [path for path, rows in wanted.items() if 0 < rows <= _FEW]
    many = [path for path, rows in wanted.items() if rows > _FEW]
    for group in (few, many):
        most = max((wanted[path] for path in group), default=0)
        for option, paths in _by_option(found.codecs, group):
            got, whole = matches(workspace.root, [*options, *option], paths, most, deadline)
            events |= got
            found.complete &= whole
    return events


def _left_out(
    workspace: Workspace,
    globs: list[str],
    counted: ripgrep.Counted,
    before: LeftOut | None,
    deadline: float,
) -> LeftOut:
    """What the count left out; a tree that has changed since is asked to explain itself anew."""
    if before is not None:
        if not counted.complete or before.fits(workspace, counted):
            return before
        options = [*_NOTHING, *ripgrep.selection(globs)]
        counted = ripgrep.count(workspace.root, options, deadline=deadline, explain=True)
    return left_out.explained(workspace, globs, counted)


def _by_option(codecs: dict[str, str], paths: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Batches of files that take the same option for their encoding."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(codecs.get(path, "auto"), []).append(path)
    for codec, group in groups.items():
        option = [] if codec == "auto" else [f"--encoding={codec}"]
        yield from ((option, batch) for batch in _batches(group))


def _batches(paths: list[str]) -> Iterator[list[str]]:
    batch, size = [], 0
    for path in paths:
        batch.append(path)
        size += len(path.encode(errors="surrogateescape")) + 10
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
