"""A comparison as a page of its own: one offline file, like a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxlab.workbench import pages
from ctxlab.workbench.compare import BAD, CellChange, Comparison, RowChange
from ctxlab.workbench.comparison_text import by_badness

_ROWS_SHOWN = 2_000
_GOOD = frozenset({"better", "fixed"})
_LONGEST = 200


def write_comparison(path: Path, comparison: Comparison) -> Path:
    """Write the page; at most 2,000 rows stand on it, the bad ones first."""
    rows = by_badness(comparison)
    shown = [(row, cell) for row in rows[:_ROWS_SHOWN] for cell in _cells(row)]
    text = pages.page(
        "comparison.html.j2",
        entry=comparison.entry,
        comparison=comparison,
        counts=[(verdict, count) for verdict, count in comparison.counts.items() if count],
        rows=shown,
        left_out=max(len(rows) - _ROWS_SHOWN, 0),
        bad=BAD,
        good=_GOOD,
        told=_told,
    )
    return pages.write_page(path, text)


def _cells(row: RowChange) -> Sequence[CellChange | None]:
    """The cells to show; None stands for a row that is new or missing as a whole."""
    return [cell for cell in row.cells if cell.verdict != "same"] or [None]


def _told(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
