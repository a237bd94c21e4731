"""The process pool of a batch, whose processes and kernels end with it, however it ends.

The standard pool's workers outlive a parent that is killed: they wait for work forever. Ours hold
the reading end of a pipe, the leash, whose writing end the parent alone has. When it closes, by the
parent's death or because the batch is stopped, each worker interrupts its run, which ends its
kernel and removes its unfinished directory, and exits.

Where there is a fork server (Linux) papermill is imported once, in it, and every worker is forked
from there.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from ctxlab.workbench.outcome import Outcome
from ctxlab.workbench.prepare import Prepared
from ctxlab.workbench.warm_parent import ADDRESS, WarmParent

_PRELOADED = ["ctxlab.workbench.execution", "ctxlab.workbench.run"]
_STOPPED = 143  # 128 + SIGTERM
_CLEANUP_SECONDS = 20


class Workers:
    """A pool that can be renewed when it broke, and stopped in the middle of its work.

    Where the engine forks kernels, all workers share one warm parent; it is started with the pool,
    and again if it was killed.
    """

    def __init__(self, jobs: int, engine: str) -> None:
        self._jobs = jobs
        self._forks = engine == "forked"
        self._warm: WarmParent | None = None
        self._executor: ProcessPoolExecutor | None = None
        self._held: Connection | None = None
        self._leash: Connection | None = None

    shared_fate = True
    """Whether the death of one worker ends the work of all."""

    def slots(self) -> int:
        """How many runs there is room for."""
        return self._jobs

    def look(self) -> None:
        """Nothing to see: a pool that broke says so through its futures."""

    def executor(self) -> Executor:
        """The pool; it is made when it is first asked for."""
        with interrupts_held():
            if self._warm:
                self._warm.ensure()
            if self._executor is None:
                self._executor = self._pool()
        return self._executor

    def _pool(self) -> ProcessPoolExecutor:
        environment = dict(os.environ)
        if self._forks:
            self._warm = self._warm or WarmParent()
            environment[ADDRESS] = self._warm.address
        self._held, self._leash = multiprocessing.Pipe(duplex=False)
        begin = (self._held, environment)
        pool = ProcessPoolExecutor(self._jobs, _context(), _begin, begin)
        for _ in range(self._jobs):  # the pool starts a process for each, until it is full
            pool.submit(_nothing)
        return pool

    def renew(self) -> None:
        """Let go of a pool that broke, in the middle of its work; the next executor() is new."""
        if self._leash:
            self._leash.close()
        if self._executor:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if self._held:
            self._held.close()
        self._executor = self._held = self._leash = None

    def close(self) -> None:
        """End everything, in the middle of a run too; returns when it is gone."""
        self.renew()
        if self._warm:
            self._warm.close()
            self._warm = None


def _context() -> multiprocessing.context.BaseContext:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Processes that start meanwhile never see a Ctrl-C: the mask is inherited."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing() -> None:
    """A task for a process to start with."""


# In the worker.

_working = threading.Event()


class _Stopped(SystemExit):
    """The leash was let go, or the pool ends its workers.

    asyncio passes on only SystemExit and KeyboardInterrupt from wherever they are raised.
    """


def _begin(leash: Connection, environment: Mapping[str, str]) -> None:
    os.environ.clear()  # the fork server's may be that of an earlier batch of the same process
    os.environ.update(environment)
    obey(leash)
    from ctxlab.workbench import execution  # noqa: F401, PLC0415  while there is nothing to do yet


def obey(leash: Connection) -> None:
    """From now on this process ends when the leash is let go, cleanly in the middle of a run."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    signal.signal(signal.SIGTERM, _on_term)
    threading.Thread(target=_watch, args=(leash,), daemon=True).start()


def _watch(leash: Connection) -> None:
    with suppress(EOFError, OSError):
        leash.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)


def _on_term(_signal: int, _frame: FrameType | None) -> None:
    if not _working.is_set():
        os._exit(_STOPPED)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    last = threading.Timer(_CLEANUP_SECONDS, os._exit, (_STOPPED,))
    last.daemon = True
    last.start()
    raise _Stopped


def work(job: Prepared, results: str | Path, options: Mapping[str, Any]) -> Outcome:
    """Run what was prepared, in a worker."""
    from ctxlab.workbench import run  # noqa: PLC0415

    try:
        _working.set()
        return run.execute(job, results, **options)
    except _Stopped:
        # The pool would take the exception for the task's, and let this process live.
        os._exit(_STOPPED)
    finally:
        _working.clear()
