"""A batch's pool on a dask.distributed cluster: the user's own, or one that starts for the batch.

Each run is given to one worker by name. dask would run it again and again where a worker died;
here the batch decides, once, and it knows which run took its worker along. A worker is used when it
sees what this process sees: results, commit, source, lock, Python. It is the extra `dask`.
"""

from __future__ import annotations

import logging
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ctxlab.errors import RunFailed, UsageError
from ctxlab.workbench import hands
from ctxlab.workbench.same import Same, difference, probed, seen_here
from ctxlab.workbench.stores import Store
from ctxlab.workbench.workers import interrupts_held

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_ADDRESS = re.compile(r"(?:tcp|tls|ucx|ws|wss)://(?:\[[^\]]+\]|[^:/\s]+):(\d{1,5})")
_LAST_PORT = 65_535
_CONNECT_SECONDS = 5
_JOIN_SECONDS = 10
_REJOIN_SECONDS = 60


@contextmanager
def on_cluster(scheduler: str | None, jobs: int, engine: str, store: Store) -> Iterator[Cluster]:
    """The cluster at an address, or one of `jobs` workers that is started here and ended.

    Raises:
        UsageError: nobody answers, dask.distributed is not installed, or a worker sees something
            else than this process.
    """
    with probed(store) as (probe, here):
        pool = Cluster(scheduler, jobs, engine)
        try:
            pool.begin(store.place, probe, here)
            yield pool
        finally:
            pool.stop()


class Cluster:
    """A pool whose workers are a cluster's; `stop` leaves the user's own cluster as it was."""

    shared_fate = False

    def __init__(self, scheduler: str | None, jobs: int, engine: str) -> None:
        """Connect to the scheduler at an address, or start `jobs` workers here.

        Raises:
            UsageError: nobody answers there, or dask.distributed is not installed.
        """
        self._hushed = _hush()
        self._local = None if scheduler else _local(jobs)
        self.address: str = scheduler or self._local.scheduler_address  # type: ignore[union-attr]  # one of the two
        try:
            self._client = _connected(self.address)
        except UsageError:
            self._end_local()
            raise
        self._batch = uuid4().hex
        self._forks = engine == "forked"
        self._asks: tuple[str | Path, str, Same] | None = None
        self._room: dict[str, int] = {}
        """Threads of the workers that may be used."""
        self._refused: set[str] = set()
        self._running: dict[Future[Any], tuple[str, Any]] = {}
        """Of what is submitted: worker and dask's own future."""

    def begin(self, place: str | Path, probe: str, here: Same) -> None:
        """Hold every worker against this process.

        Raises:
            UsageError: no worker is there, or one sees something else; it and the difference are
                named.
        """
        self._asks = (place, probe, here)
        end = time.monotonic() + _JOIN_SECONDS
        while not (room := self._asked()):
            if time.monotonic() > end:
                raise UsageError(f"no worker has joined the scheduler at {self.address}")
            time.sleep(0.1)
        for address, why in self._differences(list(room)).items():
            if why:
                raise UsageError(f"the worker {address} {why}")
        self._welcome(room)

    def slots(self) -> int:
        """How many runs there is room for now; waits where all workers are gone.

        Raises:
            RunFailed: none came back.
        """
        end = time.monotonic() + _REJOIN_SECONDS
        while not self._room:
            if time.monotonic() > end:
                raise RunFailed(f"no worker is left at the scheduler {self.address}")
            time.sleep(0.1)
            self.look()
        return sum(self._room.values())

    def executor(self) -> Executor:
        """Where to submit."""
        return _Placing(self.submit)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give it to the worker that has the most room."""
        load = Counter(worker for worker, _ in self._running.values())
        address = max(self._room, key=lambda each: self._room[each] - load[each])
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        theirs = self._client.submit(
            hands.call, self._batch, self._forks, function, *arguments,
            workers=[address], allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        self._running[future] = (address, theirs)
        theirs.add_done_callback(lambda done: _passed_on(done, future))
        future.add_done_callback(lambda done: self._running.pop(done, None))
        return future

    def look(self) -> None:
        """See which workers left, with what they ran, and which ones joined.

        Raises:
            RunFailed: the scheduler is gone.
        """
        room = self._asked()
        self._room = {address: room[address] for address in self._room if address in room}
        for future, (address, theirs) in list(self._running.items()):
            if address not in room:
                theirs.cancel()
                _settle(future, error=BrokenExecutor(f"the worker {address} died"))
        new = [each for each in room if each not in self._room and each not in self._refused]
        for address, why in self._differences(new).items() if new else ():
            if why:
                self._refused.add(address)
            else:
                self._welcome({address: room[address]})

    def renew(self) -> None:
        """Nothing to renew: a cluster loses single workers."""

    def stop(self) -> None:
        """End what is running here, in the middle too; a cluster of our own ends as well."""
        with suppress(Exception):  # a scheduler that is gone has nothing left to end
            self._client.cancel([theirs for _, theirs in self._running.values()])
            self._client.run(hands.end, self._batch, on_error="ignore")
        with suppress(Exception):
            self._client.close(timeout=_CONNECT_SECONDS)
        self._end_local()
        for logger, level in self._hushed.items():
            logger.setLevel(level)

    def _end_local(self) -> None:
        if self._local is not None:
            self._local.close(timeout=_CONNECT_SECONDS)

    def _asked(self) -> dict[str, int]:
        """Worker → threads."""
        try:
            return dict(self._client.nthreads())
        except Exception as error:  # noqa: BLE001  dask raises what its network does
            raise RunFailed(f"the scheduler at {self.address} is gone: {error}") from None

    def _differences(self, workers: list[str]) -> dict[str, str]:
        """Worker → in what it differs from this process; empty where it does not."""
        assert self._asks is not None
        place, probe, here = self._asks
        try:
            seen = self._client.run(seen_here, place, probe, workers=workers, on_error="return")
        except Exception as error:  # noqa: BLE001  the same
            raise UsageError(f"the workers at {self.address} cannot be asked: {error}") from None
        return {address: difference(here, each) for address, each in seen.items()}

    def _welcome(self, room: dict[str, int]) -> None:
        for address, threads in room.items():
            with suppress(Exception):  # it left already; the next look sees it
                self._client.run(
                    hands.prepare, self._batch, threads, workers=[address], forks=self._forks
                )
                self._room[address] = threads


class _Placing(Executor):
    def __init__(self, submit: Callable[..., Future[Any]]) -> None:
        self.submit = submit  # type: ignore[method-assign]  # all that an executor has to do here


def _passed_on(theirs: Any, future: Future[Any]) -> None:
    if theirs.status == "finished":
        _settle(future, result=theirs.result())
    else:
        error = theirs.exception() if theirs.status == "error" else None
        _settle(future, error=error or BrokenExecutor("its worker is gone"))


def _settle(future: Future[Any], result: Any = None, error: BaseException | None = None) -> None:
    with suppress(InvalidStateError):  # whoever comes first
        if error:
            future.set_exception(error)
        else:
            future.set_result(result)


def _hush() -> dict[logging.Logger, int]:
    """Let dask keep to itself what its workers do: their deaths are told here. The levels before.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import distributed  # noqa: F401, PLC0415  1 s, and an extra
    except ImportError:
        raise UsageError("a cluster needs dask.distributed: pip install 'ctxlab[dask]'") from None
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in before:
        logger.setLevel(logging.CRITICAL + 1)
    return before


def _connected(address: str) -> Client:
    from distributed import Client  # noqa: PLC0415

    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[1]) > _LAST_PORT:
        raise UsageError(f"{address!r} is no scheduler's address, such as tcp://10.0.0.5:8786")
    try:
        with warnings.catch_warnings():  # of other versions, which are told in a line
            warnings.simplefilter("ignore")
            return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise UsageError(f"no scheduler answers at {address}: {why}") from None


def _local(jobs: int) -> LocalCluster:
    from distributed import LocalCluster  # noqa: PLC0415

    with interrupts_held(), warnings.catch_warnings():  # of a port that its dashboard would like
        warnings.simplefilter("ignore")
        return LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
