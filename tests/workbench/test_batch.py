"""The logic of a batch with a pretended kernel; real ones are in test_batch_processes."""

import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

from ctxlab.errors import InputError, Locked, RunFailed, UsageError
from ctxlab.workbench import batch, run, run_batch
from ctxlab.workbench.lock import FILE, batch_lock
from ctxlab.workbench.manifest import read_manifest
from ctxlab.workbench.outcome import Outcome
from ctxlab.workbench.watch import Watch
from tests.workbench.fixtures import notebook
from tests.workbench.test_results import FAILED, make_run


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    monkeypatch.delenv("CTXLAB_RESULTS", raising=False)
    notebook(tmp_path / "nb.ipynb", "1")
    return tmp_path


class Pretended:
    """Stands for the worker's function: makes a run directory, as its entry's name wants it."""

    def __init__(self, results):
        self.results = results
        self.started = []
        self.at_once = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, job, results, _options):
        with self.lock:
            self.started.append(job.entry)
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(0.02)
        with self.lock:
            self.at_once -= 1
        if job.entry.startswith("raise"):
            raise RunFailed("no space")
        if job.entry.startswith("bug"):
            raise ZeroDivisionError("a bug")
        well = not job.entry.startswith("bad")
        day = len(self.started)
        path = make_run(results, job.entry, day, job.inputs_sha256, **({} if well else FAILED))
        return Outcome(job.entry, "succeeded" if well else "failed", 1.0, path)


@pytest.fixture
def pretended(root, monkeypatch):
    stand_in = Pretended(root / "results")
    monkeypatch.setattr(batch, "work", stand_in)
    return stand_in


def plan(root, *steps):
    """Steps such as `a`, or `c:a,b` for one that needs two."""
    text = ""
    for step in steps:
        entry, _, needs = step.partition(":")
        listed = [need for need in needs.split(",") if need]
        text += f'[[run]]\nnotebook = "nb.ipynb"\nentry = "{entry}"\nneeds = {listed}\n'
    (root / "plan.toml").write_text(text)
    return root / "plan.toml"


def statuses(outcomes):
    return {outcome.entry: outcome.status for outcome in outcomes}


def go(path, jobs=2, **options):
    with ThreadPoolExecutor(4) as executor:
        return run_batch(path, jobs=jobs, executor=executor, **options)


def test_a_failing_run_stops_no_other_but_those_that_need_it(root, pretended):
    outcomes = go(plan(root, "bad", "a", "b:a,bad", "c:b", "d:a", "raise", "bug"))
    assert statuses(outcomes) == {
        "bad": "failed", "a": "succeeded", "b": "not run", "c": "not run", "d": "succeeded",
        "raise": "failed", "bug": "failed",
    }  # fmt: skip
    told = {outcome.entry: outcome.reason for outcome in outcomes}
    assert told["b"] == "needs bad, which failed"
    assert told["c"] == "needs b, which was not run"
    assert told["raise"] == "no space"
    assert {outcome.entry: outcome.error.ename for outcome in outcomes if outcome.error} == {
        "raise": "RunFailed",
        "bug": "ZeroDivisionError",
    }


def test_who_takes_what_there_is_runs_with_the_newest_that_succeeded(root, pretended, monkeypatch):
    earlier = make_run(root / "results", "bad", 1)
    path = plan(root, "bad", "a", "other:bad", "c:a,bad,other")
    path.write_text(path.read_text() + "partial = true\n")
    jobs = []
    monkeypatch.setattr(
        batch, "work", lambda job, *rest: (jobs.append(job), pretended(job, *rest))[1]
    )
    outcomes = go(path)
    assert statuses(outcomes)["c"] == "succeeded"
    assert jobs[-1].needs == {"bad": earlier, "a": outcomes[1].path}


def test_what_is_needed_runs_before_and_no_more_than_wanted_at_once(root, pretended):
    go(plan(root, "c:b", "b:a", "a", "x", "y", "z"), jobs=2)
    order = pretended.started
    assert order.index("a") < order.index("b") < order.index("c")
    assert pretended.most <= 2
    assert order[0] == "a"  # two others wait for it


def test_the_longest_known_goes_first(root, pretended):
    for entry, seconds in (("a", 1), ("b", 9), ("c", 5)):
        make_run(root / "results", entry, 1, seconds=float(seconds))
    go(plan(root, "a", "b", "c"), jobs=1)
    assert pretended.started == ["b", "c", "a"]


def test_what_succeeded_before_is_skipped_unless_forced(root, pretended):
    path = plan(root, "a", "b:a", "bad")
    first = go(path)
    again = go(path)
    assert statuses(again) == {"a": "skipped", "b": "skipped", "bad": "failed"}
    assert again[0].path == first[0].path
    assert statuses(go(path, force=True)) == {
        "a": "succeeded", "b": "succeeded", "bad": "failed",
    }  # fmt: skip


def test_what_a_skipped_entry_gave_is_what_is_read(root, pretended, monkeypatch):
    path = plan(root, "a", "b:a")
    first = go(path)[0].path
    make_run(root / "results", "a", 28, "f" * 64)  # a later run with other inputs
    notebook(root / "other.ipynb", "2")
    path.write_text(
        path.read_text().replace('"nb.ipynb"\nentry = "b"', '"other.ipynb"\nentry = "b"')
    )
    jobs = []
    monkeypatch.setattr(
        batch, "work", lambda job, *rest: (jobs.append(job), pretended(job, *rest))[1]
    )
    assert statuses(go(path)) == {"a": "skipped", "b": "succeeded"}
    assert jobs[0].needs == {"a": first}


class Breaking(Executor):
    """Every submitted task of some entries takes its worker, and so the pool, with it."""

    def __init__(self, deadly):
        self.deadly = deadly
        self.broken = False
        self.pending = []

    def submit(self, function, job, *rest):
        if self.broken:
            raise BrokenProcessPool
        self.pending.append((Future(), function, job, rest))
        if job.entry in self.deadly:
            self.broken = True
            for future, *_ in self.pending:
                future.set_exception(BrokenProcessPool())
        return self.pending[-1][0]

    def work_off(self):
        for future, function, job, rest in self.pending:
            if not future.done():
                future.set_result(function(job, *rest))
        self.pending = []


class BreakingPool:
    shared_fate = True

    def __init__(self, deadly):
        self.deadly = dict(deadly)
        self.renewed = 0
        self.current = None

    def executor(self):
        if self.current is None:
            self.current = Breaking({entry for entry, times in self.deadly.items() if times})
        return self.current

    def slots(self):
        return 2

    def look(self):
        pass

    def renew(self):
        self.renewed += 1
        self.current = None
        self.deadly = {entry: times - 1 for entry, times in self.deadly.items()}

    def close(self):
        pass


@pytest.fixture
def breaking(monkeypatch):
    def use(**deadly):
        pool = BreakingPool(deadly)
        monkeypatch.setattr(batch, "Workers", lambda *_: pool)
        real = batch.wait

        def working_off(running, timeout, when):
            pool.executor().work_off()
            return real(running, timeout, when)

        monkeypatch.setattr(batch, "wait", working_off)
        return pool

    return use


def test_a_worker_that_dies_once_costs_its_run_another_start(root, pretended, breaking):
    pool = breaking(b=1)
    outcomes = run_batch(plan(root, "a", "b", "c"), jobs=2)
    assert statuses(outcomes) == {"a": "succeeded", "b": "succeeded", "c": "succeeded"}
    assert pool.renewed == 1


def test_a_run_that_always_kills_its_worker_fails_alone_and_is_kept(root, pretended, breaking):
    breaking(b=9)
    outcomes = run_batch(plan(root, "a", "b", "c:b"), jobs=2)
    assert statuses(outcomes) == {"a": "succeeded", "b": "failed", "c": "not run"}
    manifest = read_manifest(outcomes[1].path)
    assert manifest.error.ename == "WorkerDied"
    assert (outcomes[1].path / "notebook.ipynb").exists()


def test_what_vanished_meanwhile_fails_its_run_alone(root, pretended, monkeypatch):
    corpus = root / "corpus.txt"
    corpus.touch()
    path = plan(root, "a", "b:a")
    path.write_text(path.read_text() + 'parameters = { corpus = "corpus.txt" }\n')

    class Removing(Watch):
        def ended(self, _):
            corpus.unlink(missing_ok=True)

    outcomes = go(path, watch=Removing())
    assert statuses(outcomes) == {"a": "succeeded", "b": "failed"}
    assert "nothing is at" in outcomes[1].reason


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("parameters = { sede = 1 }", r"plan\.toml:run\[1\]: no parameter `sede`; did you mean"),
        ("parameters = { seed = true }", r"run\[1\]: the parameter `seed` is `int`: true"),
        ("parameters = { seed = 2026-01-01 }", r"run\[1\]: the parameter `seed` is `int`"),
        ('parameters = { corpus = "none" }', r"run\[1\]: the parameter `corpus`: nothing is at"),
        ('notebook = "warp.ipynb"', r"run\[1\]: no kernel 'warp' is installed; there are"),
        ('notebook = "none.ipynb"', r"run\[1\]: .*none\.ipynb: no notebook is here"),
    ],
)
def test_whatever_is_wrong_is_told_before_anything_runs(root, pretended, more, told):
    notebook(root / "warp.ipynb", "1", kernelspec={"name": "warp", "language": "python"})
    path = plan(root, "a")
    step = more if "notebook" in more else f'notebook = "nb.ipynb"\nentry = "b"\n{more}'
    path.write_text(f"{path.read_text()}[[run]]\n{step}\n")
    with pytest.raises(InputError, match=told):
        go(path)
    assert pretended.started == []
    assert not (root / "results").exists()


def test_wrong_options_are_refused(root):
    with pytest.raises(UsageError, match="at least 1 run at a time"):
        run_batch(plan(root, "a"), jobs=0)
    with pytest.raises(UsageError, match="no engine 'warp'"):
        run_batch(plan(root, "a"), engine="warp")
    with pytest.raises(UsageError, match="more than 0 seconds, not -1"):
        run_batch(plan(root, "a"), timeout=-1)


def test_an_interrupt_starts_no_more(root, pretended, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    executor = ThreadPoolExecutor(1)
    blocked = threading.Event()
    executor.submit(blocked.wait)
    monkeypatch.setattr(batch, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_batch(plan(root, "a"), executor=executor)
    blocked.set()
    executor.shutdown()
    assert pretended.started == []


def test_two_batches_do_not_run_over_each_other(root, pretended):
    path = plan(root, "a")
    with batch_lock(root / "results"):
        with pytest.raises(Locked, match=r"another batch is running over .* \(process \d+ since "):
            go(path)
        assert go(path, results=root / "elsewhere")[0].well
    assert go(path)[0].well
    assert (root / "results" / FILE).exists()


def test_what_killed_batches_left_is_cleaned(root, pretended):
    left = root / "results" / "old" / ".20261130T142200Z-3fa9c1d2.tmp"
    left.mkdir(parents=True)
    go(plan(root, "a"))
    assert not left.exists()


def test_how_far_runs_are_is_told(root, pretended, monkeypatch):
    seen = []

    class Seeing(Watch):
        def looks(self, cells):
            seen.append(cells)

    def slow(job, results, options):
        folder = results / job.entry / ".20261130T142200Z-3fa9c1d2.tmp"
        folder.mkdir(parents=True)
        (folder / run.PROGRESS).write_text("2 5")
        time.sleep(0.6)
        return Outcome(job.entry, "succeeded")

    monkeypatch.setattr(batch, "work", slow)
    go(plan(root, "a"), watch=Seeing())
    assert {"a": (2, 5)} in seen


def test_results_that_cannot_be_written_are_told(root):
    (root / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        go(plan(root, "a"), results=root / "file" / "results")
