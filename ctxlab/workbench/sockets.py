"""Folders for sockets: their paths are short, and that is all there is to them."""

from __future__ import annotations

import tempfile

_LONGEST = 60  # a socket's path has at most 104 bytes on macOS, 108 on Linux


def socket_folder() -> tempfile.TemporaryDirectory[str]:
    """A new temporary folder whose path is short, wherever TMPDIR points."""
    return tempfile.TemporaryDirectory(
        prefix="ctxlab-", dir=short_tmp(), ignore_cleanup_errors=True
    )


def short_tmp() -> str | None:
    """Where temporary files go whose paths are short; None where TMPDIR does."""
    return "/tmp" if len(tempfile.gettempdir()) > _LONGEST else None  # noqa: S108  folders of ours
