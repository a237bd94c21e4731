"""Charts: from a DataFrame to a matplotlib Figure, in one house theme; `svg` makes them text.

    from ctxlab.workbench import charts
    figure = charts.bars(frame, x="mutation", y=["kept_by_prefix", "kept_by_breakpoint"],
                         unit="%", title="What survives a mutation", note="o200k estimate")
    record.chart("mutations", figure, alt="Two of twelve mutations keep the prefix …")

| chart | for |
|---|---|
| `bars` | a value for each name; `hue` or several `y` for series, `stacked`, `vertical`, `log` |
| `dots` | dozens of named rows in groups, with marks on one shared axis |
| `waterfall` | steps that add up to a total |
| `lines` | a value over an axis; bands, log axes, reference lines, marks |
| `timeline` | stacked bars over turns, with markers where something happened |
| `histogram` | how a figure spreads over seeds, with the stated figure as a mark |
| `ecdf` | which share lies below a value |
| `scatter` | one value against another, points with names |
| `heatmap` | a grid; cells say a number or a winner |

Every value axis has a unit (refused without); `note` puts badges under the title, separated by
commas: `note="o200k estimate, simulated"`. `references` (across) and `marks` (upright) are named
lines. The order of rows is kept. The same frame gives the same bytes. No pyplot anywhere.
"""

from ctxlab.workbench.charts.categories import bars, waterfall
from ctxlab.workbench.charts.marks import dots
from ctxlab.workbench.charts.numbers import format_value
from ctxlab.workbench.charts.planes import heatmap, scatter
from ctxlab.workbench.charts.samples import ecdf, histogram
from ctxlab.workbench.charts.series import lines, timeline
from ctxlab.workbench.charts.vector import svg

__all__ = [
    "bars",
    "dots",
    "ecdf",
    "format_value",
    "heatmap",
    "histogram",
    "lines",
    "scatter",
    "svg",
    "timeline",
    "waterfall",
]
