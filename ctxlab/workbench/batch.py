"""Run a plan: each step when what it needs is there, several at a time, whatever becomes of others.

The work is done by any `concurrent.futures.Executor`; by default by processes of our own, see
`workers`. Its processes must see the same results as this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ctxlab.errors import CtxlabError, InputError, UsageError
from ctxlab.workbench import engines, run, stores
from ctxlab.workbench.environment import cpus
from ctxlab.workbench.identity import Contents
from ctxlab.workbench.kernelspecs import check_kernel
from ctxlab.workbench.lock import batch_lock
from ctxlab.workbench.manifest import Failure
from ctxlab.workbench.notebook import Notebook, read_notebook
from ctxlab.workbench.order import by_urgency
from ctxlab.workbench.outcome import Outcome, skipped
from ctxlab.workbench.parameters import check_values, effective
from ctxlab.workbench.plan import Plan, Step, read_plan
from ctxlab.workbench.prepare import Prepared, done_before, prepare
from ctxlab.workbench.results import Run, newest, newest_successful
from ctxlab.workbench.rundir import clean_stale
from ctxlab.workbench.stores import Store
from ctxlab.workbench.watch import Watch
from ctxlab.workbench.workers import Workers, work

_LOOK_SECONDS = 0.25
_ATTEMPTS = 2


class _Pool(Protocol):
    @property
    def shared_fate(self) -> bool: ...
    def slots(self) -> int: ...
    def executor(self) -> Executor: ...
    def look(self) -> None: ...
    def renew(self) -> None: ...


class _Given:
    """An executor of the caller's: it is neither renewed nor ended by us."""

    shared_fate = True

    def __init__(self, executor: Executor, jobs: int) -> None:
        self._executor, self._jobs = executor, jobs

    def slots(self) -> int:
        return self._jobs

    def executor(self) -> Executor:
        return self._executor

    def look(self) -> None:
        pass

    def renew(self) -> None:
        pass


def run_batch(  # noqa: PLR0913  a batch has as many options as it has
    plan: str | Path | Plan,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    scheduler: str | None = None,
    cluster: str | None = None,
    results: str | Path | None = None,
    engine: str | None = None,
    timeout: float | None = None,
    force: bool = False,
    watch: Watch | None = None,
) -> list[Outcome]:
    """Run every step of a plan whose inputs did not succeed before; outcomes in the plan's order.

    A run that fails stops no other; those that need it are not run. A worker that is killed costs
    its run another start, the batch nothing.

    Args:
        plan: the file, or a plan that was read.
        jobs: how many at a time; by default as many as there are processors.
        executor: where they run, instead of processes of our own; its workers must be able to
            import ctxlab and to write the results.
        scheduler: the address of a dask.distributed scheduler, such as `tcp://host:8786`, on whose
            workers they run; each must see these results, this commit and this lock.
        cluster: `local` starts such a cluster here, with `jobs` workers, for this batch.
        results: a directory or a URL, see `stores.at`; by default `results/` of the project.
        engine: one of `engines.ENGINES`; by default the fastest that this machine has.
        timeout: seconds for each run.
        force: run everything, whatever succeeded before.
        watch: is told what happens.

    Raises:
        InputError, UsageError: the plan, a notebook or a parameter is wrong: nothing has run.
        Locked: another batch is running over the same results.
        RunFailed: the cluster went away.
    """
    read = plan if isinstance(plan, Plan) else read_plan(plan)
    engine = engines.checked_engine(engine or engines.for_batches())
    run.check_timeout(timeout)
    where = _Where(jobs, executor, scheduler, cluster)
    where.check()
    notebooks = _checked(read)
    store = stores.at(results)
    options = {"engine": engine, "timeout": timeout}
    with batch_lock(store.folder, str(store)), _cleaned(store.folder):
        store.refresh().check_writable()
        with where.pool(len(read.steps), engine, store) as pool:
            batch = _Batch(read, notebooks, store, pool, jobs, options, force, watch or Watch())
            try:
                return batch.run()
            finally:
                batch.cancel()


@dataclass(frozen=True)
class _Where:
    """Where a batch runs, as its caller said."""

    jobs: int | None
    executor: Executor | None
    scheduler: str | None
    cluster: str | None

    def check(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"at least 1 run at a time, not {self.jobs}")
        if self.cluster not in (None, "local"):
            raise UsageError(f"a cluster is `local`, not {self.cluster!r}; name a scheduler else")
        if self.scheduler == "":
            raise UsageError("the scheduler's address is empty; leave it out to run here")
        if len([each for each in (self.executor, self.scheduler, self.cluster) if each]) > 1:
            raise UsageError("a batch runs in one place: a scheduler, a cluster or an executor")

    @contextmanager
    def pool(self, steps: int, engine: str, store: Store) -> Iterator[_Pool]:
        """The pool; it ends with the batch, unless it is the caller's."""
        at_most = min(self.jobs or cpus(), steps)
        if self.executor:
            yield _Given(self.executor, at_most)
        elif self.scheduler or self.cluster:
            from ctxlab.workbench.cluster import on_cluster  # noqa: PLC0415  an extra

            with on_cluster(self.scheduler, at_most, engine, store) as pool:
                yield pool
        else:
            if store.private:
                raise UsageError(f"{store} is seen by one process alone, not by a batch's workers")
            with closing(Workers(at_most, engine)) as workers:
                yield workers


@contextmanager
def _cleaned(results: Path) -> Iterator[None]:
    """Without what killed runs left, before the batch and after it."""
    clean_stale(results)
    try:
        yield
    finally:
        clean_stale(results)


def _checked(plan: Plan) -> dict[str, Notebook]:
    """Every step's notebook, once it and the step's parameters are found right."""
    notebooks = {}
    for step in plan.steps:
        try:
            notebook = read_notebook(step.notebook)
            check_kernel(notebook.kernel)
            effective(notebook.parameters, check_values(notebook.parameters, step.parameters))
        except CtxlabError as error:
            raise InputError(str(error), path=plan.path, place=step.place) from None
        notebooks[step.entry] = notebook
    return notebooks


@dataclass
class _Batch:
    """A plan being run."""

    plan: Plan
    notebooks: dict[str, Notebook]
    store: Store
    pool: _Pool
    jobs: int | None
    options: Mapping[str, Any]
    force: bool
    watch: Watch

    def __post_init__(self) -> None:
        self.results = self.store.folder
        steps = {step.entry: step for step in self.plan.steps}
        order = by_urgency(self.plan.steps, _seconds(self.results, steps))
        self.waiting = {entry: steps[entry] for entry in order}
        self.running: dict[Future[Outcome], Prepared] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.again: list[Prepared] = []
        """Whose worker died, maybe through them: where all would die with it, they run alone."""
        self.attempts: dict[str, int] = {}
        self.hashed: Contents = {}

    def run(self) -> list[Outcome]:
        """Until every step has its outcome."""
        while self.waiting or self.again or self.running:
            self._start()
            if not self.running:
                continue
            done, _ = wait(self.running, _LOOK_SECONDS, FIRST_COMPLETED)
            self._finish(done)
            self.pool.look()
            if not done:
                self.watch.looks(dict(self._cells()))
        return [self.outcomes[step.entry] for step in self.plan.steps]

    def cancel(self) -> None:
        """Of what was submitted, start no more; an executor of the caller's goes on living."""
        for future in self.running:
            future.cancel()

    def _start(self) -> None:
        """Start what can start, as far as there is room; settle what need not or cannot."""
        slots = self.pool.slots()
        room = min(self.jobs or slots, slots)
        if self.again:
            if not self.running or (len(self.running) < room and not self.pool.shared_fate):
                self._submit(self.again.pop(0))
            return
        for entry, step in list(self.waiting.items()):
            if len(self.running) >= room or self.again:
                return
            if not all(need in self.outcomes for need in step.needs):
                continue
            del self.waiting[entry]
            self._settle(step)

    def _settle(self, step: Step) -> None:
        failed = [need for need in step.needs if not self.outcomes[need].well]
        if failed and not step.partial:
            what = self.outcomes[failed[0]].status.replace("not run", "was not run")
            self._end(Outcome(step.entry, "not run", reason=f"needs {failed[0]}, which {what}"))
            return
        try:
            job = self._prepared(step)
            before = None if self.force else done_before(job, self.results)
        except CtxlabError as error:  # what was there when the batch began is there no more
            self._end(_refused(step.entry, error))
            return
        if before:
            self._end(skipped(before))
        else:
            self._submit(job)

    def _prepared(self, step: Step) -> Prepared:
        return prepare(
            self.notebooks[step.entry],
            step.parameters,
            entry=step.entry,
            needs=[run for need in step.needs if (run := self._needed(need))],
            known=self.hashed,
        )

    def _needed(self, entry: str) -> Run | None:
        """This batch's run; for those that take what there is, the newest that succeeded."""
        outcome = self.outcomes[entry]
        if not outcome.well:
            return newest_successful(entry, self.results)
        path = outcome.path
        return Run(path.parent.name, path.name, path) if path else None

    def _submit(self, job: Prepared) -> None:
        self.attempts[job.entry] = self.attempts.get(job.entry, 0) + 1
        self.watch.started(job.entry)
        try:
            future = self.pool.executor().submit(work, job, self.store.place, self.options)
        except BrokenExecutor:
            self._lost([job])
            return
        self.running[future] = job

    def _finish(self, done: set[Future[Outcome]]) -> None:
        lost = []
        for future in done:
            job = self.running.pop(future)
            try:
                self._end(self._here(future.result()))
            except BrokenExecutor:
                lost.append(job)
            except Exception as error:  # noqa: BLE001  an executor may raise what it likes
                self._end(_refused(job.entry, error))
        if lost:
            self._lost(lost)

    def _here(self, outcome: Outcome) -> Outcome:
        """The outcome with its run where this process reads it; it was made on any machine."""
        if outcome.path is None or self.store.place == self.results:
            return outcome
        return replace(outcome, path=self.store.fetch(outcome.path))

    def _lost(self, jobs: list[Prepared]) -> None:
        """A worker died. Where the pool died with it, all that ran starts again, one at a time."""
        if self.pool.shared_fate:
            jobs = [*jobs, *self.running.values()]
            self.running.clear()
            self.pool.renew()
        for job in jobs:
            if self.attempts[job.entry] < _ATTEMPTS:
                self.again.append(job)
            else:
                self._end(self._died(job))

    def _died(self, job: Prepared) -> Outcome:
        died = Failure("WorkerDied", f"the process that ran it died {_ATTEMPTS} times", None)
        try:
            return run.keep_failure(job, self.store.place, died)
        except CtxlabError as error:
            return _refused(job.entry, error)

    def _end(self, outcome: Outcome) -> None:
        self.outcomes[outcome.entry] = outcome
        self.watch.ended(outcome)

    def _cells(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """How far the runs are that are being written."""
        for job in self.running.values():
            for file in (self.results / job.entry).glob(f".*/{run.PROGRESS}"):
                try:
                    done, cells = map(int, file.read_text().split())
                except (OSError, ValueError):  # it is being written, or the run ended
                    continue
                yield job.entry, (done, cells)


def _seconds(results: Path, entries: Mapping[str, Step]) -> dict[str, float]:
    """What the entries' newest runs took."""
    runs = {entry: newest(entry, results) for entry in entries}
    known = {}
    for entry, found in runs.items():
        try:
            known.update({entry: found.manifest.seconds} if found else {})
        except InputError:
            continue
    return known


def _refused(entry: str, error: Exception) -> Outcome:
    failure = Failure(type(error).__name__, str(error), None)
    return Outcome(entry, "failed", error=failure, reason=str(error))
