import shutil

import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import baseline
from ctxlab.workbench.chosen import planned
from ctxlab.workbench.planned import planned_runs
from ctxlab.workbench.prepare import prepare
from ctxlab.workbench.results import Run, runs
from tests.workbench.fixtures import notebook
from tests.workbench.test_results import make_run

PLAN = """\
[[run]]
notebook = "02_second.ipynb"
needs = ["first"]
[[run]]
notebook = "01_first.ipynb"
parameters = { seed = 3 }
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    monkeypatch.delenv("CTXLAB_RESULTS", raising=False)
    notebook(tmp_path / "01_first.ipynb", "1")
    notebook(tmp_path / "02_second.ipynb", "2")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def ran(root, day, file, needs=(), **passed):
    """A successful run of these inputs, as a batch would leave it."""
    job = prepare(root / file, passed, needs=needs)
    return make_run(root / "results", job.entry, day, job.inputs_sha256, charts={})


@pytest.fixture
def batch(root):
    first = ran(root, 1, "01_first.ipynb", seed=3)
    second = ran(root, 2, "02_second.ipynb", [Run("first", first.name, first)])
    ran(root, 3, "01_first.ipynb", seed=9)  # somebody explores
    return [second, first]


def test_the_plan_s_own_runs_are_meant_not_the_newest(root, batch):
    assert [run.path for run in planned_runs(root / "plan.toml")] == batch


def test_what_has_not_run_as_the_plan_has_it_is_refused(root, batch):
    notebook(root / "01_first.ipynb", "other")
    with pytest.raises(UsageError, match="no successful run of second, first as "):
        planned_runs(root / "plan.toml")


def test_accepting_a_plan_moves_its_runs_and_leaves_what_others_accepted(root, batch):
    other = root / "results" / "baseline" / "other"
    shutil.copytree(batch[0], other)
    there = sorted(other.iterdir())
    moved = baseline.accept_planned(root / "plan.toml")
    assert [path.name for path in moved] == ["second", "first"]
    assert baseline.entries_with_baseline() == ["first", "other", "second"]
    assert sorted(other.iterdir()) == there
    assert baseline.baseline("first").run_id == batch[1].name
    assert len(runs("first")) == 2, "runs stay"


def test_a_step_without_a_baseline_is_no_comparison(root, batch):
    with pytest.raises(InputError, match="'second' has no baseline"):
        planned(root / "plan.toml")
    baseline.accept_planned(root / "plan.toml")
    assert planned(root / "plan.toml") == [
        (root / "results" / "baseline" / run.parent.name, run) for run in batch
    ]
