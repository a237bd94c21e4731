"""A comparison as text for a terminal: inputs first, then what changed, then the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxlab.workbench import shown
from ctxlab.workbench.changes import in_short
from ctxlab.workbench.compare import CellChange, Comparison, RowChange

ROWS_SHOWN = 40
ORDER = ("failed", "worse", "missing", "fixed", "better", "new", "not comparable")
"""Verdicts other than the same, the bad ones first."""


def as_text(comparison: Comparison, rows_shown: int = ROWS_SHOWN) -> str:
    """Several lines; `rows_shown` of the rows that are not the same, the bad ones first."""
    return "\n".join(_lines(comparison, rows_shown))


def _lines(comparison: Comparison, rows_shown: int) -> Iterator[str]:
    yield f"before  {comparison.before}"
    yield f"after   {comparison.after}"
    yield ""
    yield "inputs that differ:" if comparison.inputs else "the inputs are the same"
    yield from (f"  {_input(*change)}" for change in in_short(comparison.inputs))
    yield ""
    rows = by_badness(comparison)
    yield from (line for row in rows[:rows_shown] for line in _row(row))
    if len(rows) > rows_shown:
        yield f"… and {len(rows) - rows_shown:,} more rows; --json has them all"
    yield ", ".join(f"{count:,} {verdict}" for verdict, count in in_order(comparison.counts))


def in_order(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Verdict → rows that have it, the bad ones first, those that are the same last.

    >>> in_order({"better": 2, "same": 7, "worse": 1})
    [('worse', 1), ('better', 2), ('same', 7)]
    """
    return [(name, counts[name]) for name in (*ORDER, "same") if counts.get(name)]


def by_badness(comparison: Comparison) -> list[RowChange]:
    """The rows that are not the same, the bad ones first."""
    return sorted(comparison.rows, key=lambda row: ORDER.index(row.verdict))


def _input(what: str, before: str, after: str) -> str:
    return f"{what}: {before} → {after}" if before or after else what


def _row(row: RowChange) -> Iterator[str]:
    key, _ = shown.values(row.key, row.key)
    yield f"{row.verdict:<14} {row.table}  {key}".rstrip()
    yield from (f"{'':<14}   {_cell(cell)}" for cell in row.cells if cell.verdict != "same")


def _cell(cell: CellChange) -> str:
    before, after = shown.cells(cell.before, cell.after)
    told = f"{cell.column}: {before} → {after}{_percent(cell)}"
    return f"{told}  ({cell.note})" if cell.note else told


def _percent(cell: CellChange) -> str:
    try:
        before, after = float(cell.before), float(cell.after)
    except ValueError:
        return ""
    return f"  {(after - before) / abs(before):+.1%}" if before else ""
