"""A search result as text for a model, in the two formats of the experiment and every step between.

`tag` is a block for each match, `grep` is rows under a header; VS Code went from one to the other
in one switch (facts `tool-output`). Here it is taken apart: each style is the one before it and one
change, so that the cost of each change can be measured.

| style | change |
|---|---|
| tag | a block for each match, absolute path, 500 characters each side, the first come |
| relative | paths from the root |
| capped | the cap counts blocks: a line with three matches cannot exceed it |
| rows | one block for a line, however many matches it holds |
| flat | `path:line:text` instead of blocks |
| grouped | path once, header with the totals, what is omitted |
| windowed | long lines: 150 characters before the match, 105 after it, and the column |
| grep | rows by quota over all files instead of first come, first served |

First come is by path here, so that equal searches give equal text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ctxlab.errors import UsageError
from ctxlab.tools.grep import FileMatches, SearchResult
from ctxlab.tools.quota import largest_remainder
from ctxlab.tools.rows import Row
from ctxlab.tools.workspace import shown

SIDE = 500
"""Characters that `tag` keeps each side of a match."""
VERBATIM, BEFORE, AFTER = 600, 150, 105
"""Characters: the longest line that `grep` shows as it is; what it keeps around a match else."""


_LOOKS_LITERAL = re.compile(r"[$(\[{]")


@dataclass(frozen=True)
class Style:
    """Which of the changes a style has made."""

    change: str
    """What it changes against the style before it, in a few words."""
    relative: bool = True
    capped: bool = True
    by_line: bool = True
    layout: str = "grouped"
    windowed: bool = True
    quota: bool = True


STYLES = {
    "tag": Style("tag format", False, False, False, "block", False, False),
    "relative": Style("relative paths", True, False, False, "block", False, False),
    "capped": Style("cap enforced", True, True, False, "block", False, False),
    "rows": Style("one row per line", True, True, True, "block", False, False),
    "flat": Style("no tags", True, True, True, "flat", False, False),
    "grouped": Style("grouped by file", True, True, True, "grouped", False, False),
    "windowed": Style("long lines windowed", True, True, True, "grouped", True, False),
    "grep": Style("quota", True, True, True, "grouped", True, True),
}
"""Every step from `tag` to `grep`, in order."""


@dataclass(frozen=True)
class Pick:
    """A file, and what of it is shown: rows, each with the hit that it is shown for."""

    file: FileMatches
    rows: tuple[tuple[Row, tuple[int, int]], ...]

    @property
    def lines(self) -> int:
        """Matching lines shown."""
        return len({row.line for row, _ in self.rows})


def pick(result: SearchResult, style: str) -> list[Pick]:
    """What a style shows: the files with their rows, in order.

    Raises:
        UsageError: no such style.
    """
    how = _style(style)
    return [kept for kept in _picks(result, how) if kept.rows]


def render(result: SearchResult, style: str = "grep") -> str:
    """The result as a model reads it; `style` is one of STYLES.

    Raises:
        UsageError: no such style.
    """
    how, picks = _style(style), pick(result, style)
    if how.layout == "grouped":
        return _grouped(result, picks, how)
    if not picks:
        return "No matches found."
    blocks = [
        _LAYOUTS[how.layout](_path(result, kept.file, how), row.line, _text(row, hit, how))
        for kept in picks
        for row, hit in kept.rows
    ]
    more = sum(kept.lines for kept in picks) < result.total
    told = f"{_counted(len(blocks), 'match')}{' (more results are available)' if more else ''}"
    return "\n".join([told, *blocks])


def _style(style: str) -> Style:
    if style not in STYLES:
        raise UsageError(f"no style {style!r}; there are {', '.join(STYLES)}")
    return STYLES[style]


def _picks(result: SearchResult, how: Style) -> Iterator[Pick]:
    left, blocks = result.cap, result.cap
    quota = largest_remainder({file.path: file.total for file in result.files}, result.cap)
    for file in result.files:
        rows = file.rows[: quota[file.path] if how.quota else left]
        left -= len(rows)
        hits = [(row, hit) for row in rows for hit in (row.hits[:1] if how.by_line else row.hits)]
        if how.capped:
            hits = hits[:blocks]
            blocks -= len(hits)
        yield Pick(file, tuple(hits))


_LAYOUTS: dict[str, Callable[[str, int, str], str]] = {
    "block": lambda path, line, text: f'<match path="{path}" line={line}>\n{text}\n</match>',
    "flat": lambda path, line, text: f"{path}:{line}:{text}",
}


def _path(result: SearchResult, file: FileMatches, how: Style) -> str:
    return shown(file.path if how.relative else str(result.root / file.path))


def _text(row: Row, hit: tuple[int, int], how: Style) -> str:
    start, end = hit
    if not how.windowed:
        return _part(row, start - SIDE, end + SIDE)
    if row.length <= VERBATIM:
        return row.text
    end = min(end, start + VERBATIM - BEFORE - AFTER)
    window = _part(row, start - BEFORE, end + AFTER)
    return f"{window} [match at col {start + 1} · line truncated, {row.length:,} chars]"


def _part(row: Row, start: int, end: int) -> str:
    return row.text[max(0, start - row.start) : end - row.start]


def _grouped(result: SearchResult, picks: list[Pick], how: Style) -> str:
    if not result.files:
        return "\n".join([*_nothing(result), *_notes(result)])
    parts = [_header(result, picks)]
    for kept in picks:
        rows = [f"{row.line}:{_text(row, hit, how)}" for row, hit in kept.rows]
        parts.append("\n".join([_path(result, kept.file, how), *rows, *_omitted(kept)]))
    missing = len(result.files) - len(picks)
    if missing:
        matches = result.total - sum(kept.file.total for kept in picks)
        parts.append(f"... ({_counted(matches, 'more match')} in {_counted(missing, 'more file')})")
    return "\n\n".join([*parts, *_notes(result)])


def _header(result: SearchResult, picks: list[Pick]) -> str:
    """The facts' header; what is shown of the total stands there when something is not."""
    files = len(result.files)
    least = "" if result.complete else "at least "
    found = f"Found {least}{_counted(result.total, 'match')} in {_counted(files, 'file')}"
    found += f' for "{_query(result)}"'
    lines = sum(kept.lines for kept in picks)
    if lines == result.total:
        return found
    return f"{found} (showing {lines} of {result.total} matches in {len(picks)} of {files} files)"


def _omitted(kept: Pick) -> list[str]:
    missing = kept.file.total - kept.lines
    return [f"... ({_counted(missing, 'more match')} in this file)"] if missing else []


def _nothing(result: SearchResult) -> Iterator[str]:
    r"""Nothing found, and why that may be: agents write `$scope`, `items[0]` and `a\|b`."""
    where = "" if result.include == "**/*" else f' with include "{_short(result.include)}"'
    if not result.complete:
        yield f'No matches for "{_query(result)}"{where} before the time was over.'
        return
    searched = _counted(result.searched, "file")
    yield f'No matches for "{_query(result)}": {searched} searched{where}.'
    if result.ignored:
        yield f"Not searched, since .gitignore names them: {_listed(result.ignored)}."
    if result.literal:
        return
    if r"\|" in result.pattern:
        yield r"In this syntax \| is the character |; alternatives are written a|b."
    elif _LOOKS_LITERAL.search(result.pattern) and "\\" not in result.pattern:
        yield "The pattern was read as a regular expression; literal=True takes it as it is."


def _notes(result: SearchResult) -> Iterator[str]:
    if not result.complete:
        yield (
            f"The search stopped at its time limit of {result.seconds:g} s: there may be more "
            "files and more matches. Narrow it with include."
        )
    changed = [file.path for file in result.files if file.changed]
    if changed:
        yield f"Changed while they were searched, search again: {_listed(tuple(changed))}."
    if result.unread:
        yield f"Not read: {_listed(result.unread)}."


def _listed(paths: tuple[str, ...], most: int = 5) -> str:
    told = ", ".join(_short(path) for path in paths[:most])
    return told if len(paths) <= most else f"{told} and {len(paths) - most:,} more"


def _query(result: SearchResult) -> str:
    return _short(result.pattern)


def _short(text: str, longest: int = 200) -> str:
    """On one line, cut in the middle where it is absurdly long."""
    text = shown(text)
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[-longest // 2 :]}"


def _counted(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
