import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import baseline, results
from ctxlab.workbench.compare import compare_runs
from ctxlab.workbench.rules import Rule
from tests.workbench.runs import write_run

TABLE = {"t": ([{"k": "a", "v": 1}], ["k"], {"v": Rule()})}


def test_the_newest_successful_run_is_accepted_with_tables_and_without_notebook(tmp_path):
    write_run(tmp_path, days=0, tables=TABLE)
    good = write_run(tmp_path, days=1, tables=TABLE)
    (good / "notebook.ipynb").write_text("{}")
    write_run(tmp_path, days=2, status="failed")
    (place,) = baseline.accept_newest([], tmp_path)
    assert sorted(path.name for path in place.iterdir()) == ["manifest.json", "t.csv"]
    accepted = baseline.baseline("entry", tmp_path)
    assert accepted.run_id == good.name
    assert compare_runs(accepted.path, good).counts == {"same": 1}
    assert results.entries(tmp_path) == ["entry"], "the baseline is no entry"
    assert baseline.entries_with_baseline(tmp_path) == ["entry"]


def test_accepting_again_replaces_it_and_leaves_nothing_beside(tmp_path):
    write_run(tmp_path, days=0, tables=TABLE)
    baseline.accept_newest(["entry"], tmp_path)
    newer = write_run(tmp_path, days=1)
    baseline.accept_newest(["entry"], tmp_path)
    assert baseline.baseline("entry", tmp_path).run_id == newer.name
    assert [path.name for path in (tmp_path / "baseline").iterdir()] == ["entry"]


def test_without_a_successful_run_nothing_moves(tmp_path):
    write_run(tmp_path, "good", days=0)
    write_run(tmp_path, "bad", days=0, status="failed")
    with pytest.raises(UsageError, match="no successful run of bad to accept"):
        baseline.accept_newest(["good", "bad"], tmp_path)
    assert baseline.baseline("good", tmp_path) is None
    with pytest.raises(UsageError, match="a failed run is no baseline"):
        baseline.accept(results.newest("bad", tmp_path), tmp_path)


def test_an_accepted_run_goes_by_name_alone(tmp_path):
    for entry in ("a", "b"):
        write_run(tmp_path, entry, tables=TABLE)
    baseline.accept_newest([], tmp_path)
    with pytest.raises(InputError, match="'c' has no baseline"):
        baseline.drop(["a", "c"], tmp_path)
    assert baseline.entries_with_baseline(tmp_path) == ["a", "b"], "nothing went"
    assert baseline.drop(["a", "a"], tmp_path) == [tmp_path / "baseline" / "a"]
    assert baseline.entries_with_baseline(tmp_path) == ["b"]
    assert len(results.runs("a", tmp_path)) == 1, "its runs stay"
