import io
import json
from pathlib import Path

import pytest

from ctxlab.errors import InputError
from ctxlab.workbench import telling
from ctxlab.workbench.command import parameters_text
from ctxlab.workbench.manifest import Failure
from ctxlab.workbench.outcome import Outcome
from ctxlab.workbench.parameters import read_parameters
from ctxlab.workbench.watch import Bar, Lines
from tests.workbench.test_results import FAILED, make_run

RUN = "20261130T142200Z-3fa9c1d2"


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "results" / "a" / RUN
    run.mkdir(parents=True)
    (run / "report.html").touch()
    return [
        Outcome("a", "succeeded", 12.34, run),
        Outcome("bad", "failed", 1, error=Failure("E", "x", 3), reason="E in In [3]: x"),
        Outcome("c", "not run", reason="needs bad, which failed"),
    ]


def test_outcomes_are_a_table_and_reasons(outcomes):
    assert telling.outcomes_text(outcomes).splitlines() == [
        "entry  status     seconds  report",
        f"a      succeeded     12.3  results/a/{RUN}/report.html",
        "bad    failed         1.0  –",
        "c      not run          –  –",
        "",
        "bad: E in In [3]: x",
        "c: needs bad, which failed",
        "",
        "1 succeeded, 1 failed, 1 not run",
    ]


def test_outcomes_are_json(outcomes, tmp_path):
    told = json.loads(telling.outcomes_json(outcomes))
    assert told[0] == {
        "entry": "a",
        "status": "succeeded",
        "seconds": 12.34,
        "path": str(tmp_path / "results" / "a" / RUN),
        "report": str(tmp_path / "results" / "a" / RUN / "report.html"),
        "run_id": RUN,
        "error": None,
        "reason": "",
    }
    assert told[1]["error"] == {"ename": "E", "evalue": "x", "cell": 3}
    assert told[2]["path"] is None


def test_entries_and_runs_are_listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = tmp_path / "results"
    make_run(results, "a", 1)
    make_run(results, "a", 2, **FAILED)
    broken = make_run(results, "b", 1)
    (broken / "manifest.json").write_text("{")
    rows = telling.entries_rows(results)
    assert [(row["entry"], row["status"], row["runs"]) for row in rows] == [
        ("a", "failed", 2),
        ("b", "unreadable", 1),
    ]
    assert telling.rows_text(rows).splitlines()[0] == "entry  runs  status      seconds  report"
    runs = telling.runs_rows("a", results)
    assert [row["status"] for row in runs] == ["failed", "succeeded"]
    assert runs[0]["reason"] == "E: x"
    assert telling.rows_text(runs).splitlines()[1].startswith("20261102T000000Z  failed")
    with pytest.raises(InputError, match="no run of the entry 'x'; there are runs of a, b"):
        telling.runs_rows("x", results)


def test_parameters_are_listed_without_the_runners_own():
    text = parameters_text(read_parameters('seed: int = 7  # of draws\noutput_dir: str = ""'))
    assert text.splitlines() == [
        "parameter  type  default  meaning",
        "seed       int   7        of draws",
    ]


def test_a_log_has_a_line_for_each_thing(outcomes):
    stream = io.StringIO()
    watch = Lines(3, stream)
    watch.started("a")
    watch.looks({"a": (1, 2)})
    for outcome in outcomes:
        watch.ended(outcome)
    watch.close()
    assert [line.split(" ", 1)[1] for line in stream.getvalue().splitlines()] == [
        "a started",
        "a succeeded in 12.3 s (1 of 3)",
        "bad failed in 1.0 s: E in In [3]: x (2 of 3)",
        "c not run: needs bad, which failed (3 of 3)",
    ]


def test_a_terminal_has_bars_that_leave_lines_behind(outcomes, capsys):
    watch = Bar(3)
    for outcome in outcomes:
        watch.started(outcome.entry)
        watch.looks({outcome.entry: (1, 2), "gone": (0, 1)})
        watch.ended(outcome)
    watch.started("a")  # anew
    watch.close()
    assert capsys.readouterr().err.splitlines()[:1] == ["a succeeded in 12.3 s"]


def test_paths_outside_the_working_directory_are_whole():
    assert telling._report(Path("/nowhere/x")) == "/nowhere/x"
