"""A request log: JSONL that threads and processes append to without mixing lines.

Not handled here: what stands in a line (`exchange`), reading, rotation (a log that was
moved away begins anew with the next line).
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from ctxlab.sessions.model import Line

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
_MODE = 0o600  # whole conversations stand in it


class RequestLog:
    """A file that lines are appended to; nothing is opened before the first one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._told = False

    def append(self, line: bytes) -> Line | None:
        """Append one line of JSON, without its newline.

        A log that cannot be written is told once on stderr, and again only after it could: whoever
        is being recorded goes on.

        Returns:
            Where it stands; None where it could not be written.
        """
        try:
            offset = append_line(self.path, line)
        except OSError as error:
            self.tell(error.strerror or str(error))
            return None
        self._told = False
        return Line(self.path, offset, len(line))

    def tell(self, why: str) -> None:
        """Say on stderr that requests are not recorded, unless it was said already."""
        if self._told:
            return
        self._told = True
        with suppress(OSError, ValueError, AttributeError):  # there may be no stderr
            sys.stderr.write(
                f"ctxlab: requests go on, but are not recorded in {self.path}: {why}\n"
            )
            sys.stderr.flush()


def append_nothing(path: Path) -> None:
    """Make the log if it is not there.

    Raises:
        OSError: it cannot be written, or is no file.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a file that lines can be appended to", str(path))
    os.close(os.open(path, _FLAGS, _MODE))


def append_line(path: Path, line: bytes) -> int:
    """One write under a lock that holds between threads and processes.

    Behind a line that was half written when its process was killed, it starts on a line of its own;
    when the disk is full, nothing of it stays.

    Returns:
        The offset at which it begins.

    Raises:
        OSError: it could not be written.
    """
    descriptor = os.open(path, _FLAGS, _MODE)
    try:
        with suppress(OSError):  # no locks on this file system: a write that appends is still one
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # released when the descriptor is closed
        found = os.fstat(descriptor)
        if stat.S_ISFIFO(found.st_mode):  # nobody may ever read from it, and then we would wait
            raise OSError(errno.EINVAL, "Not a file that lines can be appended to")
        size = found.st_size
        whole = size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
        text = line + b"\n" if whole else b"\n" + line + b"\n"
        if os.write(descriptor, text) < len(text):
            os.ftruncate(descriptor, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return size if whole else size + 1
    finally:
        os.close(descriptor)
