"""Resources in one SQLite file, for several threads and processes at a time.

Each resource is one row, written in one transaction of a write-ahead log: a process that is killed
while it writes leaves the row whole or absent. A loss of power may cost the last rows. The log
needs a local file system. The file is readable by its owner alone: tool output may hold secrets.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxlab.errors import StoreError, UsageError
from ctxlab.truncation.storages.base import TOMBSTONE_SECONDS, Found, Lifetime

_WAIT_SECONDS = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    key TEXT PRIMARY KEY, header TEXT NOT NULL, content BLOB, expires REAL
);
CREATE INDEX IF NOT EXISTS resources_expires ON resources (expires) WHERE expires IS NOT NULL;
"""


def default_path() -> Path:
    """`ctxlab/resources.sqlite` in the user's cache directory."""
    told = os.environ.get("XDG_CACHE_HOME")
    return (Path(told) if told else Path.home() / ".cache") / "ctxlab" / "resources.sqlite"


class SqliteStorage:
    """A file that is made when it is not there."""

    def __init__(self, path: str | Path | None = None) -> None:
        """`path` is by default `default_path()`.

        Raises:
            UsageError: a path that names no file.
            StoreError: a file that cannot be written, or is no SQLite database.
        """
        if str(path).startswith(":memory:") or str(path) == "":
            raise UsageError("SqliteStorage needs a file; MemoryStorage keeps resources in memory")
        self.path = default_path() if path is None else Path(path).expanduser().absolute()
        self._local = threading.local()
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection()

    def add(self, key: str, header: str, content: bytes, lifetime: Lifetime | None) -> bool:
        """See `Storage`."""
        with self._told():
            row = (key, header, content, None if lifetime is None else lifetime.ends)
            query = "INSERT OR IGNORE INTO resources VALUES (?, ?, ?, ?)"
            return self._connection().execute(query, row).rowcount == 1

    def read(self, key: str) -> Found | None:
        """See `Storage`."""
        with self._told():
            query = "SELECT header, content FROM resources WHERE key = ?"
            found: Found | None = self._connection().execute(query, (key,)).fetchone()
            return found

    def sweep(self, now: float) -> None:
        """See `Storage`."""
        with self._told():
            dead = (now - TOMBSTONE_SECONDS,)
            self._connection().execute("DELETE FROM resources WHERE expires <= ?", dead)
            query = "UPDATE resources SET content = NULL WHERE expires <= ? AND content IS NOT NULL"
            self._connection().execute(query, (now,))

    def _connection(self) -> sqlite3.Connection:
        """This thread's own; a forked process must not touch its parent's."""
        if getattr(self._local, "pid", None) != os.getpid():
            # The parent's connection stays referenced: closing it here would disturb the parent.
            self._local.inherited = getattr(self._local, "connection", None)
            self._local.connection = _connected(self.path)
            self._local.pid = os.getpid()
        connection: sqlite3.Connection = self._local.connection
        return connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self.path}: {error}") from error


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    ends = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            # Processes that open a new file together: the change of mode does not wait by itself.
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(0.01)
        else:
            return connection
