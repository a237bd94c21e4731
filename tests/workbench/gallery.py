"""One of every chart, on made-up frames: what the tests draw and people look at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ctxlab.workbench import charts

MUTATIONS = pd.DataFrame(
    {
        "mutation": [
            "append one",
            "rebuild with equal content",
            "drop the last",
            "edit the last description",
            "add an optional property to the last",
            "insert one in the middle",
            "prepend one",
        ],
        "kept_by_prefix": [100, 100, 80, 80, 80, 40, 0],
        "kept_by_breakpoint": [100, 100, 0, 0, 0, 0, 0],
    }
)


def _turns() -> pd.DataFrame:
    turns = pd.DataFrame({"turn": range(1, 25)})
    turns["cause"] = ""
    turns.loc[[7, 15], "cause"] = "tool added"
    turns.loc[20, "cause"] = "lifetime over"
    broke = turns["cause"] != ""
    turns["read"] = np.where(broke | (turns["turn"] == 1), 0, 9000 + 400 * turns["turn"])
    turns["written"] = np.where(broke | (turns["turn"] == 1), 9400 + 400 * turns["turn"], 400)
    turns["uncached"] = 60
    return turns


def figures() -> Iterator[tuple[str, Figure]]:
    """Every chart once, some twice."""
    random = np.random.default_rng(3)
    estimate = "o200k estimate"
    yield (
        "grouped",
        charts.bars(
            MUTATIONS,
            x="mutation",
            y=["kept_by_prefix", "kept_by_breakpoint"],
            unit="%",
            label="share of the tool block kept",
            title="Only two of these mutations keep anything behind one breakpoint",
            note="simulated",
        ),
    )
    parts = pd.DataFrame(
        {
            "mode": ["unset", "auto", "auto:5", "false"] * 3,
            "part": ["system"] * 4 + ["names"] * 4 + ["definitions"] * 4,
            "tokens": [3200] * 4 + [2100, 2100, 2100, 0] + [0, 18000, 9000, 64000],
        }
    )
    yield (
        "stacked",
        charts.bars(
            parts,
            x="mode",
            y="tokens",
            hue="part",
            stacked=True,
            unit="tokens",
            title="What stands in the window before the first question",
            note=f"{estimate}, simulated",
            references={"10 % of 200k": 20_000},
        ),
    )
    yield (
        "vertical",
        charts.bars(
            pd.DataFrame({"style": ["tag", "path", "grep"], "tokens": [1160, 700, 517]}),
            x="style",
            y="tokens",
            vertical=True,
            unit="tokens",
            title="Mean of a call",
            note=estimate,
        ),
    )
    yield (
        "waterfall",
        charts.waterfall(
            pd.DataFrame(
                {
                    "part": ["system", "tool names", "definitions", "deferred", "instructions"],
                    "tokens": [3200, 2100, 64000, -61000, 1800],
                }
            ),
            x="part",
            y="tokens",
            unit="tokens",
            title="Deferring takes the definitions out again",
            note=estimate,
        ),
    )
    curve = pd.DataFrame({"rate": np.tile(np.geomspace(0.1, 60, 12), 3)})
    curve["model"] = np.repeat(["no cache", "5 min", "1 h"], 12)
    curve["cost"] = np.where(
        curve["model"] == "no cache",
        3.0,
        0.3 + 2 / curve["rate"] ** (0.4 + 0.2 * (curve.index > 23)),
    )
    curve["low"], curve["high"] = curve["cost"] * 0.85, curve["cost"] * 1.2
    yield (
        "lines",
        charts.lines(
            curve,
            x="rate",
            y="cost",
            hue="model",
            unit="USD/MTok",
            x_unit="requests/h",
            x_label="request rate",
            band=("low", "high"),
            log_x=True,
            log=True,
            title="Below some rate a cache costs more than it saves",
            note="simulated",
            references={"input price": 3.0},
            marks={"break-even": 2.0},
        ),
    )
    yield (
        "timeline",
        charts.timeline(
            _turns(),
            x="turn",
            parts=["read", "written", "uncached"],
            events="cause",
            unit="tokens",
            label="input tokens",
            title="Every change of the tools writes the whole history again",
            note="simulated",
        ),
    )
    yield (
        "histogram",
        charts.histogram(
            pd.DataFrame({"kept": random.binomial(40, 0.08, 1000)}),
            x="kept",
            unit="turns",
            of="seeds",
            title="Turns in which the core was kept, 1,000 seeds",
            marks={"stated": 1},
        ),
    )
    calls = pd.DataFrame(
        {"tokens": random.lognormal(5.5, 1.2, 600), "style": ["tag", "grep"] * 300}
    )
    calls.loc[calls["style"] == "grep", "tokens"] *= 0.45
    yield (
        "ecdf",
        charts.ecdf(
            calls,
            x="tokens",
            hue="style",
            unit="tokens",
            log=True,
            title="Grep output is smaller at every size",
            note=estimate,
        ),
    )
    tools = pd.DataFrame(
        {
            "server": ["git", "time", "fetch", "jira", "workspace"],
            "bytes": [6200, 1400, 1900, 91000, 120000],
            "tokens": [1500, 330, 420, 20500, 29000],
        }
    )
    yield (
        "scatter",
        charts.scatter(
            tools,
            x="bytes",
            y="tokens",
            text="server",
            unit="tokens",
            x_unit="bytes",
            log=True,
            log_x=True,
            title="Tokens follow bytes",
            note=estimate,
        ),
    )
    grid = pd.DataFrame(
        [(turns, tools) for tools in (5, 20, 60, 230) for turns in (1, 5, 20, 40, 100)],
        columns=["turns", "tools"],
    )
    grid["winner"] = np.where(
        grid["tools"] < 20, "all", np.where(grid["turns"] < 20, "defer", "core + tail")
    )
    grid["saving"] = grid["turns"] * grid["tools"] / 300
    yield (
        "winners",
        charts.heatmap(
            grid, x="turns", y="tools", value="winner", unit="strategy", title="Which is cheapest?"
        ),
    )
    yield (
        "heatmap",
        charts.heatmap(
            grid,
            x="turns",
            y="tools",
            value="saving",
            unit="USD",
            log=True,
            title="And how much does it save against the second?",
            note="simulated",
        ),
    )
    claims = pd.DataFrame(
        {
            "document": ["one", "one", "one", "one", "two", "two"],
            "claim": ["kept", "two values", "two values", "far", "a rule in words", "a text " * 30],
            "ratio": [1.0, 0.5, 2.0, 0.001, None, 50.0],
            "verdict": ["reproduced", "external", "external", "differs", "open", "differs"],
            "told": ["", "", "", "", "not measured", ""],
        }
    )
    yield (
        "dots",
        charts.dots(
            claims,
            x="claim",
            y="ratio",
            hue="verdict",
            group="document",
            text="told",
            unit="×",
            label="measured ÷ stated",
            limits=(0.1, 10),
            order=("direction", "open", "differs", "reproduced", "live", "external"),
            references={"as stated": 1},
            title="One of five claims is reproduced",
        ),
    )
