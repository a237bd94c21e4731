"""The few numbers of a run that stand on its card: a summary's figures, and how claims came out.

A summary is a table of `figure` and `value` (and `of`, `unit`), or one of a single row; claims are
the table of that name, whose column `verdict` is counted.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ctxlab.workbench.index.seen import part
from ctxlab.workbench.report.text import visible

_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?(e[-+]?\d{1,3})?", re.IGNORECASE)
_SHOWN = 4
_MOST = 10_000
_ROUND = 1000


def key_figures(folder: Path, tables: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value of at most four figures."""
    for table in tables.values():
        if not isinstance(table, Mapping):
            continue
        if table.get("key") == ["figure"] and "value" in part(table, "columns"):
            told = [_figure(row) for row in islice(_rows(folder, table), _SHOWN)]
        elif table.get("rows") == 1:
            row = next(_rows(folder, table), {})
            told = [(name, row[name]) for name in part(table, "metrics") if row.get(name)]
        else:
            continue
        if told:
            return [(_words(name), _told(value)) for name, value in told[:_SHOWN]]
    return []


def claims(folder: Path, tables: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Verdict → how many claims have it, the most frequent first."""
    table = tables.get("claims")
    if not isinstance(table, Mapping):
        return []
    verdicts = (row.get("verdict") for row in islice(_rows(folder, table), _MOST))
    return Counter(visible(verdict)[:40] for verdict in verdicts if verdict).most_common(8)


def _figure(row: Mapping[str, str]) -> tuple[str, str]:
    value, of, unit = (row.get(name) or "" for name in ("value", "of", "unit"))
    if unit == "%":
        return row.get("figure") or "", f"{_told(value)}%"
    return row.get("figure") or "", f"{_told(value)} of {_told(of)}" if of else _told(value)


def _rows(folder: Path, table: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    path = table.get("path")
    if not isinstance(path, str) or not path or path != Path(path).name:
        return
    try:
        with (folder / path).open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
    except (OSError, ValueError, csv.Error):
        return


def _words(name: str) -> str:
    return visible(name).replace("_", " ")[:60]


def _told(value: str) -> str:
    """A figure as people read it.

    >>> _told("1234567"), _told("0.333333333"), _told("2.0"), _told("kept")
    ('1,234,567', '0.333', '2', 'kept')
    """
    if not _NUMBER.fullmatch(value):
        return visible(value)[:40]
    number = float(value)
    if number.is_integer() or abs(number) >= _ROUND:
        return f"{number:,.0f}".replace("-", "−")
    return f"{number:.3g}".replace("-", "−")
