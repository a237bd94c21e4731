r"""Search a workspace for a regular expression, a line at a time.

>>> found = search(Path(__file__).parent, r"^def largest_\w+", include="*.py")
>>> [(file.path, row.line, row.text[:21]) for file in found.files for row in file.rows]
[('quota.py', 17, 'def largest_remainder')]

ripgrep searches (`ripgrep`), the workspace reads what is shown (`rows`). Beyond what ripgrep does
alone: UTF-16 without a byte order mark is searched, files over 16 MB are searched with one thread,
a text with a NUL late in it is searched to its end as read_file reads it, and `include` never
brings back what `.gitignore` leaves out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ctxlab.errors import SearchError, UsageError
from ctxlab.tools import ripgrep
from ctxlab.tools.encoding import HEAD, never_text, sniff
from ctxlab.tools.globs import globs
from ctxlab.tools.quota import largest_remainder
from ctxlab.tools.refusal import refusal
from ctxlab.tools.rows import Row, load
from ctxlab.tools.workspace import Workspace

TIME_LIMIT = 10.0
"""Seconds for one search."""
MAX_PATTERN = 4096
"""Characters of a pattern."""
_BATCH = 100


@dataclass(frozen=True)
class FileMatches:
    """A file with matching lines."""

    path: str
    """From the root, as the system spells it."""
    total: int
    """Matching lines."""
    hits: int
    """Matches; a line can hold several."""
    rows: tuple[Row, ...]
    """The first matching lines: as many as any style of `render` can show."""
    changed: bool = False
    """Whether what ripgrep saw is not there any more."""


@dataclass(frozen=True)
class SearchResult:
    """What was found, and what the search did not reach."""

    root: Path
    pattern: str
    include: str
    cap: int
    """Lines that may be shown."""
    files: tuple[FileMatches, ...]
    """By path."""
    searched: int
    """Files that were searched."""
    complete: bool
    """False when the time was over."""
    seconds: float
    """The time limit."""
    ignored: tuple[str, ...] = ()
    """Files and folders that a .gitignore left out."""
    unread: tuple[str, ...] = ()
    """Files that could not be read, and why."""

    @property
    def total(self) -> int:
        """Matching lines in all files."""
        return sum(file.total for file in self.files)


def search(  # noqa: PLR0913, PLR0917  the tool's own arguments
    root: str | Path | Workspace,
    pattern: str,
    include: str = "**/*",
    max_results: int = 200,
    literal: bool = False,  # noqa: FBT001, FBT002  fixed public names
    case_sensitive: bool = True,  # noqa: FBT001, FBT002
    *,
    time_limit: float = TIME_LIMIT,
) -> SearchResult:
    """Lines that match, in all files below `root` that `.gitignore` does not leave out.

    Args:
        root: The folder; nothing outside it is read.
        pattern: A regular expression (Rust's syntax, linear time), or the text itself.
        include: A glob from the root; files and folders may be named as they are.
        max_results: How many matching lines may be shown; all are counted.
        literal: Whether the pattern is the text itself.
        case_sensitive: Whether `a` and `A` differ.
        time_limit: Seconds; what was found until then is kept, and `complete` is False.

    Raises:
        UsageError: an argument that cannot be meant.
        SearchError: the pattern or the glob is refused; one line that says what would be right.
        InputError: the root is not a directory.
    """
    workspace = root if isinstance(root, Workspace) else Workspace(root)
    if max_results < 1:
        raise UsageError(f"max_results must be at least 1, not {max_results}")
    what = [*_pattern(pattern, literal=literal), *([] if case_sensitive else ["--ignore-case"])]
    where = globs(workspace, include)
    deadline = time.monotonic() + time_limit
    try:
        found = _found(workspace, what, where, max_results, deadline)
    except SearchError as error:
        raise SearchError(refusal(str(error), include)) from error
    return SearchResult(
        root=workspace.root,
        pattern=pattern,
        include=include,
        cap=max_results,
        files=tuple(_files(workspace, found)),
        searched=found.searched,
        complete=found.complete,
        seconds=time_limit,
        ignored=tuple(sorted(found.left_out["ignored"])),
        unread=tuple(sorted(found.complaints)),
    )


def _pattern(pattern: str, *, literal: bool) -> list[str]:
    if not pattern:
        raise UsageError("pattern is empty; give the text or regular expression to search for")
    if len(pattern) > MAX_PATTERN:
        raise UsageError(f"pattern has {len(pattern):,} characters; {MAX_PATTERN:,} is the limit")
    if "\n" in pattern:
        raise UsageError("pattern has a line break; a search looks at one line at a time")
    if "\0" in pattern or not _is_unicode(pattern):
        raise UsageError("pattern is not text: it has a NUL or half of a surrogate pair")
    return [f"--regexp={pattern}", *(["--fixed-strings"] if literal else [])]


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _found(
    workspace: Workspace, what: list[str], where: list[str], cap: int, deadline: float
) -> ripgrep.Found:
    """All passes together."""
    options = [*what, *ripgrep.selection(where)]
    found = ripgrep.found(workspace.root, options, cap=cap, deadline=deadline)
    for more, files in _again(workspace, found):
        part = ripgrep.found(workspace.root, [*options, *more], files, cap=cap, deadline=deadline)
        found.files.update(part.files)
        found.searched += part.searched
        found.complete &= part.complete
        found.complaints += part.complaints
    if where and found.has_gitignore and found.files:
        visible = ripgrep.listed(workspace.root, ripgrep.selection(), deadline)
        for path in found.files.keys() - visible:
            del found.files[path]
            found.left_out["ignored"][path] = 0
    return found


def _again(workspace: Workspace, found: ripgrep.Found) -> Iterator[tuple[list[str], list[str]]]:
    """What the first pass left out and is text all the same: more options, and files."""
    binary = found.left_out["binary"]
    found.searched -= len(binary)
    texts: dict[str, list[str]] = {}
    for path in [*binary, *found.left_out["large"]]:
        found.files.pop(path, None)
        codec = None if never_text(path) else _codec(workspace, path)
        if codec is not None:
            texts.setdefault(codec, []).append(path)
    for codec, paths in texts.items():
        rest = iter(paths)
        while batch := list(islice(rest, _BATCH)):
            yield [f"--encoding={codec}"], batch


def _codec(workspace: Workspace, path: str) -> str | None:
    """`auto` lets ripgrep see to marks; None is for what is not text, or not there."""
    try:
        with workspace.open(path) as file:
            encoding = sniff(os.pread(file.fd, HEAD, 0))
    except UsageError:
        return None
    if encoding is None:
        return None
    bare = not encoding.ascii_superset and not encoding.mark
    return encoding.codec.replace("16-", "16") if bare else "auto"


def _files(workspace: Workspace, found: ripgrep.Found) -> Iterator[FileMatches]:
    """Each file with as many rows as first come, first served or a quota would show."""
    counts = {path: matches.rows for path, matches in sorted(found.files.items()) if matches.rows}
    quota, before = largest_remainder(counts, found.cap), 0
    for path, total in counts.items():
        matches = found.files[path]
        events = matches.events[: max(quota[path], found.cap - before)]
        before += total
        try:
            rows = load(workspace, path, events)
        except UsageError:
            rows = []
        yield FileMatches(path, total, matches.hits, tuple(rows), len(rows) < len(events))
