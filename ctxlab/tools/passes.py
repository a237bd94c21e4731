"""The passes of ripgrep that make up one search.

1. Count the matching lines of every file of the tree.
2. Where the tree has texts that look binary, count in those, each in its encoding.
3. Where a glob may have brought back what .gitignore names, list what it leaves, and keep to that.
4. Get the first matching lines of the files that will be shown.

When the time is over before all is counted, the files with matches are named in a moment more:
what cannot be counted can still be shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxlab.tools import ripgrep
from ctxlab.tools.left_out import ignored, left_out
from ctxlab.tools.matches import matches
from ctxlab.tools.workspace import Workspace

GRACE = 2.0
"""Seconds after the time limit to get what can be shown of what was found."""
_BATCH = 1 << 17
"""Bytes of file names in one command; Linux takes 2 MB, macOS 1 MB."""
_FEW = 8


@dataclass
class Found:
    """What a search found."""

    counts: dict[str, int]
    """Matching lines of each file that has any."""
    searched: int
    """Files that were searched."""
    complete: bool
    unread: list[str]
    uncounted: list[str] = field(default_factory=list)
    """Files with matches that the time was not enough to count."""
    ignored: tuple[str, ...] = ()
    """What a .gitignore left out; told when nothing was found."""
    codecs: dict[str, str] = field(default_factory=dict)
    """ripgrep's name of the encoding of files that look binary."""


def find(workspace: Workspace, what: list[str], globs: list[str], deadline: float) -> Found:
    """Count the matching lines of every file.

    Raises:
        SearchError: ripgrep refuses the pattern or a glob.
    """
    options = [*what, *ripgrep.selection(globs)]
    counted = ripgrep.count(workspace.root, options, deadline=deadline)
    known, whole = left_out(workspace, globs, counted, deadline)
    found = Found(
        counted.files,
        max(0, counted.searched - known.binary) + len(known.texts),
        counted.complete and whole,
        counted.complaints,
        codecs=known.texts,
    )
    for option, paths in _by_option(known.texts, list(known.texts)):
        more = ripgrep.count(workspace.root, [*options, *option], paths, deadline=deadline)
        found.counts |= more.files
        found.complete &= more.complete
    if not counted.complete:
        named, _ = ripgrep.containing(workspace.root, options, time.monotonic() + GRACE)
        found.uncounted = sorted(set(named) - found.counts.keys())
    if globs and (found.counts or found.uncounted):
        visible = ripgrep.listed(
            workspace.root, ripgrep.selection(), max(deadline, time.monotonic() + GRACE)
        )
        found.counts = {path: n for path, n in found.counts.items() if path in visible}
        found.uncounted = [path for path in found.uncounted if path in visible]
    if found.complete and not found.counts:
        found.ignored = ignored(workspace, globs, known, deadline)
    return found


def first(
    workspace: Workspace, what: list[str], found: Found, wanted: dict[str, int], deadline: float
) -> dict[str, list[bytes]]:
    """The first matching lines of each file, as many as wanted or a few more."""
    deadline = max(deadline, time.monotonic() + GRACE)
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
