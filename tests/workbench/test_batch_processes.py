"""A batch as people run it: the command, its processes, their kernels, and every way to end it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from ctxlab.workbench.manifest import read_manifest
from ctxlab.workbench.results import entries, runs
from tests.workbench.fixtures import CHART, TABLE, notebook

COMMAND = Path(sys.executable).with_name("ctxlab")
READ = """\
from ctxlab.workbench import Record, load_table
Record(output_dir).table("again", load_table("first", "seeds"), key=["name"])"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    notebooks = folder / "notebooks"
    notebook(notebooks / "01_first.ipynb", TABLE, CHART)
    notebook(notebooks / "02_second.ipynb", READ)
    notebook(notebooks / "03_bad.ipynb", "1 / 0")
    (notebooks / "plan.toml").write_text(
        '[[run]]\nnotebook = "02_second.ipynb"\nneeds = ["first"]\n'
        '[[run]]\nnotebook = "01_first.ipynb"\nparameters = { seed = 3 }\n'
        '[[run]]\nnotebook = "03_bad.ipynb"\n'
    )
    return folder


def environment(root, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CTXLAB_")}
    return kept | {"CTXLAB_ROOT": str(root)} | more


def ctxlab(root, *arguments, **options):
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        env=environment(root), cwd=root, capture_output=True, text=True, check=False, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def done(root):
    return ctxlab(root, "batch", "--json", "--jobs", "2")


def test_a_batch_runs_what_is_needed_first_and_tells_what_became_of_all(root, done):
    assert done.returncode == 1, done.stderr
    outcomes = {outcome["entry"]: outcome for outcome in json.loads(done.stdout)}
    assert {entry: outcome["status"] for entry, outcome in outcomes.items()} == {
        "second": "succeeded", "first": "succeeded", "bad": "failed",
    }  # fmt: skip
    assert "ZeroDivisionError in In [3]: division by zero" in outcomes["bad"]["reason"]
    lines = done.stderr.splitlines()
    assert len([line for line in lines if line.endswith("started")]) == 3
    assert lines.index(next(line for line in lines if "first succeeded" in line)) < lines.index(
        next(line for line in lines if "second started" in line)
    )
    assert "Traceback" not in done.stderr


def test_a_needed_table_is_the_one_that_was_made(root, done):
    first, second = (runs(entry, root / "results")[-1] for entry in ("first", "second"))
    made, read = (first.path / "seeds.csv", second.path / "again.csv")
    assert made.read_bytes() == read.read_bytes()
    assert made.read_text() == "name,seed\na,3\nb,4\n"


def test_the_next_batch_runs_only_what_did_not_succeed(root, done):
    again = ctxlab(root, "batch", "notebooks/plan.toml")
    assert again.returncode == 1
    rows = [line.split() for line in again.stdout.splitlines()]
    assert [row[:2] for row in rows[1:4]] == [
        ["second", "skipped"],
        ["first", "skipped"],
        ["bad", "failed"],
    ]
    assert rows[0] == ["entry", "status", "seconds", "report"]


def test_runs_are_listed(root, done):
    told = ctxlab(root, "list")
    assert told.returncode == 0
    assert [line.split()[0] for line in told.stdout.splitlines()] == [
        "entry",
        "bad",
        "first",
        "second",
    ]
    rows = json.loads(ctxlab(root, "list", "first", "--json").stdout)
    assert [row["status"] for row in rows] == ["succeeded"]
    assert rows[0]["parameters_passed"] == {"seed": 3}


def test_one_notebook_is_run_with_what_its_plan_says_it_needs(root, done):
    told = ctxlab(root, "run", "notebooks/02_second.ipynb")
    assert told.returncode == 0, told.stderr
    assert "skipped" in told.stdout


FIRST = "notebooks/01_first.ipynb"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", FIRST, "-p", "sede=1"], "no parameter `sede`; did you mean `seed`?"),
        (["run", FIRST, "-p", "seed=x"], '"x" is not JSON'),
        (["run", "notebooks/1_first.ipynb"], "did you mean notebooks/01_first.ipynb?"),
        (["run", FIRST, "--results", "notebooks/plan.toml/x"], "cannot be written"),
        (["batch", "none.toml"], "none.toml: No such file or directory"),
        (["batch", "--engine", "warp"], "no engine 'warp'"),
        (["list", "none"], "no run of the entry 'none'"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_code_2(root, done, arguments, told):
    before = sorted((root / "results").rglob("*"))
    answer = ctxlab(root, *arguments)
    assert answer.returncode == 2
    assert told in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr
    assert sorted((root / "results").rglob("*")) == before


def test_the_parameters_of_a_notebook_are_listed(root):
    told = ctxlab(root, "run", "notebooks/01_first.ipynb", "--list")
    assert "seed       int   7        of nothing" in told.stdout


# The ways to end: a plan of two endless runs behind a finished one.


@pytest.fixture
def short(tmp_path):
    """A folder for temporary files: sockets need a short path."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def endless(tmp_path, short):
    """A function that starts a batch, waits until its two kernels are busy, and gives all of it."""
    code = (
        "import os, time\nfrom pathlib import Path\nPath(text).write_text(str(os.getpid()))\n"
        "while not Path('go').exists(): time.sleep(0.05)"
    )
    notebook(tmp_path / "notebooks" / "endless.ipynb", code)
    plan = "".join(
        f'[[run]]\nnotebook = "endless.ipynb"\nentry = "{entry}"\n'
        f'parameters = {{ text = "{entry}.pid" }}\n'
        for entry in ("one", "two", "three")
    )
    (tmp_path / "notebooks" / "plan.toml").write_text(plan)
    started = []

    def start():
        runner = subprocess.Popen(
            [COMMAND, "batch", "--jobs", "2"],
            env=environment(tmp_path, TMPDIR=str(short)),
            cwd=tmp_path,
            text=True,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(runner)
        for entry in ("one", "two"):
            kernel_pid(tmp_path / f"{entry}.pid")
        return runner, [each for each in processes_of(tmp_path) if each.pid != runner.pid]

    yield start
    for runner in started:
        if runner.poll() is None:
            runner.kill()
        runner.communicate()


def kernel_pid(file, seconds=90):
    end = time.monotonic() + seconds
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end, f"no {file.name}"
        time.sleep(0.1)
    pid = int(file.read_text())
    file.unlink()
    return pid


def processes_of(root):
    """Every process of a batch: they all have its environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("CTXLAB_ROOT") == str(root):
                found.append(process)
    return found


def named(processes, word):
    return [process for process in processes if word in " ".join(process.cmdline())]


def gone(processes):
    return not psutil.wait_procs(processes, timeout=20)[1]


def left(root):
    """Whatever stands below an entry, unfinished or whole."""
    return [path.name for path in (root / "results").glob("*/*")]


def test_ctrl_c_ends_everything_and_leaves_nothing(endless, tmp_path, short):
    runner, processes = endless()
    second = ctxlab(tmp_path, "batch")
    assert second.returncode == 75
    assert second.stderr.startswith("ctxlab: another batch is running over ")
    os.killpg(runner.pid, signal.SIGINT)  # as a terminal does: the whole group
    _, err = runner.communicate(timeout=60)
    assert runner.returncode == 130
    assert err.splitlines()[-1] == "ctxlab: interrupted"
    assert "Traceback" not in err
    assert gone(processes)
    assert list(short.glob("ctxlab-*")) == []
    assert left(tmp_path) == []


def test_a_service_manager_ends_it_the_same_way(endless, tmp_path, short):
    runner, processes = endless()
    runner.terminate()
    _, err = runner.communicate(timeout=60)
    assert runner.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    assert gone(processes)
    assert list(short.glob("ctxlab-*")) == []
    assert left(tmp_path) == []


def test_a_killed_batch_leaves_no_process_and_the_next_completes(endless, tmp_path, short):
    runner, processes = endless()
    runner.kill()
    runner.wait()
    assert gone(processes)
    assert list(short.glob("ctxlab-*")) == []
    (tmp_path / "go").touch()
    after = ctxlab(tmp_path, "batch", "--json")
    assert after.returncode == 0, after.stderr
    assert entries(tmp_path / "results") == ["one", "three", "two"]
    for name in left(tmp_path):
        assert not name.startswith(".")


def test_a_killed_worker_costs_its_run_another_start(endless, tmp_path):
    runner, processes = endless()
    servers = named(processes, "multiprocessing.forkserver")
    workers = [each for each in servers if each.ppid() in {server.pid for server in servers}]
    assert len(workers) == 2
    workers[0].kill()
    assert gone(workers)
    (tmp_path / "go").touch()
    _, err = runner.communicate(timeout=120)
    assert runner.returncode == 0, err
    assert "Traceback" not in err
    assert entries(tmp_path / "results") == ["one", "three", "two"]
    for entry in ("one", "two", "three"):
        (run,) = runs(entry, tmp_path / "results")
        assert read_manifest(run.path).status == "succeeded"
    assert [name for name in left(tmp_path) if name.startswith(".")] == []


def test_a_killed_warm_parent_costs_its_runs_but_not_the_next(endless, tmp_path):
    runner, processes = endless()
    (warm,) = (each for each in named(processes, "workbench.warm") if each.ppid() == runner.pid)
    kernels = [each for each in processes if each.ppid() == warm.pid]
    warm.kill()
    assert gone(kernels)
    (tmp_path / "go").touch()
    _, err = runner.communicate(timeout=120)
    assert runner.returncode == 1
    assert err.count("the kernel died: SIGKILL") == 2
    assert "three succeeded" in err
