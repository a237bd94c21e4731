"""The directory that a run is written to: a temporary sibling, moved into place in one step.

    results/<entry>/.<run-id>.tmp  →  results/<entry>/<run-id>

Its owner holds a lock on the temporary directory while it lives, so that a directory left by a
killed run is told from one that is being written: the lock of a dead process is free.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ctxlab.errors import UsageError

_SUFFIX = ".tmp"
_ID_TIME = "%Y%m%dT%H%M%SZ"
# Locks on a directory of a network file system may not be had: its runs are then never cleaned up.
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EINVAL, errno.ENOTSUP)


@dataclass
class RunDirectory:
    """A run being written."""

    run_id: str
    path: Path
    """Where it is written; where it stands, once it is kept."""
    _lock: int = field(repr=False)

    @property
    def stands(self) -> bool:
        """Whether it is still the directory that was made: a notebook may remove it."""
        try:
            return os.path.samestat(self.path.lstat(), os.fstat(self._lock))
        except OSError:
            return False

    def make_again(self) -> None:
        """An empty one, in the place of whatever stands there."""
        if self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path)
        else:
            self.path.unlink(missing_ok=True)
        self.path.mkdir(parents=True)

    def keep(self, move: Callable[[Path, Path], object] = Path.rename) -> Path:
        """Move it into place: from now on there is a run."""
        final = self.path.parent / self.run_id
        move(self.path, final)
        self.path = final
        return final


@contextmanager
def writing(
    results: Path, entry: str, started: datetime, inputs_sha256: str
) -> Iterator[RunDirectory]:
    """A directory to write a run into; unless it is kept, nothing of it stays.

    Raises:
        UsageError: the results directory cannot be written.
    """
    try:
        (results / entry).mkdir(parents=True, exist_ok=True)
        run = _reserve(results / entry, started, inputs_sha256)
    except OSError as error:
        raise UsageError(
            f"the results directory {results} cannot be written: {error.strerror or error}"
        ) from None
    temporary = run.path
    try:
        yield run
    finally:
        if run.path == temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        os.close(run._lock)  # noqa: SLF001  the two are one thing


def _reserve(folder: Path, started: datetime, inputs_sha256: str) -> RunDirectory:
    """A run id that no other run has: two equal ones of one second take seconds of their own."""
    while True:
        run_id = f"{started.astimezone(UTC):{_ID_TIME}}-{inputs_sha256[:8]}"
        path = folder / f".{run_id}{_SUFFIX}"
        with suppress(FileExistsError):
            path.mkdir()
            lock = _lock(path)
            if lock is not None and not (folder / run_id).exists():
                return RunDirectory(run_id, path, lock)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)
        started += timedelta(seconds=1)


def _lock(path: Path) -> int | None:
    """Hold the directory; None when somebody else does, or took it away."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists() and os.path.samestat(path.stat(), os.fstat(descriptor)):
            return descriptor
    except BlockingIOError:
        pass
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return descriptor
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def clean_stale(results: Path) -> list[Path]:
    """Remove what killed runs left behind; those that are being written stay."""
    return [path for path in sorted(results.glob(f"*/.*{_SUFFIX}")) if _removed(path)]


def _removed(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)  # while we hold it nobody takes it
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
