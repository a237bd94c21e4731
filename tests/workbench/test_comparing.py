"""The verbs that hold runs against each other, as a script calls them."""

import json
import shutil
import subprocess
import sys

import pytest

from ctxlab.workbench import baseline, comparing
from ctxlab.workbench.outcome import Outcome
from ctxlab.workbench.prepare import prepare
from ctxlab.workbench.rules import Rule
from tests.workbench.fixtures import notebook
from tests.workbench.runs import write_run


def table(tokens):
    return {"t": ([{"k": "a", "tokens": tokens}], ["k"], {"tokens": Rule("lower")})}


def ctxlab(*arguments):
    command = [sys.executable, "-m", "ctxlab.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    write_run(folder, days=0, tables=table(100))
    baseline.accept_newest([], folder)
    return folder


def test_of_several_the_same_stand_in_one_line(results):
    for entry in ("b", "c", "d"):
        write_run(results, entry, days=0, tables=table(1))
    for entry, tokens in (("b", 1), ("c", 2), ("d", 1)):
        write_run(results, entry, days=1, tables=table(tokens))
    pairs = [sorted((results / entry).iterdir()) for entry in ("b", "c", "d")]
    blocks = comparing.as_text(comparing.compare(pairs)).split("\n\n")
    assert blocks[0].startswith("== c\nbefore")
    assert blocks[-1] == "every row is the same: b, d"
    assert comparing.as_text([]) == ""


def outcome(path):
    return Outcome("entry", "succeeded", 1.0, path)


def test_a_run_is_held_against_the_baseline_where_there_is_one_else_the_run_before(
    tmp_path, results
):
    better, worse = (write_run(results, days=day, tables=table(day * 70)) for day in (1, 2))
    assert comparing.worse([outcome(better)], results) == []
    assert [found.entry for found in comparing.worse([outcome(worse)], results)] == ["entry"]
    other = tmp_path / "other"
    for day in (2, 3):
        last = write_run(other, days=day, tables=table(day * 70))
    assert len(comparing.worse([outcome(last)], other)) == 1
    assert comparing.worse([Outcome("entry", "not run")], other) == []


def test_compare_says_by_its_exit_code_whether_anything_is_bad(tmp_path, results):
    write_run(results, days=1, tables=table(150))
    done = ctxlab("compare", "--baseline", "--results", results)
    assert done.returncode == 1
    assert "tokens: 100 → 150  +50.0%" in done.stdout
    told = json.loads(ctxlab("compare", "--baseline", "--json", "--results", results).stdout)
    assert (told["entry"], told["bad"]) == ("entry", True)
    same = ctxlab("compare", "entry", "entry", "--results", results, "--html", tmp_path / "c.html")
    assert same.returncode == 0
    assert (tmp_path / "c.html").read_text().startswith("<!doctype html>")


def test_an_entry_alone_is_its_newest_run_against_the_one_before(results):
    runs = [write_run(results, days=day, tables=table(day * 100)) for day in (2, 3)]
    told = json.loads(ctxlab("compare", "entry", "--json", "--results", results).stdout)
    assert [told["before"], told["after"]] == [str(run) for run in runs]


def test_a_page_of_several_is_one_file_with_all_of_them(tmp_path, results):
    write_run(results, days=1, tables=table(150))
    for day in (0, 1):
        write_run(results, "other", days=day, tables=table(7))
        baseline.accept_newest(["other"], results)
    file = tmp_path / "new" / "c.html"
    done = ctxlab("compare", "--baseline", "--html", file, "--results", results)
    assert (done.returncode, done.stdout) == (1, f"{file}\n")
    text = file.read_text()
    assert text.count("<h2") == 2
    assert "<title>2 entries compared</title>" in text
    for at, entry in enumerate(("entry", "other"), 1):
        assert f'<a href="#entry-{at}">{entry}</a>' in text
        assert f'<h2 id="entry-{at}">{entry}</h2>' in text


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A plan whose only run is there, with more tokens than its baseline."""
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    monkeypatch.delenv("CTXLAB_RESULTS", raising=False)
    inputs = prepare(notebook(tmp_path / "01_first.ipynb", "1"), {}).inputs_sha256
    accepted = write_run(tmp_path / "results", "first", days=0, tables=table(100))
    baseline.accept_newest(["first"], tmp_path / "results")
    run = write_run(tmp_path / "results", "first", days=1, tables=table(150), inputs_sha256=inputs)
    run.rename(run.with_name(f"{run.name[:16]}-{inputs[:8]}"))
    shutil.rmtree(accepted)
    (tmp_path / "plan.toml").write_text('[[run]]\nnotebook = "01_first.ipynb"\n')
    return tmp_path / "plan.toml"


def test_a_batch_that_got_worse_says_what_did(plan):
    done = ctxlab("batch", plan, "--fail-on", "worse")
    assert done.returncode == 1
    at = [done.stdout.index(text) for text in ("skipped", "== first", "tokens: 100 → 150")]
    assert at == sorted(at), "the summary, then the reasons, in one stream"
    assert done.stdout.endswith("\n\ngot worse: first\n")
    (told,) = json.loads(ctxlab("batch", plan, "--fail-on", "worse", "--json").stdout)
    assert told["status"] == "skipped"
    assert told["worse"]["counts"] == {"worse": 1}
    assert told["worse"]["rows"][0]["cells"][0]["after"] == "150"


def test_a_batch_that_was_not_asked_says_nothing_of_it(plan):
    (told,) = json.loads(ctxlab("batch", plan, "--json").stdout)
    assert "worse" not in told
    baseline.accept_newest([], plan.parent / "results")
    done = ctxlab("batch", plan, "--fail-on", "worse")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "nothing got worse")
    (told,) = json.loads(ctxlab("batch", plan, "--fail-on", "worse", "--json").stdout)
    assert told["worse"] is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["compare"], "name two runs, BEFORE AFTER, or one ENTRY; or compare with --baseline"),
        (["compare", "entry"], "'entry' has one run alone; --baseline holds it"),
        (["compare", "nope"], "no entry 'nope' has runs (there are entry)"),
        (["compare", "entry", "entry", "--html", "."], ". is a folder: name the file to write"),
        (["compare", "entry", "nope"], "no run 'nope'"),
        (["baseline", "nope"], "no successful run of nope"),
        (["baseline", "--drop", "nope"], "'nope' has no baseline"),
        (["baseline", "entry", "--drop", "entry"], "--drop removes and accepts nothing"),
        (["prune"], "--keep N, --older-than AGE, or both"),
        (["prune", "--older-than", "90"], "such as 90d"),
        (["export", "nope"], "no run 'nope'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(results, arguments, told):
    done = ctxlab(*arguments, "--results", results)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_baseline_removes_it_names(results):
    done = ctxlab("baseline", "--drop", "entry", "--results", results)
    assert done.stdout == f"removed {results / 'baseline' / 'entry'}\n"
    assert baseline.entries_with_baseline(results) == []


def test_baseline_export_and_prune_say_what_they_did(tmp_path, results):
    newer = write_run(results, days=1, tables=table(90))
    assert ctxlab("baseline", "--results", results).stdout.strip().endswith("baseline/entry")
    assert baseline.baseline("entry", results).run_id == newer.name
    done = ctxlab("export", "entry", "-o", tmp_path / "report.zip", "--results", results)
    assert done.stdout.strip() == str(tmp_path / "report.zip")
    assert ctxlab("prune", "--keep", "1", "--dry-run", "--results", results).stdout.endswith(
        "would remove 1 run\n"
    )
    assert ctxlab("prune", "--keep", "1", "--results", results).stdout.endswith("removed 1 run\n")
    assert [run.name for run in (results / "entry").iterdir()] == [newer.name]
