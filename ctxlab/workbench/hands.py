"""In a dask worker: the processes that run its notebooks, see `hand`, by the batch they serve."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from ctxlab.workbench.hand import FORKS

_END_SECONDS = 25


class _Hand:
    def __init__(self, *, forks: bool) -> None:
        ours, its = socket.socketpair()
        with its:
            module = [sys.executable, "-P", "-m", "ctxlab.workbench.hand", str(its.fileno())]
            self._process = subprocess.Popen(
                [*module, *([FORKS] if forks else [])],
                stdin=subprocess.PIPE,
                pass_fds=[its.fileno()],
                env={name: os.environ[name] for name in os.environ if name != "CTXLAB_WARM"},
            )
        self._calls = Connection(ours.detach())

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

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
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with suppress(OSError):
            self._calls.close()


_lock = threading.Lock()
_idle: dict[str, list[_Hand]] = defaultdict(list)
_busy: dict[str, list[_Hand]] = defaultdict(list)


def prepare(batch: str, hands: int, *, forks: bool) -> None:
    """Start this many, so that they are warm when the first call comes."""
    with _lock:
        _idle[batch] += [_Hand(forks=forks) for _ in range(hands - len(_idle[batch]))]


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
            hand = _Hand(forks=forks)
        _busy[batch].append(hand)
    return hand


def end(batch: str) -> None:
    """End the batch's processes, in the middle of a run too; returns when they are gone."""
    with _lock:
        hands = [*_idle.pop(batch, []), *_busy.pop(batch, [])]
    threads = [threading.Thread(target=hand.end) for hand in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
