"""One batch at a time over a results directory.

The lock is the system's (flock), so that it goes when its holder dies, however it dies. It is a
local one: two machines on one network directory may not see each other's.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ctxlab.errors import Locked, UsageError

FILE = ".batch.lock"


@contextmanager
def batch_lock(results: Path, told: str = "") -> Iterator[None]:
    """Hold the lock of a results directory, which is created where it is missing.

    `told` is what people call it, where it is the local copy of another.

    Raises:
        Locked: another batch holds it.
        UsageError: the directory cannot be written.
    """
    try:
        results.mkdir(parents=True, exist_ok=True)
        file = (results / FILE).open("a+", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the results directory {results} cannot be written: {error.strerror or error}"
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            where = f"{told or results} ({holder})"
            raise Locked(
                f"another batch is running over {where}; try again when it is done"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
        file.flush()
        yield
