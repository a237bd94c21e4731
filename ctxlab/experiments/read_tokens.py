"""What reading costs: whole files against a search and a range, and how a range is presented.

Both use the queries of notebook 04. The agent that reads whole files is taken to know which file
holds the definition, which is the best case for it: without a search it would open others first.

A partial read that does not say what it left out is taken for the whole file (facts `tool-output`).
`presentations` shows the same ranges in four ways and looks at what the model can know from each:
not from our description of it, but from the numbers that stand beside the file's own text.

Tokens are local counts (`o200k estimate`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from ctxlab import tokens
from ctxlab.experiments.queries import Asked
from ctxlab.tools import Toolset, render, workspace_tools

AROUND = 5
"""Lines above the definition that a ranged read begins with."""
_DEFINING = ("definition", "class")
_PAGES = 1000
_REACHED = ["query", "file", "line", "file_lines", "whole", "search", "ranged"]
_TELLS = {"the range": "tells_range", "the total": "tells_total", "where to go on": "tells_next"}
_ALWAYS = 100


def reaching(asked: Iterable[Asked], lines: int = 80) -> pd.DataFrame:
    """One row for each definition and class that a query finds: tokens until it has been read.

    Columns: query, file (the first that matches), line, file_lines; whole (reading the file page
    by page up to the definition); search, ranged (the grep answer, and `lines` lines from AROUND
    above the definition); searched (both together); whole_files_over_search (whole / searched).
    """
    rows = []
    for one in asked:
        if one.query.shape in _DEFINING and one.result.files:
            file = one.result.files[0]
            tools = workspace_tools(one.result.root)
            line = file.rows[0].line
            start = max(1, line - AROUND)
            ranged = tools.call("read_file", {"path": file.path, "offset": start, "limit": lines})
            sizes = tokens.count_many([render(one.result), ranged])
            row = {"query": one.name, "file": file.path, "line": line, "file_lines": _total(ranged)}
            whole = sum(tokens.count_many(_pages(tools, file.path, line)))
            rows.append(row | {"whole": whole, "search": sizes[0], "ranged": sizes[1]})
    frame = pd.DataFrame(rows, columns=_REACHED).astype(dict.fromkeys(_REACHED[2:], int))
    frame["searched"] = frame["search"] + frame["ranged"]
    frame["whole_files_over_search"] = frame["whole"] / frame["searched"]
    return frame


def _pages(tools: Toolset, path: str, line: int) -> Iterator[str]:
    """Reads from the file's start until `line` has been seen."""
    offset = 1
    for _ in range(_PAGES):
        answer = tools.call("read_file", {"path": path, "offset": offset})
        yield answer
        following = re.search(r"offset=(\d+)", answer.partition("\n\n")[0])
        if following is None or int(following[1]) > line:
            return
        offset = int(following[1])


def _total(answer: str) -> int:
    found = re.search(r"\(of (\d+) total lines\)", answer)
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Range:
    """Lines of a file that were read."""

    path: str
    first: int
    last: int
    total: int
    header: str
    """What read_file said before the text."""
    text: str


def _nothing(_: Range) -> tuple[str, str, str]:
    return "", "", ""


def _header(read: Range) -> tuple[str, str, str]:
    return f"{read.header}\n\n", "", ""


def _gutter(_: Range) -> tuple[str, str, str]:
    return "", "{line}\t", ""


def _footer(read: Range) -> tuple[str, str, str]:
    left = read.last < read.total
    go_on = f" Use offset={read.last + 1} to continue." if left else " End of file."
    return "", "", f"\n(Showing lines {read.first}-{read.last} of {read.total}.{go_on})"


PRESENTATIONS: dict[str, Callable[[Range], tuple[str, str, str]]] = {
    "nothing": _nothing,
    "header": _header,
    "gutter": _gutter,
    "footer": _footer,
}
"""Before the text, before each line, after the text: ours is the header; others use the rest."""


def presentations(asked: Iterable[Asked], lines: int = 200) -> pd.DataFrame:
    """One row for each way to present a partial read, over one range of each file in question.

    The ranges: the first `lines` lines of each file that a definition or class query finds and
    that is longer than that.

    Columns: presentation; reads (ranges); text, tokens (mean for a read, without and with what is
    added); added (mean), added_percent (of the text); tells_range, tells_total, tells_next (% of
    reads in which what is added has the first and last line, the total, the next offset).
    """
    ranges = list(_ranges(asked, lines))
    rows = [
        _told(name, present(read), read)
        for name, present in PRESENTATIONS.items()
        for read in ranges
    ]
    measured = ["text", "tokens", *_TELLS.values()]
    frame = pd.DataFrame(rows, columns=["presentation", *measured])
    groups = frame.astype(dict.fromkeys(measured, float)).groupby("presentation", sort=False)
    table = groups.mean()
    table.insert(0, "reads", groups.size())
    table.insert(3, "added", table["tokens"] - table["text"])
    table.insert(4, "added_percent", 100 * table["added"] / table["text"])
    return table.reset_index()


def _ranges(asked: Iterable[Asked], lines: int) -> Iterator[Range]:
    seen = set()
    for one in asked:
        if one.query.shape not in _DEFINING:
            continue
        tools = workspace_tools(one.result.root)
        for file in one.result.files:
            answer = tools.call("read_file", {"path": file.path, "limit": lines})
            if (one.tree, file.path) not in seen and (total := _total(answer)) > lines:
                seen.add((one.tree, file.path))
                header, _, text = answer.partition("\n\n")
                yield Range(file.path, 1, lines, total, header, text)


def _told(name: str, added: tuple[str, str, str], read: Range) -> dict[str, object]:
    before, gutter, after = added
    lines = read.text.splitlines(keepends=True) if gutter else [read.text]
    gutters = [gutter.format(line=read.first + place) for place in range(len(lines))]
    shown = "".join(f"{mark}{line}" for mark, line in zip(gutters, lines, strict=True))
    numbers = {
        int(number) for number in re.findall(r"\d+", f"{before} {' '.join(gutters)} {after}")
    }
    text, whole = tokens.count_many([read.text, f"{before}{shown}{after}"])
    return {
        "presentation": name,
        "text": text,
        "tokens": whole,
        "tells_range": 100 * ({read.first, read.last} <= numbers),
        "tells_total": 100 * (read.total in numbers),
        "tells_next": 100 * (read.last + 1 in numbers),
    }


def findings(reached: pd.DataFrame, presented: pd.DataFrame) -> str:
    """What the tables of `reaching` and `presentations` say, as Markdown."""
    if reached.empty:
        return "- No query found a definition: nothing to read."
    lines = [_reached(reached["whole_files_over_search"])]
    if presented.empty:
        lines.append("- No file is longer than a partial read: nothing to present.")
    for row in presented.to_dict("records"):
        known = [name for name, column in _TELLS.items() if row[column] == _ALWAYS]
        told = ", ".join(known) or "nothing"
        added = f"adds {row['added_percent']:.1f} %" if row["added"] else "adds no token"
        lines.append(f"- **{str(row['presentation']).capitalize()}** {added} and tells {told}.")
    return "\n".join(lines)


def _reached(ratio: pd.Series[float]) -> str:
    count, dearer = len(ratio), int((ratio < 1).sum())
    told = (
        f"- **Reaching a definition** by reading its file takes {ratio.median():.1f} × the tokens "
        "of a search and a range"
    )
    if count == 1:
        return f"{told}: one definition was found, so this is one case."
    if not dearer:
        return f"{told} (median of {count}); the search is never dearer."
    which = f"{dearer} of them" if dearer < count else "all of them"
    return f"{told} (median of {count}); the search is dearer in {which}."
