"""Many named rows, each with its marks on one shared axis: where dozens of bars would be a wall."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ctxlab.workbench.charts import theme
from ctxlab.workbench.charts.categories import reference
from ctxlab.workbench.charts.tidy import in_order, need

Floats = NDArray[np.float64]
_ROW, _LINE = 24.0, 11.5
"""Points of a row of one line or two, and of each line beyond them."""
_NAME_SIZE, _NAME_CHARS, _NAME_LINES = 9.0, 34, 3


def dots(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    hue: str,
    group: str,
    unit: str,
    title: str,
    text: str,
    limits: tuple[float, float],
    note: str = "",
    label: str = "",
    order: tuple[str, ...] = (),
    references: Mapping[str, float] | None = None,
) -> Figure:
    """A line for each distinct `x`, under its group's name, with a mark for each of its rows.

    Marks beyond `limits` stand at the edge as an arrow. A row without a number has its mark at the
    left, with the words of `text` beside it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"claim": ["prefix kept", "cost"], "ratio": [1.0, None],
    ...                       "verdict": ["reproduced", "open"], "document": ["a", "b"],
    ...                       "told": ["", "not measured"]})
    >>> figure = dots(frame, x="claim", y="ratio", hue="verdict", group="document", text="told",
    ...               unit="× stated", limits=(0.1, 10), title="Two claims")

    Args:
        frame: one row a mark.
        x: the column that names the lines; rows of one name stand together.
        y: the column of values; NaN where there is no number.
        hue: the column that gives marks colour and shape.
        group: the column of the groups; groups stand in the order of their first row.
        unit: the values' unit.
        title: a sentence or a question.
        text: the column with words for rows without a number.
        limits: the ends of the axis, which is logarithmic.
        note: badges, separated by commas.
        label: the value axis's name; by default the column's.
        order: the kinds of `hue` in the order of colours, whichever of them the frame has.
        references: name → value of lines across the groups.

    Raises:
        UsageError: a column that is not there, or no unit.
    """
    need(frame, x, y, hue, group, text)
    present = [str(kind) for kind in in_order(frame[hue])]
    kinds = [*order, *(kind for kind in present if kind not in order)]
    with theme.house():
        rows = list(_rows(frame, x, group))
        ends = np.cumsum([_ROW + _LINE * max(0, name.count("\n") - 1) for name, _ in rows])
        page = theme.page(title, note, height=float(ends[-1] if len(ends) else 0) + 62)
        theme.value_axis(page.axes, "x", label or theme.readable(y), unit, log=True)
        page.axes.set_xlim(limits[0] / 1.15, limits[1] * 1.15)
        spots = (ends + np.concatenate([[0], ends[:-1]])) / 2 if len(ends) else ends
        page.axes.set_ylim(float(ends[-1] if len(ends) else 1), 0)
        _names(page.axes, spots, rows)
        for name, value in (references or {}).items():
            reference(page.axes, "x", name, value, unit)
        for spot, (_, part) in zip(spots, rows, strict=True):
            if part is not None:
                _marks(page.axes, spot, part[[y, hue, text]], kinds, limits)
        page.legend = [(kind, Line2D([], [], **_look(kinds.index(kind)))) for kind in present]
        return page.finish()


def _rows(frame: pd.DataFrame, x: str, group: str) -> Iterator[tuple[str, pd.DataFrame | None]]:
    """Name and marks of each line from top to bottom; a group's heading has no marks."""
    for heading in in_order(frame[group]):
        own = frame[frame[group] == heading]
        yield str(heading), None
        for name in in_order(own[x]):
            yield _name(str(name)), own[own[x] == name]


def _names(axes: Axes, spots: Floats, rows: list[tuple[str, pd.DataFrame | None]]) -> None:
    axes.set_yticks(spots, [name if part is not None else "" for name, part in rows])
    axes.yaxis.set_tick_params(length=0, labelsize=_NAME_SIZE)
    for spot, (name, part) in zip(spots, rows, strict=True):
        if part is None:
            axes.annotate(
                name, (0, spot), xycoords=axes.get_yaxis_transform(), xytext=(-6, 0),
                textcoords="offset points", ha="right", va="center_baseline", weight="bold",
                fontsize=theme.SMALL,
            )  # fmt: skip
        else:
            axes.axhline(spot, color=theme.INK, lw=0.8, alpha=0.13, zorder=0)


def _name(name: str) -> str:
    """In lines where it is long; what does not fit into three is left out."""
    lines = textwrap.wrap(name, _NAME_CHARS, break_on_hyphens=False) or [""]
    cut = lines[:_NAME_LINES]
    return "\n".join(cut if len(cut) == len(lines) else [*cut[:-1], f"{cut[-1][:-1]}…"])


def _marks(
    axes: Axes, spot: float, part: pd.DataFrame, kinds: list[str], limits: tuple[float, float]
) -> None:
    y, hue, text = part.columns
    low, high = limits
    values = pd.to_numeric(part[y], errors="coerce").to_numpy(dtype=float)
    inside = np.clip(values, low, high)
    if np.isfinite(values).sum() > 1:
        axes.plot(
            [np.nanmin(inside), np.nanmax(inside)], [spot, spot], color=theme.INK, lw=1, alpha=0.4
        )
    for value, end, kind, words in zip(values, inside, part[hue], part[text], strict=True):
        look = _look(kinds.index(str(kind)))
        if np.isnan(value):
            start = low * (high / low) ** 0.03
            axes.plot([start], [spot], **look)
            axes.annotate(
                str(words), (start, spot), xytext=(8, 0), textcoords="offset points",
                va="center_baseline", fontsize=_NAME_SIZE,
            )  # fmt: skip
        else:
            beyond = {"marker": 4 if value < low else 5, "ms": 8} if value != end else {}
            axes.plot([end], [spot], clip_on=False, **look | beyond)


def _look(at: int) -> dict[str, Any]:
    return {
        "ls": "none",
        "marker": theme.marker(at),
        "color": theme.colour(at),
        "ms": 6.5,
        "mew": 0,
    }
