"""What every chart does with its frame first: columns checked, series named, order kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ctxlab.errors import UsageError
from ctxlab.workbench.charts.theme import readable


def need(frame: pd.DataFrame, *columns: str | None) -> None:
    """Refuse a column that is not there, naming those that are.

    Raises:
        UsageError: a column is missing.
    """
    missing = [name for name in columns if name is not None and name not in frame.columns]
    if missing:
        told = ", ".join(map(str, frame.columns)) or "none"
        raise UsageError(f"the chart's frame has no column {missing[0]!r}; it has {told}")


def in_order(values: pd.Series[Any]) -> list[object]:
    """The distinct values as they first appear; a categorical's own order where it has one."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        present = set(values.dropna())
        return [value for value in values.cat.categories if value in present]
    return list(values.dropna().unique())


def series(
    frame: pd.DataFrame, x: str, y: str | Sequence[str], hue: str | None
) -> dict[str, pd.DataFrame]:
    """Series by name, each with numeric columns as they were and `y`; several y are series.

    >>> wide = pd.DataFrame({"case": ["a", "b"], "by_prefix": [1, 2], "by_cut": [0, 1]})
    >>> {name: part["y"].tolist() for name, part in series(wide, "case", ["by_prefix", "by_cut"],
    ...                                                    None).items()}
    {'by prefix': [1.0, 2.0], 'by cut': [0.0, 1.0]}

    Raises:
        UsageError: a missing column, or `hue` beside several y.
    """
    columns = [y] if isinstance(y, str) else list(y)
    need(frame, x, hue, *columns)
    if len(columns) > 1 and hue is not None:
        raise UsageError("several y columns are the series already: leave hue out")
    if hue is None:
        return {readable(column): frame.assign(y=_numbers(frame[column])) for column in columns}
    whole = frame.assign(y=_numbers(frame[columns[0]]))
    return {str(name): whole[whole[hue] == name] for name in in_order(frame[hue])}


def grid(
    frame: pd.DataFrame, x: str, y: str | Sequence[str], hue: str | None
) -> tuple[list[object], dict[str, NDArray[np.float64]]]:
    """The names of the bars, and each series' values for them; NaN where a pair is missing.

    Without `hue` each row is a bar of its own, with it each distinct x is.

    Raises:
        UsageError: a missing column, or two rows for one pair: a chart adds nothing up.
    """
    parts = series(frame, x, y, hue)
    if hue is None:
        return frame[x].tolist(), {name: part["y"].to_numpy() for name, part in parts.items()}
    twice = frame.duplicated([x, hue])
    if twice.any():
        row = frame[twice].iloc[0]
        raise UsageError(f"the chart's frame has two rows for {x} {row[x]!r}, {hue} {row[hue]!r}")
    names = in_order(frame[x])
    return names, {
        name: part.set_index(x)["y"].reindex(pd.Index(names)).to_numpy(dtype=float)
        for name, part in parts.items()
    }


def _numbers(column: pd.Series[Any]) -> pd.Series[float]:
    return pd.to_numeric(column, errors="coerce").astype(float)
