"""A batch on a dask cluster: a real one of two workers that stands for the user's own."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from ctxlab.errors import UsageError
from ctxlab.workbench import run_batch
from ctxlab.workbench.manifest import read_manifest
from ctxlab.workbench.results import runs
from ctxlab.workbench.same import Same, difference
from tests.workbench.fixtures import TABLE, notebook
from tests.workbench.test_batch_processes import (
    COMMAND,
    READ,
    ctxlab,
    environment,
    gone,
    kernel_pid,
    named,
)

distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")

WAITING = """\
import os, time
Path(text).with_suffix(".worker").write_text(os.environ["WORKER"])
Path(text).write_text(str(os.getpid()))
while not Path('go').exists(): time.sleep(0.05)"""
DEADLY = """\
import os, signal, time
os.kill(int(os.environ["WORKER"]), signal.SIGKILL)
time.sleep(60)"""
PRELOAD = "import os; os.environ['WORKER'] = str(os.getpid())\n"
"""In each worker: its hands, and their kernels, know whose they are."""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "requirements.lock").write_text("a==1\n")
    (folder / "preload.py").write_text(PRELOAD)
    for name, cells in {
        "first": [TABLE], "second": [READ], "waiting": [WAITING], "deadly": [DEADLY],
    }.items():  # fmt: skip
        notebook(folder / "notebooks" / f"{name}.ipynb", *cells)
    return folder


@pytest.fixture(scope="module")
def cluster(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXLAB_ROOT", str(root))
        patch.delenv("CTXLAB_RESULTS", raising=False)
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=60,
            preload=[str(root / "preload.py")],
        ) as started:
            yield started


def plan(root, name, *steps):
    """Steps such as `first`, `second:first` with needs, or `one=waiting` with another notebook."""
    text = ""
    for step in steps:
        told, _, needs = step.partition(":")
        entry, _, source = told.partition("=")
        text += f'[[run]]\nnotebook = "{source or entry}.ipynb"\nentry = "{entry}"\n'
        text += f'needs = {[needs] if needs else []}\nparameters = {{ text = "{entry}.pid" }}\n'
    file = root / "notebooks" / f"{name}.toml"
    file.write_text(text)
    return file


def statuses(answer):
    return {each["entry"]: each["status"] for each in json.loads(answer.stdout)}


def test_a_batch_runs_on_the_workers_and_leaves_the_cluster_as_it_was(root, cluster):
    before = {worker.pid for worker in cluster.workers.values()}
    answer = ctxlab(
        root, "batch", plan(root, "needs", "second:first", "first", "third=first"),
        "--scheduler", cluster.scheduler_address, "--json",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert statuses(answer) == dict.fromkeys(("second", "first", "third"), "succeeded")
    lines = [line.split()[1:3] for line in answer.stderr.splitlines()]
    assert lines.index(["first", "succeeded"]) < lines.index(["second", "started"])
    (first,), (second,) = (runs(entry, root / "results") for entry in ("first", "second"))
    assert (first.path / "seeds.csv").read_bytes() == (second.path / "again.csv").read_bytes()
    assert {worker.pid for worker in cluster.workers.values()} == before
    children = [child for pid in before for child in psutil.Process(pid).children()]
    assert named(children, "ctxlab.workbench.hand") == []
    assert list((root / "results").glob(".probe-*")) == []


def begun(root, cluster, name, *steps):
    command = [COMMAND, "batch", plan(root, name, *steps), "--json"]
    return subprocess.Popen(
        [*command, "--scheduler", cluster.scheduler_address, "--results", name],
        env=environment(root), cwd=root, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_worker_killed_in_the_middle_costs_its_run_another_start(root, cluster):
    runner = begun(root, cluster, "killed", "one=waiting", "two=waiting", "after=first")
    kernels = {name: psutil.Process(kernel_pid(root / f"{name}.pid")) for name in ("one", "two")}
    killed = psutil.Process(next(iter(cluster.workers.values())).pid)
    workers = {name: int((root / f"{name}.worker").read_text()) for name in kernels}
    ran_there = [kernels[name] for name in kernels if workers[name] == killed.pid]
    killed.kill()
    assert len(ran_there) == 1
    assert gone(ran_there)
    assert [kernel.is_running() for kernel in kernels.values()].count(True) == 1
    (root / "go").touch()
    out, err = runner.communicate(timeout=240)
    (root / "go").unlink()
    assert runner.returncode == 0, err
    assert {each["status"] for each in json.loads(out)} == {"succeeded"}
    assert "Traceback" not in err
    assert err.count("one started") + err.count("two started") == 3
    assert len(list((root / "killed").glob("*/*"))) == 3


def test_a_run_that_kills_its_worker_twice_fails_alone_and_is_kept(root, cluster):
    runner = begun(root, cluster, "deadly", "deadly", "after=first", "never=second:deadly")
    out, err = runner.communicate(timeout=240)
    assert runner.returncode == 1, err
    told = {each["entry"]: each for each in json.loads(out)}
    assert {entry: each["status"] for entry, each in told.items()} == {
        "deadly": "failed", "after": "succeeded", "never": "not run",
    }  # fmt: skip
    assert read_manifest(told["deadly"]["path"]).error.ename == "WorkerDied"


def test_ctrl_c_ends_the_kernels_and_leaves_the_cluster(root, cluster):
    end = time.monotonic() + 200
    while len(cluster.scheduler.workers) < 2:  # those that were killed come back
        assert time.monotonic() < end
        time.sleep(0.1)
    runner = begun(root, cluster, "interrupted", "three=waiting", "four=waiting")
    kernels = [psutil.Process(kernel_pid(root / f"{name}.pid")) for name in ("three", "four")]
    parents = [parent for kernel in kernels for parent in kernel.parents()]
    ours = [*kernels, *named(parents, "ctxlab.workbench")]
    os.killpg(runner.pid, signal.SIGINT)
    _, err = runner.communicate(timeout=60)
    assert runner.returncode == 130, err
    assert err.splitlines()[-1] == "ctxlab: interrupted"
    assert "Traceback" not in err
    assert gone(ours)
    assert list((root / "interrupted").glob("*/*")) == []
    assert len(cluster.scheduler.workers) == 2


def test_a_worker_that_sees_something_else_is_named_and_nothing_runs(root, cluster, tmp_path):
    worker = next(iter(cluster.scheduler.workers))
    with distributed.Client(cluster, set_as_default=False) as client:
        client.run(lambda: os.environ.update(CTXLAB_ROOT=str(tmp_path)), workers=[worker])
        answer = ctxlab(
            root, "batch", plan(root, "other", "first"),
            "--scheduler", cluster.scheduler_address, "--results", "other",
        )  # fmt: skip
        client.run(lambda: os.environ.update(CTXLAB_ROOT=str(root)), workers=[worker])
    assert answer.returncode == 2
    (line,) = answer.stderr.splitlines()
    assert line.startswith(f"ctxlab: the worker {worker} has another ")
    assert list((root / "other").glob("*/*")) == []


def test_what_differs_is_told():
    here = Same("3.11.7", "c" * 40, "s" * 64, "l" * 64, "token")
    assert difference(here, here) == ""
    for field, told in {
        "results": "does not see the results of this batch",
        "python": "runs Python none, not 3.11.7",
        "commit": "has commit none, not cccccccccccc",
        "source": "has another source of ctxlab: none, not ssssssssssss",
        "lock": "has another requirements.lock: none, not llllllllllll",
    }.items():
        assert difference(here, Same(**(vars(here) | {field: None}))) == told
    assert difference(here, ModuleNotFoundError("no ctxlab")) == (
        "cannot be asked: ModuleNotFoundError: no ctxlab"
    )


def test_a_cluster_of_our_own_ends_with_its_batch(root):
    answer = ctxlab(
        root, "batch", plan(root, "own", "first"), "--cluster", "local", "--jobs", "1",
        "--results", f"file://{root}/own",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "Traceback" not in answer.stderr
    assert f"file://{root}/own/first/" in answer.stdout
    assert len(runs("first", root / "own")) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"scheduler": "tcp://127.0.0.1:1"}, "no scheduler answers at tcp://127.0.0.1:1: "),
        ({"scheduler": "warp://x"}, "'warp://x' is no scheduler's address"),
        ({"scheduler": "foo"}, "'foo' is no scheduler's address"),
        ({"scheduler": "tcp://127.0.0.1:99999"}, "is no scheduler's address"),
        ({"scheduler": ""}, "the scheduler's address is empty"),
        ({"cluster": "mars"}, "a cluster is `local`, not 'mars'"),
        ({"cluster": "local", "scheduler": "tcp://127.0.0.1:1"}, "a batch runs in one place"),
    ],
)
def test_a_place_that_is_none_is_refused(root, monkeypatch, options, told):
    monkeypatch.setenv("CTXLAB_ROOT", str(root))
    with pytest.raises(UsageError, match=told):
        run_batch(plan(root, "none", "first"), results=root / "none", **options)
    assert not list((root / "none").glob("[!.]*"))


def test_without_dask_one_line_says_what_to_install(root, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(root))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'ctxlab\[dask\]'"):
        run_batch(plan(root, "none", "first"), results=root / "none", cluster="local")
