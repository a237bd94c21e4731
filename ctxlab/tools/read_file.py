r"""What read_file answers: a header that always says the range and the total, then the text.

    File: 'src/app.py'. Lines 1 to 200 (of 430 total lines).
    Partial: 230 lines remain; the next call is read_file(path="src/app.py", offset=201, limit=200).

    import os
    …

After the first empty line the text stands as the file has it, line ends included, so that it can
be used in an edit and pages join to the file again. No line numbers stand in the text: the header
gives them. Source: `tool-design` §1 and §2, facts `tool-output`.
"""

from __future__ import annotations

import json

from ctxlab.errors import UsageError
from ctxlab.tools.lines import Line, Page, read_page
from ctxlab.tools.workspace import Workspace, quoted, shown

MAX_LINES = 2000
MAX_CHARS = 2000
"""Characters of a line, its mark of truncation included."""


def read(workspace: Workspace, path: str, offset: int = 1, limit: int = MAX_LINES) -> str:
    """Lines `offset` (1-based) to `offset + limit - 1` of a file, as text for a model.

    Raises:
        UsageError: what is wrong with the path, the range or the file, in one line.
    """
    if offset < 1 or limit < 1:
        raise UsageError("read_file: offset and limit must be at least 1; lines count from 1")
    with workspace.open(path) as file:
        page = read_page(file, offset, min(limit, MAX_LINES), MAX_CHARS)
        path = file.path
    if offset > max(page.total, 1):
        raise UsageError(f"offset {offset:,} is past the end of {quoted(path)}, {_has(page.total)}")
    return "\n".join([*_header(path, page, offset, limit), "", text(page)])


def text(page: Page) -> str:
    """The lines of a page, long ones shortened, with their ends."""
    return "".join(f"{shortened(line)}{line.end}" for line in page.lines)


def shortened(line: Line, width: int = MAX_CHARS) -> str:
    """A line, or its head and tail around `...` and what was cut, `width` characters together.

    >>> shortened(Line("a" * 60, "", 8193, "z" * 60), width=60)
    'aaaaaaaaaaaa...zzzzzzzzzzz [line truncated, 8,193 chars]'
    """
    if line.length <= width:
        return line.head
    mark = f" [line truncated, {line.length:,} chars]"
    kept = width - len(mark) - 3
    return f"{line.head[: kept - kept // 2]}...{line.tail[-(kept // 2) :]}{mark}"


def next_call(path: str, offset: int, limit: int) -> str:
    """The call that goes on at `offset`; the default limit is left out."""
    told = f", limit={limit}" if limit < MAX_LINES else ""
    return f"read_file(path={json.dumps(shown(path), ensure_ascii=False)}, offset={offset}{told})"


def _header(path: str, page: Page, offset: int, limit: int) -> list[str]:
    if not page.total:
        return [f"File: {quoted(path)}. The file is empty (0 lines).", *_notes(page)]
    last = offset + len(page.lines) - 1
    said = f"File: {quoted(path)}. Lines {offset} to {last} (of {page.total} total lines)."
    if last == page.total:
        return [f"{said} End of file.", *_notes(page)]
    remain = page.total - last
    told = f"{remain} line remains" if remain == 1 else f"{remain} lines remain"
    most = f" (a read gives at most {MAX_LINES} lines)" if limit > MAX_LINES else ""
    return [
        said,
        f"Partial: {told}{most}; the next call is {next_call(path, last + 1, limit)}.",
        *_notes(page),
    ]


def _notes(page: Page) -> list[str]:
    notes = [f"Encoding: {page.encoding.said}."] if page.encoding.said else []
    if page.crlf and page.lf:
        notes.append(rf"Line ends are mixed: {page.crlf} \r\n, {page.lf} \n.")
    elif page.crlf:
        notes.append(r"Line ends: \r\n.")
    return notes


def _has(total: int) -> str:
    if not total:
        return "which is empty (0 lines)"
    return "which has 1 line" if total == 1 else f"which has {total:,} lines"
