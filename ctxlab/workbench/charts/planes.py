"""Two things at once: points with labels, and a grid of cells that say their value or a winner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from ctxlab.workbench.charts import theme
from ctxlab.workbench.charts.numbers import format_value
from ctxlab.workbench.charts.tidy import in_order, need

Floats = NDArray[np.float64]
_NEAR = (0.02, 0.04)  # of the plot's width and height: closer labels cannot be read apart


def scatter(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    unit: str,
    x_unit: str,
    title: str,
    hue: str | None = None,
    text: str | None = None,
    note: str = "",
    label: str = "",
    x_label: str = "",
    log_x: bool = False,
    log: bool = False,
    diagonal: bool = False,
) -> Figure:
    """A point for each row; `text` names a column that stands beside it.

    >>> import pandas as pd
    >>> tools = pd.DataFrame({"server": ["git", "jira"], "bytes": [900, 4000],
    ...                       "tokens": [210, 870]})
    >>> figure = scatter(tools, x="bytes", y="tokens", text="server", unit="tokens", x_unit="bytes",
    ...                  title="Tokens follow bytes", note="o200k estimate")

    Args:
        frame: one row a point.
        x: a numeric column.
        y: a numeric column.
        unit: the unit of y.
        x_unit: the unit of x.
        title: a sentence or a question.
        hue: the column that names the series.
        text: the column whose text stands beside each point.
        note: badges, separated by commas.
        label: the y axis's name; by default the column's.
        x_label: the x axis's name; by default the column's.
        log_x: a logarithmic x axis.
        log: a logarithmic y axis.
        diagonal: draw the line where both are equal.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    need(frame, x, y, hue, text)
    with theme.house():
        page = theme.page(title, note, height=290)
        axes = page.axes
        theme.value_axis(axes, "x", x_label or theme.readable(x), x_unit, log=log_x)
        theme.value_axis(axes, "y", label or theme.readable(y), unit, log=log)
        axes.spines["bottom"].set_visible(True)
        names = in_order(frame[hue]) if hue else [None]
        for at, name in enumerate(names):
            part = frame if name is None else frame[frame[hue] == name]
            style: dict[str, Any] = {
                "color": theme.colour(at),
                "marker": theme.marker(at),
                "ls": "none",
                "mew": 0,
            }
            axes.plot(
                part[x].to_numpy(dtype=float),
                part[y].to_numpy(dtype=float),
                ms=6,
                alpha=0.85,
                **style,
            )
            if name is not None:
                page.legend.append((str(name), Line2D([], [], ms=6, **style)))
        axes.margins(0.1)
        if diagonal:
            low, high = (
                max(axes.get_xlim()[0], axes.get_ylim()[0]),
                min(axes.get_xlim()[1], axes.get_ylim()[1]),
            )
            axes.plot([low, high], [low, high], color=theme.INK, lw=1, ls=(0, (4, 2)), alpha=0.6)
        if text is not None:
            _names(
                axes, frame[[x, y]].to_numpy(dtype=float), [theme.short(t, 26) for t in frame[text]]
            )
        return page.finish()


def heatmap(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    title: str,
    unit: str,
    text: str | None = None,
    note: str = "",
    x_label: str = "",
    y_label: str = "",
    x_unit: str = "",
    y_unit: str = "",
    log: bool = False,
) -> Figure:
    """A cell for each pair of x and y. Numbers shade it; names (a winner) give it their colour.

    Each cell says its value, or the column `text` (such as the winner's name or its margin).

    >>> import pandas as pd
    >>> grid = pd.DataFrame({"turns": [10, 10, 50, 50], "tools": [5, 50, 5, 50],
    ...                      "winner": ["all", "defer", "all", "defer"]})
    >>> figure = heatmap(grid, x="turns", y="tools", value="winner", unit="winner",
    ...                  title="Which is cheapest?", note="simulated")

    Args:
        frame: one row a cell; a pair that is missing stays empty.
        x: the column across; the order of rows is kept.
        y: the column down.
        value: the column that colours: numbers or names.
        title: a sentence or a question.
        unit: the unit of the numbers, or what the names are.
        text: the column that a cell says; by default `value`.
        note: badges, separated by commas.
        x_label: the name of the axis across; by default the column's.
        y_label: the name of the axis down; by default the column's.
        x_unit: the unit across, if it has one.
        y_unit: the unit down, if it has one.
        log: shade by the logarithm.

    Raises:
        UsageError: a column that is not there.
    """
    need(frame, x, y, value, text)
    across, down = in_order(frame[x]), in_order(frame[y])
    named = not pd.api.types.is_numeric_dtype(frame[value]) or pd.api.types.is_bool_dtype(
        frame[value]
    )
    with theme.house():
        page = theme.page(title, note, height=max(90.0, 30.0 * len(down) + 58))
        kinds = in_order(frame[value]) if named else []
        shades = _shades(frame[value], log=log) if not named else np.full(len(frame), 0.42)
        size = theme.SMALL if len(across) <= 6 else 7.5
        for shade, (_, row) in zip(shades, frame.iterrows(), strict=True):
            spot = (across.index(row[x]), down.index(row[y]))
            fill = theme.colour(kinds.index(row[value]) if named and row[value] in kinds else 0)
            page.axes.add_patch(
                Rectangle(
                    (spot[0] - 0.48, spot[1] - 0.46),
                    0.96,
                    0.92,
                    color=fill,
                    alpha=float(shade),
                    lw=0,
                )
            )
            told = (
                str(row[text])
                if text
                else row[value]
                if named
                else format_value(float(row[value]), unit)
            )
            page.axes.text(
                *spot, theme.short(told, 16), ha="center", va="center_baseline", fontsize=size
            )
        _grid_axis(
            page.axes, "x", across, theme.with_unit(x_label or theme.readable(x), x_unit), x_unit
        )
        _grid_axis(
            page.axes, "y", down, theme.with_unit(y_label or theme.readable(y), y_unit), y_unit
        )
        page.legend = [
            (str(kind), Patch(color=theme.colour(at), alpha=0.6, lw=0))
            for at, kind in enumerate(kinds)
        ]
        if not named:
            page.legend = [
                (
                    f"stronger: more {theme.with_unit(theme.readable(value), unit)}",
                    Patch(color=theme.colour(0), alpha=0.5, lw=0),
                )
            ]
        return page.finish()


def _shades(values: pd.Series[float], *, log: bool) -> Floats:
    """Opacity of each cell: from 6 % to 58 %, where ink stays readable in both schemes."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    if log:
        numbers = np.log10(np.where(numbers > 0, numbers, np.nan))
    finite = numbers[np.isfinite(numbers)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    spread = (high - low) or 1.0
    return np.asarray(0.06 + 0.52 * np.nan_to_num((numbers - low) / spread, nan=0.0))


def _grid_axis(axes: Axes, which: str, names: list[object], label: str, unit: str) -> None:
    labels = [
        format_value(float(n), unit) if isinstance(n, int | float) else theme.short(n, 26)
        for n in names
    ]
    if which == "x":
        axes.set_xticks(range(len(names)), labels)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_xlabel(label)
    else:
        axes.set_yticks(range(len(names)), labels)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_ylabel(label)
    (axes.xaxis if which == "x" else axes.yaxis).set_tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _heaps(spots: Floats, names: list[str]) -> dict[int, list[str]]:
    """Point → the names of those whose labels would stand on its own, its own first."""
    heaps: dict[int, list[str]] = {}
    for at, (spot, name) in enumerate(zip(spots, names, strict=True)):
        near = (old for old in heaps if (np.abs(spots[old] - spot) < _NEAR).all())
        heap = heaps.setdefault(next(near, at), [])
        if name not in heap:
            heap.append(name)
    return heaps


def _names(axes: Axes, points: Floats, names: list[str]) -> None:
    """Put each name right of its point, or left where it would leave the plot.

    Points that lie on one another share a label, each name said once.
    """
    axes.autoscale_view()
    spots = axes.transLimits.transform(axes.transScale.transform(points))
    for at, together in _heaps(spots, names).items():
        point, spot, name = points[at], spots[at], theme.short(", ".join(together), 40)
        left = spot[0] > 1 - 0.016 * len(name)
        axes.annotate(
            name,
            tuple(point),
            xytext=(-6 if left else 6, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center_baseline",
            fontsize=theme.SMALL,
        )
