import json
import shutil

import pytest

from ctxlab.errors import InputError
from ctxlab.workbench import baseline
from ctxlab.workbench.chosen import against_baseline, run_directory
from ctxlab.workbench.compare import compare_runs
from ctxlab.workbench.comparison_page import write_comparison
from ctxlab.workbench.comparison_text import as_text
from ctxlab.workbench.rules import Rule
from tests.workbench.runs import write_run

METRICS = {"tokens": Rule("lower")}


def table(**tokens):
    rows = [{"step": step, "tokens": value} for step, value in tokens.items()]
    return {"steps": (rows, ["step"], METRICS)}


@pytest.fixture
def comparison(tmp_path):
    old = write_run(tmp_path, days=0, tables=table(a=100, b=100, c=1, **{"<script>x": 5}))
    new = write_run(
        tmp_path, days=1, tables=table(a=150, b=50, c=1, **{"<script>x": 6}), parameters={"seed": 2}
    )
    return compare_runs(old, new)


def test_the_text_says_inputs_first_then_the_bad_rows_then_the_good_then_the_counts(comparison):
    lines = as_text(comparison).splitlines()
    assert "  seed: 1 → 2" in lines
    order = [lines.index(line) for line in lines if line.startswith(("inputs", "worse", "better"))]
    assert order == sorted(order)
    assert "tokens: 100 → 150  +50.0%" in as_text(comparison)
    assert lines[-1] == "2 worse, 1 better, 1 same"


def test_long_comparisons_are_cut_and_say_so(comparison):
    assert "… and 2 more rows; --json has them all" in as_text(comparison, rows_shown=1)


def test_json_has_everything(comparison):
    told = json.loads(json.dumps(comparison.as_json()))
    assert told["bad"] is True
    assert {row["verdict"] for row in told["rows"]} == {"better", "worse"}


def test_the_page_stands_alone_and_shows_hostile_text_as_text(comparison, tmp_path):
    text = write_comparison(tmp_path / "comparison.html", comparison).read_text()
    assert "<script>x" not in text
    assert "&lt;script&gt;x" in text
    assert "http" not in text.replace("http-equiv", "")
    assert text.index(">seed<") < text.index(">steps<")


def test_a_run_is_named_by_path_by_id_by_entry_or_as_the_baseline(tmp_path):
    first = write_run(tmp_path, days=0, tables=table(a=1))
    newest = write_run(tmp_path, days=1, tables=table(a=1))
    baseline.accept_newest([], tmp_path)
    assert run_directory(str(first), tmp_path) == first
    assert run_directory(f"entry/{first.name}", tmp_path) == first
    assert run_directory("entry", tmp_path) == newest
    accepted = tmp_path / "baseline" / "entry"
    assert run_directory("baseline/entry", tmp_path) == accepted
    assert against_baseline([], tmp_path) == [(accepted, newest)]
    with pytest.raises(InputError, match=r"no run 'entri'.*an entry \(entry\)"):
        run_directory("entri", tmp_path)


def test_without_a_baseline_it_says_how_one_is_made(tmp_path):
    write_run(tmp_path)
    with pytest.raises(InputError, match="`ctxlab baseline` accepts"):
        against_baseline([], tmp_path)
    baseline.accept_newest([], tmp_path)
    shutil.copytree(tmp_path / "baseline" / "entry", tmp_path / "baseline" / "never_run")
    assert len(against_baseline([], tmp_path)) == 1
    with pytest.raises(InputError, match="'never_run' has no run"):
        against_baseline(["never_run"], tmp_path)
    shutil.rmtree(tmp_path / "baseline")
    with pytest.raises(InputError, match="'entry' has no baseline"):
        against_baseline(["entry"], tmp_path)
