from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from ctxlab.errors import UsageError
from ctxlab.workbench import charts
from ctxlab.workbench.charts import theme
from tests.conftest import REPOSITORY
from tests.workbench import gallery

GALLERY = {name: charts.svg(figure) for name, figure in gallery.figures()}


def test_a_figure_is_the_same_text_every_time_however_often_it_was_shown() -> None:
    for name, figure in gallery.figures():
        figure.draw_without_rendering()
        assert charts.svg(figure) == charts.svg(figure) == GALLERY[name]


@pytest.mark.parametrize("text", GALLERY.values(), ids=GALLERY)
class TestSvg:
    def test_it_is_well_formed_and_names_no_address_but_its_own_kind(self, text: str) -> None:
        ET.fromstring(text)
        assert re.findall(r"https?:[^\"' )]*", text) == ["http://www.w3.org/2000/svg"]
        for gone in ("<!DOCTYPE", "<metadata", "RDF", "<style", "DejaVu", theme.INK, "xlink"):
            assert gone not in text

    def test_what_it_refers_to_is_in_it(self, text: str) -> None:
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) <= set(ids)

    def test_it_has_no_colour_but_palette_ink_and_text_on_bars(self, text: str) -> None:
        assert set(re.findall(r"#[0-9a-f]{6}\b", text)) <= {*theme.PALETTE, "#ffffff", "#000000"}
        assert "currentColor" in text


def test_charts_can_stand_in_one_page() -> None:
    ids = [name for text in GALLERY.values() for name in re.findall(r' id="([^"]+)"', text)]
    assert len(ids) == len(set(ids))


def test_nothing_a_notebook_set_changes_a_chart_and_no_chart_changes_a_setting() -> None:
    plain = charts.svg(next(gallery.figures())[1])
    with mpl.rc_context({"font.size": 31, "axes.facecolor": "pink", "svg.fonttype": "path"}):
        before = {key: mpl.rcParams[key] for key in mpl.rcParams if "backend" not in key}
        assert charts.svg(next(gallery.figures())[1]) == plain
        assert {key: mpl.rcParams[key] for key in before} == before


def test_pyplot_is_never_imported() -> None:
    code = (
        "import sys\nfrom tests.workbench import gallery\nfrom ctxlab.workbench import charts\n"
        "charts.svg(next(gallery.figures())[1])\nsys.exit('matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)


@pytest.mark.parametrize("colour", theme.PALETTE)
def test_series_colours_stand_out_on_white_and_on_near_black(colour: str) -> None:
    own = theme.luminance(colour) + 0.05
    assert 1.05 / own >= 3
    assert own / (theme.luminance("#16181d") + 0.05) >= 3
    assert _contrast(colour, theme.on_colour(colour)) >= 4.5


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
_VISION = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}


@pytest.mark.parametrize("vision", _VISION)
def test_series_colours_stay_apart_for_every_eye(vision: str) -> None:
    seen = [_oklab(np.array(_VISION[vision]) @ _linear(c)) for c in theme.PALETTE]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))
    assert nearest >= 0.08


def _linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def _oklab(rgb: np.ndarray) -> np.ndarray:
    cones = np.cbrt(
        np.array(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ]
        )
        @ np.clip(rgb, 0, 1)
    )
    return (
        np.array(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ]
        )
        @ cones
    )


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((theme.luminance(one) + 0.05, theme.luminance(other) + 0.05))
    return light / dark


FRAME = pd.DataFrame({"name": ["a", "b"], "value": [1.0, 2.0], "other": [2.0, 1.0]})


def test_badges_titles_units_and_numbers_are_there_as_text() -> None:
    figure = charts.bars(
        FRAME, x="name", y="value", unit="tokens", title="A title", note="o200k estimate, simulated"
    )
    for told in ("A title", ">o200k estimate<", ">simulated<", ">value (tokens)<", ">a<", ">2<"):
        assert told in charts.svg(figure)


@pytest.mark.parametrize(
    "draw",
    [
        lambda frame, **rest: charts.bars(frame, x="name", y="value", title="t", **rest),
        lambda frame, **rest: charts.waterfall(frame, x="name", y="value", title="t", **rest),
        lambda frame, **rest: charts.lines(frame, x="value", y="other", title="t", **rest),
        lambda frame, **rest: charts.timeline(frame, x="name", parts=["value"], title="t", **rest),
        lambda frame, **rest: charts.histogram(frame, x="value", title="t", **rest),
        lambda frame, **rest: charts.ecdf(frame, x="value", title="t", **rest),
        lambda frame, **rest: charts.scatter(
            frame, x="value", y="other", x_unit="s", title="t", **rest
        ),
    ],
)
class TestEveryChart:
    def test_without_a_unit_it_is_refused(self, draw: Callable[..., Figure]) -> None:
        with pytest.raises(UsageError, match="has no unit"):
            draw(FRAME, unit="")

    def test_a_missing_column_is_named(self, draw: Callable[..., Figure]) -> None:
        with pytest.raises(UsageError, match="no column 'value'; it has name, other"):
            draw(FRAME.drop(columns="value"), unit="s")

    def test_an_empty_frame_is_an_empty_chart(self, draw: Callable[..., Figure]) -> None:
        assert "t</text>" in charts.svg(draw(FRAME.iloc[:0], unit="s"))

    def test_missing_values_are_survived(self, draw: Callable[..., Figure]) -> None:
        charts.svg(draw(FRAME.assign(value=[np.nan, np.nan]), unit="s"))
        charts.svg(draw(FRAME.assign(value=[np.nan, 3]), unit="s"))


def test_the_frame_is_left_alone() -> None:
    frame = gallery.MUTATIONS.copy()
    next(gallery.figures())
    pd.testing.assert_frame_equal(frame, gallery.MUTATIONS)


def test_order_of_rows_and_of_categories_is_kept() -> None:
    frame = pd.DataFrame({"name": ["z", "a", "m"], "value": [1, 2, 3]})
    assert _order(charts.bars(frame, x="name", y="value", unit="s", title="")) == ["z", "a", "m"]
    frame["name"] = pd.Categorical(frame["name"], ["m", "z", "q", "a"], ordered=True)
    frame["kind"] = "x"
    figure = charts.bars(frame, x="name", y="value", hue="kind", unit="s", title="")
    assert _order(figure) == ["m", "z", "a"]


def _order(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_a_chart_adds_nothing_up() -> None:
    frame = pd.DataFrame({"name": ["a", "a"], "value": [1, 2], "kind": ["x", "x"]})
    with pytest.raises(UsageError, match="two rows for name 'a', kind 'x'"):
        charts.bars(frame, x="name", y="value", hue="kind", unit="s", title="")
    assert _order(charts.bars(frame, x="name", y="value", unit="s", title="")) == ["a", "a"]


def test_no_two_of_many_series_look_alike() -> None:
    looks = [(theme.colour(at), theme.dash(at), theme.marker(at)) for at in range(36)]
    assert len(set(looks)) == 36
    frame = pd.DataFrame({"name": ["a"] * 9, "value": range(1, 10), "kind": list("abcdefghi")})
    for stacked in (False, True):
        figure = charts.bars(
            frame, x="name", y="value", hue="kind", unit="s", title="", stacked=stacked
        )
        fills = {patch.get_facecolor() for patch in figure.axes[0].patches}
        assert len(fills) == 9


def test_hue_and_several_columns_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="leave hue out"):
        charts.bars(FRAME, x="name", y=["value", "other"], hue="name", unit="s", title="")


HOSTILE = "<script>alert(1)</script> $$x_1$$ &amp; <img onerror=x> ツール 🧪"


@settings(max_examples=8, deadline=None)
@given(st.one_of(st.just(HOSTILE), st.text(max_size=24)))
def test_any_text_is_text(name: str) -> None:
    frame = pd.DataFrame({"name": [name, f"{name}!"], "value": [1, 2], "hue": ["x", name]})
    text = charts.svg(
        charts.bars(frame, x="name", y="value", hue="hue", unit="s", title=name, note="simulated")
    )
    assert "<script" not in text
    assert "<img" not in text


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (0, "tokens", "0"),
        (999.6, "tokens", "1,000"),
        (120, "tokens", "120"),
        (0.5, "tokens", "0.5"),
        (9999, "tokens", "9,999"),
        (10_000, "tokens", "10k"),
        (999_950, "tokens", "1M"),
        (-1500, "tokens", "−1,500"),
        (1 / 3, "share", "0.333"),
        (100, "%", "100%"),
        (0.00012, "share", "1.2e-4"),
        (1.5, "×", "1.5×"),
        (12.5, "USD", "$12.50"),
        (0.2, "USD", "$0.20"),
        (-0.0012, "USD", "−$0.0012"),
        (0, "bytes", "0 B"),
        (1_048_576, "bytes", "1.05 MB"),
        (float("nan"), "s", "n/a"),
        (float("inf"), "s", "∞"),
    ],
)
def test_numbers_as_people_read_them(value: float, unit: str, told: str) -> None:
    assert charts.format_value(value, unit) == told
