"""The house theme: one palette, one ink, one page width, and numbers as people read them.

Nothing here touches pyplot or leaves a changed rcParam behind. Text, axes and grid are drawn in
INK, a colour that `charts.svg` turns into `currentColor`: a chart takes the colour of the page it
stands in. The series colours have a contrast of 3:1 or more on white and on near-black, and stay
apart for readers who do not see red or green.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from ctxlab.errors import UsageError
from ctxlab.workbench.charts.numbers import format_value

PALETTE = ("#1a85e8", "#b88205", "#c03c1b", "#1ca079", "#b03ba8", "#6e6e6e")
INK = "#0a0b0c"
"""Drawn text and axes; becomes `currentColor`."""
DASHES = ("-", (0, (5, 2)), (0, (1.2, 1.6)), (0, (6, 2, 1.2, 2)), (0, (3, 1.5)), (0, (9, 3)))
MARKERS = ("o", "s", "D", "^", "v", "X")
WIDTH = 420.0
"""Points: on a phone the text is still 8 px, on a desktop it is as large as the page's."""

SMALL = 9.5
"""Points of numbers and names; titles are a little larger."""
_TITLE, _TEXT = 11.5, 10.0
_TITLE_CHARS = 54
_HOUSE = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": _TEXT,
    "text.parse_math": False,  # a label with $ in it is a label
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "savefig.facecolor": "auto",  # a figure that is not ours keeps its own ground
    "savefig.edgecolor": "auto",
    "svg.fonttype": "none",
    "svg.hashsalt": "ctxlab",
    "path.simplify": True,
    "lines.linewidth": 2.0,
    "lines.solid_capstyle": "round",
}


@contextmanager
def house() -> Iterator[None]:
    """The theme for as long as the block lasts, whatever rcParams a notebook has set."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Text stays text in the SVG: the reader's browser brings the glyphs that DejaVu lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(_HOUSE)  # type: ignore[arg-type]  # the stubs list every key
        yield


def colour(index: int) -> str:
    """The colour of the series at `index`; after six they repeat, see `dash`, `marker`, `fill`.

    >>> colour(0)
    '#1a85e8'
    """
    return PALETTE[index % len(PALETTE)]


def dash(index: int) -> Any:
    """The dash of the series at `index`: no colour has the same one twice in 36."""
    return DASHES[(index + index // len(PALETTE)) % len(DASHES)]


def marker(index: int) -> str:
    """The marker of the series at `index`, which goes round as the dashes do."""
    return MARKERS[(index + index // len(PALETTE)) % len(MARKERS)]


def fill(index: int) -> dict[str, Any]:
    """How a bar of the series at `index` is filled; from the seventh on pale, with an edge."""
    if index < len(PALETTE):
        return {"color": colour(index), "linewidth": 0}
    edge = {"edgecolor": colour(index), "linewidth": 1.2}
    return {"facecolor": to_rgba(colour(index), 0.25), **edge}


def on_fill(index: int) -> str:
    """The ink that reads best on that fill: 4.5:1 or more."""
    return on_colour(colour(index)) if index < len(PALETTE) else INK


def on_colour(fill: str) -> str:
    """The ink that reads best on a fill: 4.5:1 or more for every colour of the palette."""
    return "#ffffff" if luminance(fill) < 0.179 else "#000000"


def luminance(colour_: str) -> float:
    """WCAG's relative luminance of `#rrggbb`.

    >>> luminance("#ffffff")
    1.0
    """
    channels = (int(colour_[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return round(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2], 9)


@dataclass
class Page:
    """A figure with one axes, and what stands above it: title, badges, legend."""

    title: str
    note: str
    figure: Figure
    axes: Axes
    legend: list[tuple[str, Patch | Line2D]] = field(default_factory=list)

    def finish(self) -> Figure:
        """Set title, badges and legend in rows above the axes, and give the figure back."""
        rows = textwrap.wrap(self.title, _TITLE_CHARS) or [""]
        badges = [badge.strip() for badge in self.note.split(",") if badge.strip()]
        legend = _legend_rows(self.legend)
        header = 16.0 * len(rows) + 20 * bool(badges) + 15.0 * len(legend) + 9
        width, plot = (side * 72 for side in self.figure.get_size_inches())
        height = plot + header
        self.figure.set_size_inches(width / 72, height / 72)
        self.figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - header / height))
        self._title(rows, height)
        top = height - 16.0 * len(rows) - 4
        if badges:
            self._badges(badges, width, height, top)
            top -= 20
        for at, row in enumerate(legend):
            self._legend(row, (top - 15 * at) / height)
        self._settle()
        return self.figure

    def _settle(self) -> None:
        """Lay out once and for all: a figure that was shown before is saved the same."""
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def _title(self, rows: Sequence[str], height: float) -> None:
        for index, row in enumerate(rows):
            y = (height - 2 - 16 * index) / height
            self.figure.text(1.0 / WIDTH, y, row, fontsize=_TITLE, weight="bold", va="top")

    def _badges(self, badges: Sequence[str], width: float, height: float, top: float) -> None:
        left = 1.0
        for badge in badges:
            wide = 5.8 * len(badge) + 12
            self.figure.text(
                (left + wide / 2) / width,
                (top - 7.5) / height,
                badge,
                fontsize=SMALL,
                ha="center",
                va="center_baseline",
            )
            self.figure.add_artist(_pill(left / width, wide / width, top / height, 15 / height))
            left += wide + 6

    def _legend(self, row: Sequence[tuple[str, Patch | Line2D]], top: float) -> None:
        self.figure.legend(
            [handle for _, handle in row],
            [name for name, _ in row],
            loc="upper left",
            bbox_to_anchor=(0.0, top),
            ncols=len(row),
            frameon=False,
            fontsize=SMALL,
            borderpad=0.1,
            borderaxespad=0,
            handlelength=1.9,
            handleheight=0.8,
            columnspacing=1.4,
        ).set_in_layout(False)


def page(title: str, note: str, *, height: float, width: float = WIDTH) -> Page:
    """A figure of `width` × `height` points for the plot itself; the header comes on top."""
    figure = Figure(figsize=(width / 72, height / 72), dpi=144)
    return Page(title, note, figure, figure.add_subplot())


def value_axis(axes: Axes, which: str, label: str, unit: str, *, log: bool = False) -> None:
    """Label an axis with its unit, with a light grid and ticks such as 12k; never without unit.

    Raises:
        UsageError: no unit.
    """
    if not unit:
        raise UsageError(f"the axis {label!r} has no unit; say one, such as tokens, bytes, %, USD")
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text(with_unit(label, unit))
    axis.grid(visible=True, color=INK, alpha=0.13, linewidth=0.8)
    scale(axes, which, unit, log=log)
    axis.set_tick_params(which="both", length=0)
    axes.spines["bottom" if which == "x" else "left"].set_visible(which == "x" and log)


def scale(axes: Axes, which: str, unit: str, *, log: bool = False, ticks: int = 6) -> None:
    """A linear or logarithmic scale whose ticks people can read; short log axes label 2 and 5."""
    axis = axes.xaxis if which == "x" else axes.yaxis

    def minor(value: float, _: object) -> str:
        low, high = axis.get_view_interval()
        return format_value(value, unit) if 0 < low < high < 40 * low else ""

    if log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        axis.set_minor_formatter(FuncFormatter(minor))
    else:
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: format_value(value, unit)))


def with_unit(label: str, unit: str) -> str:
    """A label and its unit, said once.

    >>> with_unit("kept tokens", "tokens"), with_unit("cost", "USD")
    ('kept tokens', 'cost (USD)')
    """
    said = label.lower().split()
    return label if not unit or unit.lower() in said else f"{label} ({unit})"


def readable(column: object) -> str:
    """A column's name as people write it.

    >>> readable("kept_by_breakpoint")
    'kept by breakpoint'
    """
    return str(column).replace("_", " ")


def short(label: object, limit: int = 34) -> str:
    """A label that fits beside an axis: long ones lose their middle.

    >>> short("mcp__github__create_pull_request_review_comment", 20)
    'mcp__githu…w_comment'
    """
    text = " ".join(str(label).split()) or "(empty)"
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"


def two_lines(label: object, width: int = 26) -> str:
    r"""A label beside a bar, in two lines where it is words and long.

    >>> two_lines("add an optional property to the last")
    'add an optional property\nto the last'
    """
    text = short(label, 2 * width)
    if len(text) <= width:
        return text
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    fits = len(lines) == 2 and max(map(len, lines)) <= width
    return "\n".join(lines) if fits else short(label)


def _legend_rows(
    entries: Sequence[tuple[str, Patch | Line2D]],
) -> list[list[tuple[str, Patch | Line2D]]]:
    """The legend in rows that are no wider than the page."""
    rows: list[list[tuple[str, Patch | Line2D]]] = []
    room = 0.0
    for name, handle in entries:
        wide = 5.8 * len(name) + 40
        if wide > room:
            rows.append([])
            room = WIDTH
        rows[-1].append((name, handle))
        room -= wide
    return rows


def _pill(x: float, width: float, top: float, height: float) -> Patch:
    return Rectangle(
        (x, top - height), width, height, fill=False, edgecolor=INK, alpha=0.55, lw=0.9
    )
