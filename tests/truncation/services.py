"""A Redis server of the test's own, and processes that write into a store."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import need_service


@contextmanager
def redis_server() -> Iterator[str]:
    """The url of a server that ends with the test; skips where redis-server is not installed."""
    program = shutil.which("redis-server")
    need_service(program, "redis-server is not installed")
    assert program
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        socket = Path(folder, "s")
        options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
        with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
            try:
                for _ in range(500):
                    if socket.exists():
                        break
                    time.sleep(0.01)
                yield f"unix://{socket}"
            finally:
                server.terminate()
