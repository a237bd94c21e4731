"""Comparisons as a page of their own: one offline file, like a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxlab.workbench import pages, shown
from ctxlab.workbench.changes import in_short
from ctxlab.workbench.compare import BAD, GOOD, CellChange, Comparison, RowChange
from ctxlab.workbench.comparison_text import by_badness, in_order

_ROWS_SHOWN = 2_000
_WIDTH = 160


@dataclass(frozen=True)
class Links:
    """Where the page leads, relative to it; empty where there is nothing."""

    index: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class _Section:
    """One comparison as the page shows it."""

    comparison: Comparison
    counts: list[tuple[str, int]]
    inputs: list[tuple[str, str, str]]
    rows: list[tuple[RowChange, CellChange | None, str, str]]
    """A row, a cell of it that changed (None: it is new or missing as a whole), before, after."""
    left_out: int


def write_comparison(path: Path, comparison: Comparison, links: Links = Links()) -> Path:
    """Write the page of one; at most 2,000 rows stand on it, the bad ones first.

    Raises:
        OSError: it cannot be written.
    """
    return _write(path, [comparison], links)


def write_comparisons(path: Path, comparisons: Sequence[Comparison]) -> Path:
    """Write one page of them all: what became of each at its top, those that changed below.

    Raises:
        OSError: it cannot be written.
    """
    return _write(path, comparisons, Links())


def _write(path: Path, comparisons: Sequence[Comparison], links: Links) -> Path:
    sections = [_section(each, _ROWS_SHOWN // len(comparisons)) for each in comparisons]
    text = pages.page("comparison.html.j2", sections=sections, links=links, bad=BAD, good=GOOD)
    return pages.write_page(path, text)


def _section(comparison: Comparison, most: int) -> _Section:
    rows = by_badness(comparison)
    return _Section(
        comparison,
        in_order(comparison.counts),
        in_short(comparison.inputs),
        [told for row in rows[:most] for told in _cells(row)],
        max(len(rows) - most, 0),
    )


def _cells(row: RowChange) -> Iterator[tuple[RowChange, CellChange | None, str, str]]:
    moved = [cell for cell in row.cells if cell.verdict != "same"]
    for cell in moved:
        yield row, cell, *shown.cells(cell.before, cell.after, _WIDTH)
    if not moved:
        yield row, None, "", ""
