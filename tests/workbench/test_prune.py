from datetime import timedelta

import pytest

from ctxlab.errors import UsageError
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
