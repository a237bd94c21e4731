"""Bars, grouped and stacked, lying or standing; and the waterfall."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ctxlab.workbench.charts import theme
from ctxlab.workbench.charts.numbers import format_value
from ctxlab.workbench.charts.tidy import grid, need

Floats = NDArray[np.float64]
Table = dict[str, Floats]
_SHARE = {True: 0.09, False: 0.13}  # of the axis, for numbers at the ends of standing, lying bars
_MARGIN_CHARS = 12  # a line of a name beside the plot
_LABELLED = 40  # bars that can carry their own number and stay readable


def bars(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str | Sequence[str],
    unit: str,
    title: str,
    hue: str | None = None,
    note: str = "",
    label: str = "",
    stacked: bool = False,
    vertical: bool = False,
    log: bool = False,
    references: Mapping[str, float] | None = None,
) -> Figure:
    """A bar for each row: `x` names it, `y` (one column, or several as series) is its length.

    Bars lie unless `vertical`: names stay readable on a phone. Each carries its number while
    there are 40 or fewer. `references` draws named lines, such as a limit.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"style": ["tag", "grep"], "tokens": [300, 120]})
    >>> figure = bars(frame, x="style", y="tokens", unit="tokens", title="A grep result",
    ...               note="o200k estimate")

    Args:
        frame: one row a bar (and a series, with `hue`).
        x: the column that names the bars; the order of rows is kept.
        y: the column of values, or several columns, each a series.
        unit: the values' unit: tokens, bytes, %, USD, ×, s, …
        title: a sentence or a question.
        hue: the column that names the series.
        note: badges, separated by commas: `o200k estimate`, `simulated`.
        label: the value axis's name; by default the column's.
        stacked: series one on another instead of side by side.
        vertical: standing bars, for few short names or an order such as time.
        log: a logarithmic value axis.
        references: name → value of lines across the bars.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    names, table = grid(frame, x, y, hue)
    with theme.house():
        thick = 1 if stacked else max(1, len(table))
        size = len(names) * (15.0 * thick + 9) + 62
        page = theme.page(title, note, height=250 if vertical else max(110.0, size))
        axis = "y" if vertical else "x"
        theme.value_axis(page.axes, axis, label or _value_label(y), unit, log=log)
        draw = _stacked if stacked else _grouped
        draw(page.axes, table, unit, vertical=vertical)
        _names(page.axes, names, vertical=vertical)
        if log:
            _log_room(page.axes, table, references or {}, vertical=vertical)
        else:
            _room(page.axes, vertical=vertical)
        for name, value in (references or {}).items():
            reference(page.axes, axis, name, value, unit)
        if len(table) > 1:
            page.legend = [(name, Patch(**theme.fill(at))) for at, name in enumerate(table)]
        return page.finish()


def waterfall(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    unit: str,
    title: str,
    note: str = "",
    label: str = "",
    total: str = "total",
) -> Figure:
    """Steps that add up: each row adds `y` (or takes it away), the last bar is the total.

    >>> import pandas as pd
    >>> steps = pd.DataFrame({"part": ["system", "tools"], "tokens": [900, -350]})
    >>> figure = waterfall(steps, x="part", y="tokens", unit="tokens", title="What a request holds")

    Args:
        frame: one row a step, in order.
        x: the column that names the steps.
        y: what each adds; negative takes away.
        unit: the unit of `y`.
        title: a sentence or a question.
        note: badges, separated by commas.
        label: the value axis's name; by default the column's.
        total: the name of the last bar; empty leaves it out.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    need(frame, x, y)
    steps = pd.to_numeric(frame[y], errors="coerce").fillna(0).to_numpy(dtype=float)
    ends = np.cumsum(steps)
    names = [*frame[x].tolist(), *([total] if total else [])]
    with theme.house():
        page = theme.page(title, note, height=max(110.0, len(names) * 24.0 + 62))
        theme.value_axis(page.axes, "x", label or theme.readable(y), unit)
        for at, (step, end) in enumerate(zip(steps, ends, strict=True)):
            fill = theme.colour(0 if step >= 0 else 1)
            page.axes.barh(at, step, left=end - step, height=0.62, color=fill)
            page.axes.plot([end, end], [at - 0.31, at + 1.31], color=theme.INK, lw=0.8, alpha=0.5)
            told = format_value(step, unit)
            _tell(page.axes, max(end, end - step), at, told if step < 0 else f"+{told}")
        if total:
            value = float(ends[-1]) if len(ends) else 0.0
            page.axes.barh(len(steps), value, height=0.62, color=theme.colour(5))
            _tell(page.axes, max(value, 0), len(steps), format_value(value, unit), weight="bold")
        _names(page.axes, names, vertical=False)
        _room(page.axes, vertical=False)
        kinds = (("adds", 0), ("takes away", 1))
        page.legend = [(name, Patch(color=theme.colour(at))) for name, at in kinds]
        return page.finish()


def reference(axes: Axes, which: str, name: str, value: float, unit: str) -> None:
    """A named line across the plot at `value` of the axis `which`.

    Its name stands outside of the plot, above it or on its right: no data is covered.
    """
    line = axes.axvline if which == "x" else axes.axhline
    line(value, color=theme.INK, lw=1.1, ls=(0, (4, 2)), alpha=0.8)
    told = f"{name}: {format_value(value, unit)}"
    if which == "x":
        axes.annotate(
            told,
            (value, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, 3),
            textcoords="offset points",
            fontsize=theme.SMALL,
            ha="center",
            va="bottom",
        )
        return
    axes.annotate(
        "\n".join(textwrap.wrap(told, _MARGIN_CHARS, break_on_hyphens=False)),
        (1.0, value),
        xycoords=axes.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=theme.SMALL,
        ha="left",
        va="center",
    )


def _grouped(axes: Axes, table: Table, unit: str, *, vertical: bool) -> None:
    count = max(1, len(table))
    thick = 0.78 / count
    draw: Callable[..., object] = axes.bar if vertical else axes.barh
    told = sum(map(len, table.values())) <= _LABELLED
    for at, values in enumerate(table.values()):
        spots = np.arange(len(values)) + (at - (count - 1) / 2) * thick
        draw(spots, np.nan_to_num(values), thick * 0.9, **theme.fill(at))
        for spot, value in zip(spots, values, strict=True):
            if told:
                _tell(axes, value, spot, format_value(value, unit), vertical=vertical)


def _stacked(axes: Axes, table: Table, unit: str, *, vertical: bool) -> None:
    draw: Callable[..., object] = axes.bar if vertical else axes.barh
    parts = [np.nan_to_num(values) for values in table.values()] or [np.zeros(0)]
    whole = np.sum(parts, axis=0)
    told = len(whole) <= _LABELLED
    base = np.zeros(len(whole))
    for at, values in enumerate(parts):
        start = {"bottom" if vertical else "left": base}
        draw(range(len(values)), values, 0.66, **theme.fill(at), **start)
        if told:
            fill, room = theme.on_fill(at), 0.11 * whole.max(initial=0)
            _tell_inside(axes, base, values, unit, fill, room=room, vertical=vertical)
        base = base + values
    if told and len(parts) > 1:
        for spot, value in enumerate(whole):
            _tell(axes, value, spot, format_value(value, unit), vertical=vertical, weight="bold")


def _tell_inside(
    axes: Axes, base: Floats, values: Floats, unit: str, fill: str, *, room: float, vertical: bool
) -> None:
    """Write the number into each part that is longer than `room`."""
    for spot, (low, value) in enumerate(zip(base, values, strict=True)):
        if value > room:
            x, y = (spot, low + value / 2) if vertical else (low + value / 2, spot)
            look: dict[str, Any] = {
                "ha": "center",
                "va": "center_baseline",
                "fontsize": theme.SMALL,
            }
            axes.text(x, y, format_value(value, unit), color=fill, **look)


def _tell(
    axes: Axes,
    value: float,
    spot: float,
    text: str,
    *,
    vertical: bool = False,
    weight: str = "normal",
) -> None:
    """Write a bar's number at its end; a missing value says n/a at zero."""
    end = 0.0 if np.isnan(value) else value
    back = end < 0
    if vertical:
        where, gap = (spot, end), (0, -3 if back else 3)
        sides: dict[str, Any] = {"ha": "center", "va": "top" if back else "bottom"}
    else:
        where, gap = (end, spot), (-4 if back else 4, 0)
        sides = {"ha": "right" if back else "left", "va": "center_baseline"}
    axes.annotate(
        text,
        where,
        xytext=gap,
        textcoords="offset points",
        fontsize=theme.SMALL,
        weight=weight,
        annotation_clip=False,
        **sides,
    )


def _names(axes: Axes, names: Sequence[object], *, vertical: bool) -> None:
    labels = [theme.short(name) if vertical else theme.two_lines(name) for name in names]
    if vertical:
        steep = max((len(label) for label in labels), default=0) * len(labels) > 74
        axes.set_xticks(
            range(len(labels)),
            labels,
            rotation=40 if steep else 0,
            ha="right" if steep else "center",
            rotation_mode="anchor" if steep else "default",
        )
        axes.set_xlim(-0.6, len(labels) - 0.4)
    else:
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
    (axes.xaxis if vertical else axes.yaxis).set_tick_params(length=0)
    axes.spines["left" if not vertical else "bottom"].set_visible(True)


def _room(axes: Axes, *, vertical: bool) -> None:
    """Leave room for the numbers at the bars' ends; zero stays at the edge where it is one."""
    low, high = axes.get_ylim() if vertical else axes.get_xlim()
    ends = axes.dataLim.intervaly if vertical else axes.dataLim.intervalx
    share = _SHARE[vertical]
    if not ends.any():  # bars of no length alone: matplotlib would put zero into the middle
        low, high = 0.0, 1.0
    high += (high - low) * share if high > 0 else 0
    low -= (high - low) * share if low < 0 else 0
    (axes.set_ylim if vertical else axes.set_xlim)(low, high if high > low else low + 1)


def _log_room(axes: Axes, table: Table, references: Mapping[str, float], *, vertical: bool) -> None:
    """The same on a logarithmic axis: it begins at a power of ten well below the shortest bar."""
    values = np.concatenate([*table.values(), []])
    ends = values[np.isfinite(values) & (values > 0)]
    if not len(ends):
        return
    marks = [value for value in references.values() if value > 0]
    low = min(10.0 ** np.floor(np.log10(ends.min() / 2)), *(0.8 * mark for mark in marks), np.inf)
    high = max(ends.max(), *marks, 0.0)
    (axes.set_ylim if vertical else axes.set_xlim)(low, high * (high / low) ** _SHARE[vertical])


def _value_label(y: str | Sequence[str]) -> str:
    columns = [y] if isinstance(y, str) else list(y)
    return theme.readable(columns[0]) if len(columns) == 1 else "value"
