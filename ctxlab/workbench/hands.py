"""In a dask worker: the processes that run its notebooks, see `hand`, by the batch they serve.

The workers of one host share the `hand_server` of their batch: whoever needs it first starts it.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from hashlib import sha256
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ctxlab.workbench.hand_server import FORKS
from ctxlab.workbench.sockets import short_tmp
from ctxlab.workbench.warm_parent import ADDRESS

_END_SECONDS = 25


class _Hand:
    def __init__(self, batch: str, *, forks: bool) -> None:
        ours, its = socket.socketpair()
        held, self._leash = Pipe(duplex=False)
        self._life, alive = Pipe(duplex=False)
        with its, held, alive:
            _forked(batch, [its.fileno(), held.fileno(), alive.fileno()], forks=forks)
        self._calls = Connection(ours.detach())
        with suppress(OSError):  # it died already: the call sees it
            environment = {name: os.environ[name] for name in os.environ if name != ADDRESS}
            self._calls.send((environment, str(Path.cwd())))

    @property
    def alive(self) -> bool:
        # Nothing is ever written there: it ends with the hand.
        return not self._life.closed and not self._life.poll()

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            self._calls.send((function, arguments))
            result, error = self._calls.recv()
        except (EOFError, OSError):
            self.end()
            raise BrokenExecutor("the process that ran it died") from None
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """End it, in the middle of a run too; returns when it is gone."""
        self._leash.close()
        with suppress(OSError):
            self._life.poll(_END_SECONDS)
            self._life.close()
            self._calls.close()


_lock = threading.Lock()
_idle: dict[str, list[_Hand]] = defaultdict(list)
_busy: dict[str, list[_Hand]] = defaultdict(list)
_servers: dict[str, socket.socket] = {}
_started: dict[str, subprocess.Popen[bytes]] = {}


def prepare(batch: str, hands: int, *, forks: bool) -> None:
    """Start this many, so that they are warm when the first call comes."""
    with _lock:
        _idle[batch] += [_Hand(batch, forks=forks) for _ in range(hands - len(_idle[batch]))]


def call(batch: str, forks: bool, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: FBT001  dask passes it on
    """Call a function in a process of the batch's.

    Raises:
        BrokenExecutor: that process died, or was ended.
    """
    hand = _taken(batch, forks=forks)
    try:
        return hand.call(function, arguments)
    finally:
        with _lock:
            if hand in _busy[batch]:  # else the batch was ended meanwhile
                _busy[batch].remove(hand)
                _idle[batch].append(hand)


def _taken(batch: str, *, forks: bool) -> _Hand:
    with _lock:
        while _idle[batch]:
            hand = _idle[batch].pop()
            if hand.alive:
                break
            hand.end()
        else:
            hand = _Hand(batch, forks=forks)
        _busy[batch].append(hand)
    return hand


def end(batch: str) -> None:
    """End the batch's processes, in the middle of a run too; returns when they are gone."""
    with _lock:
        hands = [*_idle.pop(batch, []), *_busy.pop(batch, [])]
        server, started = _servers.pop(batch, None), _started.pop(batch, None)
    threads = [threading.Thread(target=hand.end) for hand in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if server:
        server.close()
    if started:
        with suppress(subprocess.TimeoutExpired):  # another worker is not done with it
            started.wait(_END_SECONDS)


def _forked(batch: str, descriptors: list[int], *, forks: bool) -> None:
    """Ask for a hand that has these descriptors."""
    try:
        socket.send_fds(_servers[batch], [b"1"], descriptors)
    except (KeyError, OSError):  # there was none yet, or it died
        _servers[batch] = _reached(batch, forks=forks)
        socket.send_fds(_servers[batch], [b"1"], descriptors)


def _reached(batch: str, *, forks: bool) -> socket.socket:
    """A connection to the host's server of a batch, which is started where there is none."""
    folder = _folder()
    name = sha256(repr((batch, socket.gethostname(), sys.executable)).encode()).hexdigest()[:16]
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(folder / name))
        except (FileNotFoundError, ConnectionRefusedError):
            (folder / name).unlink(missing_ok=True)
            _started[batch] = _start(folder / name, forks=forks)
            server.connect(str(folder / name))
    return server


def _start(path: Path, *, forks: bool) -> subprocess.Popen[bytes]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        module = [sys.executable, "-P", "-m", "ctxlab.workbench.hand_server"]
        return subprocess.Popen(
            [*module, str(listener.fileno()), *([FORKS] if forks else [])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # whoever reads the worker's would wait for the server
            pass_fds=[listener.fileno()],
            env={name: os.environ[name] for name in os.environ if name != ADDRESS},
            start_new_session=True,
        )


def _folder() -> Path:
    """Where this user's servers are found, and nobody else's."""
    folder = Path(short_tmp() or tempfile.gettempdir()) / f"ctxlab-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is open to others: remove it")
    return folder
