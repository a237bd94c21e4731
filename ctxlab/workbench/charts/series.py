"""What develops: lines over an axis; stacked bars over turns, with the events that broke them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ctxlab.workbench.charts import theme
from ctxlab.workbench.charts.categories import reference
from ctxlab.workbench.charts.tidy import need, series


def lines(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str | Sequence[str],
    unit: str,
    title: str,
    hue: str | None = None,
    note: str = "",
    label: str = "",
    x_label: str = "",
    x_unit: str = "",
    band: tuple[str, str] | None = None,
    log_x: bool = False,
    log: bool = False,
    steps: bool = False,
    references: Mapping[str, float] | None = None,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """Lines of `y` over `x`, one a series; each has its own dash and marker besides its colour.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"limit": [1, 10, 100], "kept": [5, 40, 90]})
    >>> figure = lines(frame, x="limit", y="kept", unit="%", title="Kept by limit",
    ...                x_unit="tokens", log_x=True, references={"half": 50})

    Args:
        frame: one row a point (and a series, with `hue`).
        x: a numeric column.
        y: the column of values, or several columns, each a series.
        unit: the unit of the values.
        title: a sentence or a question.
        hue: the column that names the series.
        note: badges, separated by commas.
        label: the value axis's name; by default the column's.
        x_label: the other axis's name; by default the column's.
        x_unit: its unit; empty for a count such as a turn.
        band: two columns, low and high, shaded around each line.
        log_x: a logarithmic x axis.
        log: a logarithmic value axis.
        steps: a value holds until the next one.
        references: name → value of lines across.
        marks: name → x of lines upright, such as a limit or a moment.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    parts = series(frame, x, y, hue)
    need(frame, *(band or ()))
    with theme.house():
        page = theme.page(title, note, height=255)
        axes = page.axes
        theme.value_axis(axes, "y", label or _label(y), unit, log=log)
        _x_axis(axes, x_label or theme.readable(x), x_unit, log=log_x)
        for at, (name, rows) in enumerate(parts.items()):
            part = rows.sort_values(x, kind="stable")
            style = _style(at, len(part))
            draw = "steps-post" if steps else "default"
            axes.plot(_floats(part, x), _floats(part, "y"), drawstyle=draw, **style)
            if band is not None:
                low, high = (_floats(part, name) for name in band)
                shade: dict[str, Any] = {"color": theme.colour(at), "alpha": 0.2, "lw": 0}
                axes.fill_between(_floats(part, x), low, high, **shade)
            page.legend.append((name, Line2D([], [], **style)))
        page.legend = page.legend if len(parts) > 1 else []
        if not log and axes.dataLim.y0 >= 0:
            axes.set_ylim(bottom=0, top=1 if axes.dataLim.y1 == 0 else None)
        for name, value in (references or {}).items():
            reference(axes, "y", name, value, unit)
        for name, value in (marks or {}).items():
            reference(axes, "x", name, value, x_unit)
        return page.finish()


def timeline(
    frame: pd.DataFrame,
    *,
    x: str,
    parts: Sequence[str],
    unit: str,
    title: str,
    events: str | None = None,
    note: str = "",
    label: str = "value",
    x_label: str = "",
    x_unit: str = "",
) -> Figure:
    """A stacked bar for each step (a turn, a request) and a marked line where something happened.

    `events` is a column: an empty or missing value is no event; equal texts share a number, and
    the legend says what each means.

    >>> import pandas as pd
    >>> turns = pd.DataFrame({"turn": [1, 2, 3], "read": [0, 900, 0], "written": [900, 50, 950],
    ...                       "cause": ["", "", "tool added"]})
    >>> figure = timeline(turns, x="turn", parts=["read", "written"], events="cause", unit="tokens",
    ...                   title="What each turn read and wrote", note="simulated")

    Args:
        frame: one row a step, in order.
        x: the steps' column, numbers or names.
        parts: the columns stacked on one another, bottom first.
        unit: their unit.
        title: a sentence or a question.
        events: the column that says what happened at a step.
        note: badges, separated by commas.
        label: the value axis's name.
        x_label: the other axis's name; by default the column's.
        x_unit: its unit; empty for a count such as a turn.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    need(frame, x, events, *parts)
    spots = range(len(frame))
    with theme.house():
        page = theme.page(title, note, height=250)
        axes = page.axes
        theme.value_axis(axes, "y", label, unit)
        base = np.zeros(len(frame))
        for at, part in enumerate(parts):
            values = pd.to_numeric(frame[part], errors="coerce").fillna(0).to_numpy(dtype=float)
            axes.bar(spots, values, 0.8, bottom=base, **theme.fill(at))
            base = base + values
            page.legend.append((theme.readable(part), Patch(**theme.fill(at))))
        top = float(base.max(initial=0)) or 1.0
        axes.set_ylim(0, top * 1.12)
        axes.set_xlim(-0.7, max(0.7, len(frame) - 0.3))
        if events is not None:
            page.legend += _events(axes, spots, frame[events], top)
        _step_names(axes, frame[x].tolist(), theme.with_unit(x_label or theme.readable(x), x_unit))
        return page.finish()


def _events(
    axes: Axes,
    spots: Sequence[int],
    column: pd.Series[str],
    top: float,
) -> list[tuple[str, Patch | Line2D]]:
    texts = [str(text).strip() if pd.notna(text) else "" for text in column]
    kinds = list(dict.fromkeys(text for text in texts if text))
    for spot, text in zip(spots, texts, strict=True):
        if text:
            at = kinds.index(text)
            axes.axvline(float(spot), color=theme.INK, lw=1, ls=(0, (2, 2)), alpha=0.65)
            axes.plot([float(spot)], [top * 1.07], **_event_marker(at))
    return [
        (theme.short(kind, 30), Line2D([], [], **_event_marker(at)))
        for at, kind in enumerate(kinds)
    ]


def _event_marker(at: int) -> dict[str, Any]:
    marker = ("v", "X", "D", "s", "^", "o")[at % 6]
    return {
        "marker": marker,
        "color": theme.INK,
        "ls": "none",
        "ms": 6.5,
        "mew": 0,
        "clip_on": False,
    }


def _step_names(axes: Axes, names: Sequence[object], label: str) -> None:
    every = max(1, -(-len(names) // 12))
    shown = range(0, len(names), every)
    axes.set_xticks(list(shown), [theme.short(names[at], 12) for at in shown])
    axes.set_xlabel(label)
    axes.xaxis.set_tick_params(length=0)


def _x_axis(axes: Axes, label: str, unit: str, *, log: bool) -> None:
    axes.set_xlabel(theme.with_unit(label, unit))
    theme.scale(axes, "x", unit, log=log, ticks=7)
    axes.xaxis.set_tick_params(which="both", length=3)


def _style(at: int, points: int) -> dict[str, Any]:
    marked = points <= 30
    return {
        "color": theme.colour(at),
        "ls": theme.dash(at),
        "marker": theme.marker(at) if marked else "",
        "ms": 5,
        "mew": 0,
    }


def _floats(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    return pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=float)


def _label(y: str | Sequence[str]) -> str:
    columns = [y] if isinstance(y, str) else list(y)
    return theme.readable(columns[0]) if len(columns) == 1 else "value"
