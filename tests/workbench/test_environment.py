import subprocess

import pytest

from ctxlab.workbench import environment


@pytest.fixture
def checkout(tmp_path):
    """A project in a folder of its checkout, with an accepted run committed."""
    project = tmp_path / "project"
    for file in ("code.py", "results/baseline/entry/manifest.json"):
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text("1")
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return project


def test_accepting_a_run_is_no_uncommitted_change(checkout):
    assert environment.git(checkout).dirty is False
    (checkout / "results/baseline/entry/manifest.json").write_text("2")
    (checkout / "results/baseline/entry/new.csv").write_text("2")
    assert environment.git(checkout).dirty is False


@pytest.mark.parametrize("file", ["code.py", "new.py", "../beside.py", "data/results"])
def test_anything_else_is(checkout, file):
    (checkout / file).parent.mkdir(exist_ok=True)
    (checkout / file).write_text("2")
    assert environment.git(checkout).dirty is True


def test_outside_of_a_checkout_nothing_is_known(tmp_path):
    assert environment.git(tmp_path).commit is None
