from datetime import timedelta

import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import baseline, prune, results
from tests.workbench.runs import START, write_run

NOW = START + timedelta(days=100)


def left(tmp_path, **asked):
    doomed = prune.old_runs(asked.get("keep"), asked.get("older_than"), NOW, tmp_path)
    for run in doomed:
        prune.remove(run)
    return [run.run_id[6:8] for run in results.runs("entry", tmp_path)]


def fill(tmp_path, days=range(6), failed=()):
    for day in days:
        write_run(tmp_path, days=day, status="failed" if day in failed else "succeeded")


def test_the_newest_of_each_entry_are_kept(tmp_path):
    fill(tmp_path)
    assert left(tmp_path, keep=2) == ["05", "06"]


def test_both_conditions_must_hold(tmp_path):
    fill(tmp_path)
    assert left(tmp_path, keep=2, older_than=timedelta(days=97)) == ["04", "05", "06"]
    assert left(tmp_path, older_than=timedelta(days=96)) == ["05", "06"]


def test_the_newest_and_the_newest_successful_run_always_stay(tmp_path):
    fill(tmp_path, failed=(3, 4, 5))
    assert left(tmp_path, keep=0) == ["03", "06"]


def test_a_baseline_stays(tmp_path):
    fill(tmp_path, days=(0,))
    baseline.accept_newest([], tmp_path)
    fill(tmp_path, days=(1,))
    assert left(tmp_path, keep=0, older_than=timedelta(0)) == ["02"]
    assert baseline.baseline("entry", tmp_path).run_id.startswith("20261101")


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "90 days"])
def test_what_is_no_age_is_refused(text):
    with pytest.raises(UsageError, match="such as 90d"):
        prune.age(text)


def test_something_must_be_asked_for(tmp_path):
    with pytest.raises(UsageError, match="--keep N, --older-than AGE, or both"):
        prune.old_runs(None, None, NOW, tmp_path)


def test_all_of_an_entry_go_and_nothing_else(tmp_path):
    fill(tmp_path, failed=(4, 5))
    baseline.accept_newest([], tmp_path)
    write_run(tmp_path, "other")
    doomed = prune.prune(None, None, tmp_path, entries=["entry"], whole=True, dry_run=True)
    assert len(doomed) == 6
    assert results.entries(tmp_path) == ["entry", "other"], "a dry run removes nothing"
    assert prune.prune(None, None, tmp_path, entries=["entry"], whole=True) == doomed
    assert results.entries(tmp_path) == ["other"]
    assert not (tmp_path / "entry").exists()
    assert baseline.entries_with_baseline(tmp_path) == ["entry"]
    assert 'id="other"' in (tmp_path / "index.html").read_text()


def test_what_is_beside_an_entry_s_runs_stays(tmp_path):
    fill(tmp_path, days=(0,))
    (tmp_path / "entry" / "notes.txt").write_text("mine")
    prune.prune(None, None, tmp_path, entries=["entry"], whole=True)
    assert [path.name for path in (tmp_path / "entry").iterdir()] == ["notes.txt"]


def test_an_entry_can_be_pruned_alone(tmp_path):
    fill(tmp_path)
    for day in range(3):
        write_run(tmp_path, "other", days=day)
    assert {run.entry for run in prune.prune(1, None, tmp_path, entries=["other"])} == {"other"}
    assert (len(results.runs("entry", tmp_path)), len(results.runs("other", tmp_path))) == (6, 1)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"whole": True}, "--all goes with --entry"),
        ({"whole": True, "entries": ["entry"], "keep": 1}, "--all leaves nothing"),
        ({"entries": ["entry"]}, "--keep N, --older-than AGE, or both"),
    ],
)
def test_wrong_usage_removes_nothing(tmp_path, asked, told):
    fill(tmp_path, days=(0,))
    with pytest.raises(UsageError, match=told):
        prune.prune(asked.pop("keep", None), None, tmp_path, **asked)
    with pytest.raises(InputError, match="no entry 'baseline' has runs"):
        prune.prune(None, None, tmp_path, entries=["entry", "baseline"], whole=True)
    assert results.entries(tmp_path) == ["entry"]
