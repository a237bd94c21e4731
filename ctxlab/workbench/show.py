"""What a recorded table or chart looks like in the notebook, and so in the report.

Not handled: sorting and styling, which are the report's (its classes are `ctxlab-table`, `num`,
`ctxlab-note`); the page around them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_RIGHT = ' class="num" style="text-align: right"'
_LEFT = ' style="text-align: left"'
_FIXED_RANGE = 1e6  # between smallest and largest: above it fixed decimals say nothing
_MOST_DECIMALS = 6


def table_html(
    frame: pd.DataFrame,
    kinds: Mapping[str, str],
    limit: int,
    whole: str,
    units: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The first `limit` rows, numbers on the right; a note says where the `whole` table is.

    A column with a unit has it behind its name. `kinds` tells of every column of the whole table.

    A float column whose rows have units of their own
    (a column `unit`) has the decimals of each value, not of all.
    """
    head = frame.head(limit)
    numeric = [kinds[column].rstrip("?") in ("int", "float") for column in frame.columns]
    aligns = [_RIGHT if right else _LEFT for right in numeric]
    names = "".join(
        f'<th scope="col"{align}>{_heading(column, units)}</th>'
        for column, align in zip(frame.columns, aligns, strict=True)
    )
    mixed = "unit" in head and len(set(head["unit"])) > 1
    columns = [
        [told([value], kinds[column])[0] for value in head[column]]
        if mixed and kinds[column].rstrip("?") == "float"
        else told(head[column].tolist(), kinds[column])
        for column in frame.columns
    ]
    rows = "\n".join(f"<tr>{_cells(row, aligns)}</tr>" for row in zip(*columns, strict=True))
    return (
        f'<table class="ctxlab-table">\n<thead><tr>{names}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table>{_note(len(head), frame, len(kinds), whole)}"
    )


def rows_html(name: str, rows: int, *, saved: bool) -> str:
    """The line in place of a table of which no row is shown.

    >>> rows_html("grid", 1234, saved=True)
    '<p class="ctxlab-note">1,234 rows in grid.csv</p>'
    """
    told = f"in {name}.csv" if saved else f"of {name}, which a run saves"
    return f'<p class="ctxlab-note">{rows:,} rows {escape(told)}</p>'


def _heading(column: str, units: Mapping[str, str]) -> str:
    name, unit = escape(column), escape(units.get(column, ""))
    return f"{name}<br>({unit})" if unit else name


def _cells(row: Sequence[str], aligns: Sequence[str]) -> str:
    return "".join(
        f"<td{align}>{escape(text)}</td>" for text, align in zip(row, aligns, strict=True)
    )


def _note(shown: int, frame: pd.DataFrame, columns: int, whole: str) -> str:
    """What is left out; `columns` is how many the whole table has."""
    parts = [
        f"{shown:,} of {len(frame):,} rows" if shown < len(frame) else "",
        f"{len(frame.columns)} of {columns} columns" if len(frame.columns) < columns else "",
    ]
    told = ", ".join(filter(None, parts))
    return f'\n<p class="ctxlab-note">{told}; {escape(whole)}</p>' if told else ""


def told(values: Sequence[Any], kind: str) -> list[str]:
    """Values as people read them: thousands apart, a column's decimals alike, missing as a dash.

    >>> told([1234.5, 0.25, float("nan")], "float")
    ['1,234.50', '0.25', '–']
    >>> told([1234567, -1], "int")
    ['1,234,567', '−1']
    """
    if kind == "float":
        finite = [abs(value) for value in values if _is_number(value) and math.isfinite(value)]
        form = _form([value for value in finite if value])
        return [_signed(format(value, form)) if _is_number(value) else "–" for value in values]
    if kind in ("int", "int?"):
        return [_signed(f"{value:,}") if _is_number(value) else "–" for value in values]
    return ["–" if _is_missing(value) else str(value) for value in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value) or type(value).__name__ in ("NAType", "NaTType")  # noqa: PLR0124  NaN


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _form(sizes: Sequence[float]) -> str:
    """Decimals for three digits of the smallest value, four of the largest, as far as given."""
    if not sizes or all(size.is_integer() for size in sizes):
        return ",.0f"
    if max(sizes) / min(sizes) > _FIXED_RANGE:
        return ",.4g"
    small, large = (math.floor(math.log10(size)) for size in (min(sizes), max(sizes)))
    decimals = min(max(2 - small, 3 - large, 0), max(map(_given, sizes)))
    return f",.{decimals}f" if decimals <= _MOST_DECIMALS else ",.3g"


def _given(size: float) -> int:
    """The decimals that a value has, to 12 digits: what is beyond is arithmetic's."""
    return max(0, -int(Decimal(f"{size:.12g}").normalize().as_tuple().exponent))


def display(html_or_svg: dict[str, str], metadata: dict[str, Any] | None = None) -> None:
    """Show in a notebook; where no notebook is, nothing happens."""
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415  0.3 s
    from IPython.display import display as show  # noqa: PLC0415

    if InteractiveShell.initialized():
        show(html_or_svg, raw=True, metadata=metadata or {})  # type: ignore[no-untyped-call]
