"""A comparison as a page of its own: one offline file, like a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxlab.workbench import pages
from ctxlab.workbench.changes import in_short
from ctxlab.workbench.compare import BAD, GOOD, CellChange, Comparison, RowChange
from ctxlab.workbench.comparison_text import by_badness, in_order

_ROWS_SHOWN = 2_000


@dataclass(frozen=True)
class Links:
    """Where the page leads, relative to it; empty where there is nothing."""

    index: str = ""
    before: str = ""
    after: str = ""


def write_comparison(path: Path, comparison: Comparison, links: Links = Links()) -> Path:
    """Write the page; at most 2,000 rows stand on it, the bad ones first.

    Raises:
        OSError: it cannot be written.
    """
    rows = by_badness(comparison)
    shown = [(row, cell) for row in rows[:_ROWS_SHOWN] for cell in _cells(row)]
    text = pages.page(
        "comparison.html.j2",
        entry=comparison.entry,
        comparison=comparison,
        counts=in_order(comparison.counts),
        rows=shown,
        left_out=max(len(rows) - _ROWS_SHOWN, 0),
        inputs=in_short(comparison.inputs),
        links=links,
        bad=BAD,
        good=GOOD,
    )
    return pages.write_page(path, text)


def _cells(row: RowChange) -> Sequence[CellChange | None]:
    """The cells to show; None stands for a row that is new or missing as a whole."""
    return [cell for cell in row.cells if cell.verdict != "same"] or [None]
