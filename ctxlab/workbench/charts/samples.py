"""Many draws of one figure: how they spread (histogram), and which share lies below (ECDF)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ctxlab.errors import UsageError
from ctxlab.workbench.charts import theme
from ctxlab.workbench.charts.categories import reference
from ctxlab.workbench.charts.tidy import in_order, need

Floats = NDArray[np.float64]


def histogram(
    frame: pd.DataFrame,
    *,
    x: str,
    unit: str,
    title: str,
    hue: str | None = None,
    note: str = "",
    label: str = "",
    of: str = "runs",
    bins: int | None = None,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """How often each value of `x` was drawn; whole numbers of few kinds get a bar each.

    >>> import pandas as pd
    >>> draws = pd.DataFrame({"kept": [0, 1, 1, 2, 2, 2, 3, 5]})
    >>> figure = histogram(draws, x="kept", unit="turns", title="Turns that kept the core",
    ...                    of="seeds", marks={"the article": 1})

    Args:
        frame: one row a draw (and a series, with `hue`).
        x: the numeric column.
        unit: its unit.
        title: a sentence or a question.
        hue: the column that names the series; they stand side by side.
        note: badges, separated by commas.
        label: the axis's name; by default the column's.
        of: what is counted: seeds, calls, files, …
        bins: how many bins; by default Freedman and Diaconis, at most 40.
        marks: name → value of upright lines, such as a median or a stated figure.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    need(frame, x, hue)
    groups = _groups(frame, x, hue)
    edges, whole = _edges(np.concatenate([*groups.values(), []]), bins)
    with theme.house():
        page = theme.page(title, note, height=225)
        theme.value_axis(page.axes, "y", of, of)
        page.axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        width = (edges[1:] - edges[:-1]) * (0.86 if whole else 0.96)
        for at, (name, values) in enumerate(groups.items()):
            heights, _ = np.histogram(values, edges)
            thick = width / len(groups)
            left = edges[:-1] + (edges[1:] - edges[:-1] - width) / 2 + thick * at
            page.axes.bar(left, heights, thick, align="edge", **theme.fill(at))
            page.legend.append((name, Patch(**theme.fill(at))))
        page.legend = page.legend if len(groups) > 1 else []
        _value_x(page, label or theme.readable(x), unit, marks, log=False)
        page.axes.xaxis.set_major_locator(MaxNLocator(10, integer=whole, min_n_ticks=1))
        return page.finish()


def ecdf(
    frame: pd.DataFrame,
    *,
    x: str,
    unit: str,
    title: str,
    hue: str | None = None,
    note: str = "",
    label: str = "",
    of: str = "calls",
    log: bool = False,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """For every value of `x` the share of rows that are at most as large.

    >>> import pandas as pd
    >>> calls = pd.DataFrame({"tokens": [10, 20, 400, 30, 60, 900], "style": ["grep", "tag"] * 3})
    >>> figure = ecdf(calls, x="tokens", hue="style", unit="tokens", title="Tokens of a result",
    ...               note="o200k estimate", log=True)

    Args:
        frame: one row a draw (and a series, with `hue`).
        x: the numeric column.
        unit: its unit.
        title: a sentence or a question.
        hue: the column that names the series.
        note: badges, separated by commas.
        label: the axis's name; by default the column's.
        of: what is counted: calls, seeds, files, …
        log: a logarithmic x axis; zeros and negative values are left out there.
        marks: name → value of upright lines.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    need(frame, x, hue)
    with theme.house():
        page = theme.page(title, note, height=235)
        groups = _groups(frame, x, hue)
        for at, (name, values) in enumerate(groups.items()):
            kept = np.sort(values[values > 0] if log else values)
            share = np.arange(len(kept) + 1) / max(1, len(kept)) * 100
            kept = np.concatenate([kept[:1], kept])  # it rises from zero at the smallest
            style: dict[str, Any] = {
                "color": theme.colour(at),
                "ls": theme.dash(at),
            }
            page.axes.step(kept, share[: len(kept)], where="post", **style)
            page.legend.append((name, Line2D([], [], **style)))
        page.legend = page.legend if len(groups) > 1 else []
        theme.value_axis(page.axes, "y", f"share of {of} at most this large", "%")
        page.axes.set_ylim(0, 102)
        _value_x(page, label or theme.readable(x), unit, marks, log=log)
        return page.finish()


def _groups(frame: pd.DataFrame, x: str, hue: str | None) -> dict[str, Floats]:
    values = pd.to_numeric(frame[x], errors="coerce").to_numpy(dtype=float)
    if hue is None:
        return {theme.readable(x): values[np.isfinite(values)]}
    names = frame[hue].astype(str).to_numpy()
    return {
        str(name): values[(names == str(name)) & np.isfinite(values)]
        for name in in_order(frame[hue])
    }


def _edges(values: Floats, bins: int | None) -> tuple[Floats, bool]:
    """Bin edges, and whether each whole number has a bin of its own."""
    if len(values) == 0:
        return np.array([0.0, 1.0]), False
    low, high = float(values.min()), float(values.max())
    if bins is None and high - low <= 40 and bool((values == np.round(values)).all()):
        return np.arange(low - 0.5, high + 1), True
    if bins is None:
        bins = min(40, max(5, len(np.histogram_bin_edges(values, "fd")) - 1))
    return np.histogram_bin_edges(values, bins), False


def _value_x(
    page: theme.Page, label: str, unit: str, marks: Mapping[str, float] | None, *, log: bool
) -> None:
    if not unit:
        raise UsageError(f"the axis {label!r} has no unit; say one, such as tokens, bytes, %, USD")
    page.axes.set_xlabel(theme.with_unit(label, unit))
    theme.scale(page.axes, "x", unit, log=log)
    page.axes.xaxis.set_tick_params(which="both", length=3)
    for name, value in (marks or {}).items():
        reference(page.axes, "x", name, value, unit)
