"""A Redis server of the test's own, and processes that write into a store."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import need_service


def wait_until_it_listens(path: str, seconds: float = 20) -> None:
    """The file is there before anyone listens on it."""
    ends = time.monotonic() + seconds
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                return client.connect(path)
            except OSError:
                if time.monotonic() > ends:
                    raise
        time.sleep(0.01)


@contextmanager
def redis_server() -> Iterator[str]:
    """The url of a server that ends with the test; skips where redis-server is not installed."""
    program = shutil.which("redis-server")
    need_service(program, "redis-server is not installed")
    assert program
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        path = str(Path(folder, "s"))
        options = ["--port", "0", "--unixsocket", path, "--save", "", "--dir", folder]
        with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
            try:
                wait_until_it_listens(path)
                yield f"unix://{path}"
            finally:
                server.terminate()
