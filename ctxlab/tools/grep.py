r"""Search a workspace for a regular expression, a line at a time.

>>> found = search(Path(__file__).parent, r"^def largest_\w+", include="*.py")
>>> [(file.path, row.line, row.text[:21]) for file in found.files for row in file.rows]
[('quota.py', 17, 'def largest_remainder')]

ripgrep searches (`passes`), the workspace reads what is shown (`rows`). Beyond what ripgrep does
alone: UTF-16 without a byte order mark is searched, a text with a NUL late in it is searched to its
end as read_file reads it, and `include` never brings back what `.gitignore` leaves out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxlab.errors import SearchError, UsageError
from ctxlab.tools import passes
from ctxlab.tools.globs import globs, is_unicode
from ctxlab.tools.quota import largest_remainder
from ctxlab.tools.refusal import refusal
from ctxlab.tools.rows import Row, load
from ctxlab.tools.workspace import Workspace

TIME_LIMIT = 10.0
"""Seconds for one search."""
MAX_PATTERN = 4096
"""Characters of a pattern."""


@dataclass(frozen=True)
class FileMatches:
    """A file with matching lines."""

    path: str
    """From the root, as the system spells it."""
    total: int
    """Matching lines."""
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
    literal: bool
    """Whether the pattern was the text itself."""
    cap: int
    """Lines that may be shown."""
    files: tuple[FileMatches, ...]
    """By path."""
    searched: int
    """Files that were searched."""
    complete: bool
    """False when the time was over: there may be more files and more matches."""
    seconds: float
    """The time limit."""
    ignored: tuple[str, ...] = ()
    """Files and folders that a .gitignore left out; told when nothing was found."""
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
    first_come: bool = True,
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
        first_come: Whether to get the rows that the styles without the quota show as well.

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
        found = passes.find(workspace, what, where, deadline)
        wanted = _wanted(found, max_results, first_come=first_come)
        events = passes.first(workspace, what, found, wanted, deadline)
    except SearchError as error:
        raise SearchError(refusal(str(error), include)) from error
    return SearchResult(
        root=workspace.root,
        pattern=pattern,
        include=include,
        literal=literal,
        cap=max_results,
        files=tuple(_files(workspace, found, wanted, events)),
        searched=found.searched,
        complete=found.complete,
        seconds=time_limit,
        ignored=found.ignored,
        unread=tuple(sorted(found.unread)),
    )


def _pattern(pattern: str, *, literal: bool) -> list[str]:
    if not pattern:
        raise UsageError("pattern is empty; give the text or regular expression to search for")
    if len(pattern) > MAX_PATTERN:
        raise UsageError(f"pattern has {len(pattern):,} characters; {MAX_PATTERN:,} is the limit")
    if "\n" in pattern:
        raise UsageError("pattern has a line break; a search looks at one line at a time")
    if "\0" in pattern or not is_unicode(pattern):
        raise UsageError("pattern is not text: it has a NUL or half of a surrogate pair")
    return [f"--regexp={pattern}", *(["--fixed-strings"] if literal else [])]


def _wanted(found: passes.Found, cap: int, *, first_come: bool) -> dict[str, int]:
    """Rows to get of each file: what the quota shows, or what first come, first served would."""
    counts = found.counts | dict.fromkeys(found.uncounted, cap)
    wanted, left = largest_remainder(counts, cap), cap if first_come else 0
    for path, total in sorted(counts.items()):
        wanted[path] = max(wanted[path], min(total, left))
        left = max(0, left - total)
    for path in found.uncounted:
        wanted[path] = max(wanted[path], -(-cap // len(found.uncounted)))
    return wanted


def _files(
    workspace: Workspace,
    found: passes.Found,
    wanted: dict[str, int],
    events: dict[str, list[bytes]],
) -> Iterator[FileMatches]:
    """Every file with matches; one that was not counted with as many as were got."""
    for path, most in sorted(wanted.items()):
        rows = _rows(workspace, path, events.get(path, [])[:most], found)
        total = found.counts.get(path, len(rows))
        changed = found.complete and len(rows) < most
        if total:
            yield FileMatches(path, total, tuple(rows), changed)


def _rows(workspace: Workspace, path: str, events: list[bytes], found: passes.Found) -> list[Row]:
    if not events:
        return []
    try:
        return load(workspace, path, events, looks_binary=path in found.codecs)
    except UsageError:  # not there any more, or not inside any more
        return []
