"""The warm parent of forked kernels, as its owner sees it: started, found, ended (see `warm`).

It imports nothing that costs time: a batch starts it before its workers import papermill.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Self

from ctxlab.errors import RunFailed
from ctxlab.workbench.sockets import socket_folder

ADDRESS = "CTXLAB_WARM"
"""The environment variable that tells workers the address of their batch's warm parent."""
_START_SECONDS = 60


def available() -> bool:
    """Whether this machine can fork kernels."""
    return hasattr(os, "fork") and sys.platform in {"linux", "darwin"}


class WarmParent:
    """A warm parent process: `address` is the socket where it forks kernels.

    Use it as a context manager around a batch, so that its workers share one parent. It is ready
    when its first kernel is asked for: asking waits.
    """

    def __init__(self) -> None:
        self._folder = socket_folder()
        self.address = str(Path(self._folder.name) / "warm")
        self._process = _started(self.address)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def __enter__(self) -> Self:
        os.environ[ADDRESS] = self.address
        return self

    def __exit__(self, *_: object) -> None:
        os.environ.pop(ADDRESS, None)
        self.close()

    def ensure(self) -> None:
        """Start it again, at the same address, if it was killed; its kernels died with it."""
        if self._process.poll() is not None:
            Path(self.address).unlink(missing_ok=True)
            self._process = _started(self.address)

    def forget(self) -> None:
        """In a fork of its owner: it is not ours to end, and does not wait for us."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def close(self) -> None:
        """End it, and every kernel of it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


def _started(address: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ctxlab.workbench.warm", address],
        stdin=subprocess.PIPE,
        env=os.environ | {"PYTHONHASHSEED": "0"},  # as the ordinary engine's kernels have it
    )


@lru_cache(maxsize=1)
def _own_parent() -> WarmParent:
    parent = WarmParent()
    atexit.register(parent.close)
    return parent


def address() -> str:
    """Where to ask for kernels: the batch's warm parent, else one of this process's own."""
    return os.environ.get(ADDRESS) or _own_parent().address


def connect(path: str) -> socket.socket:
    """A connection to the parent at `path`; waits while it is starting.

    Raises:
        RunFailed: nobody answers there.
    """
    connection = socket.socket(socket.AF_UNIX)
    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            if time.monotonic() > end or not Path(path).parent.exists():
                raise RunFailed(f"no warm parent answers at {path}") from error
            time.sleep(0.02)
        else:
            return connection
