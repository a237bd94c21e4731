import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.figure import Figure

from ctxlab.errors import UsageError
from ctxlab.workbench import Record, Rule, show
from ctxlab.workbench.record import SIDECAR

FRAME = pd.DataFrame({"mutation": ["append", "prepend"], "kept": [5, 0], "share": [1.0, 0.0]})


def bars():
    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    axes.bar(["a", "b"], [3, 4], label="1 < 2 & url(#x)")
    axes.set_title("-- kept -->")
    axes.legend()
    return figure


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "new" / "folder"
    record = Record(folder, models=["b", "a"], tokenizer="o200k_base")
    record.table("mutations", FRAME, key=["mutation"], metrics={"kept": Rule("higher", absolute=1)})
    record.table("times", FRAME, key=["mutation"], measured=True)
    record.chart("bars", bars(), alt='Bars of "a" & b')
    record.api_usage("m", {"input_tokens": 2, "nested": {"x": 1}})
    record.api_usage("m", {"input_tokens": 3})
    return folder


def test_tables_and_charts_are_saved_and_told(saved):
    notes = json.loads((saved / SIDECAR).read_text())
    assert sorted(path.name for path in saved.iterdir()) == [
        "bars.svg", "mutations.csv", SIDECAR, "times.csv",
    ]  # fmt: skip
    table = notes["tables"]["mutations"]
    assert table.pop("sha256")
    assert table == {
        "path": "mutations.csv",
        "rows": 2,
        "key": ["mutation"],
        "columns": {"mutation": "str", "kept": "int", "share": "float"},
        "metrics": {"kept": {"better": "higher", "absolute": 1, "relative": 0}},
        "units": {},
        "measured": False,
    }
    assert notes["tables"]["times"]["measured"] is True
    assert notes["charts"]["bars"]["alt"] == 'Bars of "a" & b'
    assert notes["models"] == ["a", "b"]
    assert notes["tokenizer"] == "o200k_base"
    assert notes["api_usage"] == {"m": {"input_tokens": 5}}


def test_a_chart_is_one_labelled_element_that_points_nowhere(saved):
    text = (saved / "bars.svg").read_text()
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label") == 'Bars of "a" & b'
    assert root.get("role") == "img"
    assert text.count("http") == text.count("xmlns")
    assert "<style" not in text
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert ids
    assert all(name.startswith("bars-") for name in ids)
    used = [element.get("href") for element in root.iter() if element.tag.endswith("use")]
    assert {f"#{name}" for name in ids} >= set(used)
    assert "url(#bars-" in text


def test_equal_figures_give_equal_bytes_in_another_process(tmp_path, saved):
    code = (
        "from tests.workbench.test_record import bars\nfrom ctxlab.workbench import Record\n"
        f"Record({str(tmp_path)!r}).chart('bars', bars(), alt='Bars of \"a\" & b')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "bars.svg").read_bytes() == (saved / "bars.svg").read_bytes()


def test_text_that_stays_text_is_not_rewritten(tmp_path):
    with mpl.rc_context({"svg.fonttype": "path"}):
        Record(tmp_path).chart("c", bars(), alt="x")
    text = (tmp_path / "c.svg").read_text()
    assert "1 &lt; 2 &amp; url(#x)" in text
    ET.fromstring(text)


def test_axes_stand_for_their_figure_and_are_closed(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    _, axes = plt.subplots()
    Record(tmp_path).chart("c", axes, alt="x")
    assert plt.get_fignums() == []


def test_nothing_is_saved_without_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    record = Record("")
    record.table("t", FRAME, key=["mutation"])
    record.table("t", FRAME, key=["mutation"])  # a cell that is run again while exploring
    record.chart("c", bars(), alt="x")
    assert list(tmp_path.iterdir()) == []


def test_a_relative_directory_counts_from_the_root(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    Record("out").table("t", FRAME, key=["mutation"])
    assert (tmp_path / "out" / "t.csv").exists()


@pytest.mark.parametrize("name", ["", "A", "a/b", "../x", ".x", "-x", "a.b", "x" * 65, "é"])
def test_a_name_is_a_file_name(tmp_path, name):
    with pytest.raises(UsageError, match="a name is"):
        Record(tmp_path).table(name, FRAME, key=["mutation"])


def test_what_is_recorded_wrongly_is_refused(tmp_path):
    record = Record(tmp_path)
    record.table("t", FRAME, key=["mutation"])
    with pytest.raises(UsageError, match="recorded already"):
        record.table("t", FRAME, key=["mutation"])
    with pytest.raises(UsageError, match="'x', which is no column"):
        record.table("u", FRAME, key=["mutation"], metrics={"x": Rule()})
    with pytest.raises(UsageError, match="'mutation' is no number"):
        record.table("u", FRAME, key=["mutation"], metrics={"mutation": Rule("lower")})
    with pytest.raises(UsageError, match=r"^table u: column 'l': a table holds"):
        record.table("u", FRAME.assign(l=[[1], [2]]), key=["mutation"])
    with pytest.raises(UsageError, match="alt says in words"):
        record.chart("c", bars(), alt=" ")
    with pytest.raises(UsageError, match="a figure is drawn, not int"):
        record.chart("c", 1, alt="x")
    assert sorted(path.name for path in tmp_path.iterdir()) == [SIDECAR, "t.csv"]


@pytest.mark.parametrize("wrong", [{"better": "up"}, {"absolute": -1}, {"relative": float("nan")}])
def test_a_rule_that_says_nothing_is_refused(wrong):
    with pytest.raises(UsageError):
        Rule(**wrong)


def test_a_table_is_shown_capped_escaped_and_with_numbers_on_the_right():
    frame = pd.DataFrame({"line": ["<script>", "b", "c"], "n": [1000, 2, 3], "x": [0.5, None, 2]})
    kinds = {"line": "str", "n": "int", "x": "float"}
    html = show.table_html(frame, kinds, 2, "all of them are in t.csv")
    ET.fromstring(f"<div>{html}</div>")
    assert "&lt;script&gt;" in html
    assert '<td class="num" style="text-align: right">1,000</td>' in html
    assert "2 of 3 rows; all of them are in t.csv" in html
    assert "ctxlab-note" not in show.table_html(frame, kinds, 3, "")
    assert "3 rows of t, which a run saves" in show.rows_html("t", 3, saved=False)


def test_a_wide_table_shows_the_columns_that_matter_and_keeps_all(tmp_path):
    frame = pd.DataFrame({"id": ["a"], "detail": ["long"], "usd": [1.5]})
    record = Record(tmp_path)
    record.table("t", frame, key=["id"], columns=["usd", "id"])
    assert (tmp_path / "t.csv").read_text() == "id,detail,usd\na,long,1.5\n"
    with pytest.raises(UsageError, match="no column 'cost'"):
        record.table("u", frame, key=["id"], columns=["cost"])


def test_a_table_of_no_rows_has_rules_all_the_same(tmp_path):
    frame = pd.DataFrame(columns=["cause", "usd"])
    Record(tmp_path).table("t", frame, key=["cause"], metrics={"usd": Rule("lower")})
    assert (tmp_path / "t.csv").read_text() == "cause,usd\n"


def test_a_unit_stands_in_its_heading_and_in_the_notes(tmp_path):
    frame = pd.DataFrame({"model": ["a"], "discount": [90.0]})
    html = show.table_html(frame, {"model": "str", "discount": "float"}, 3, "", {"discount": "%"})
    assert ">discount<br>(%)</th>" in html
    assert ">model</th>" in html
    record = Record(tmp_path)
    record.table("prices", frame, key=["model"], units={"discount": "%"})
    notes = json.loads((tmp_path / "record.json").read_text())
    assert notes["tables"]["prices"]["units"] == {"discount": "%"}
    with pytest.raises(UsageError, match="no column 'rebate'"):
        record.table("other", frame, key=["model"], units={"rebate": "%"})


def test_rows_with_units_of_their_own_have_their_own_decimals():
    frame = pd.DataFrame({"value": [1.25, 512.0, 90.0], "unit": ["× input", "tokens", "%"]})
    html = show.table_html(frame, {"value": "float", "unit": "str"}, 3, "")
    assert [text in html for text in (">1.25<", ">512<", ">90<")] == [True] * 3


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([3.0, 12000.0], ["3", "12,000"]),
        ([0.0003, 12.5], ["0.0003", "12.5000"]),
        ([1e-9, 1e9], ["1e-09", "1e+09"]),
        ([48.333333], ["48.33"]),
        ([1.25, 512.0], ["1.25", "512.00"]),
        ([-0.5, float("inf"), float("nan")], ["−0.5", "inf", "–"]),
        ([], []),
    ],
)
def test_floats_are_told_with_the_decimals_they_need(values, told):
    assert show.told(values, "float") == told
