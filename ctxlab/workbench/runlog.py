"""A run's log: what the runner, papermill and the kernel process said, secrets masked."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ctxlab.masking import masked

FILE = "log.txt"

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LOGGERS = ("papermill", "traitlets")


class RunLog:
    """Lines with their time, written as they come."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.line("started")

    def line(self, text: str) -> None:
        """One thing that happened."""
        self._append(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text.rstrip()}\n")

    def block(self, title: str, text: str) -> None:
        """A text of several lines, such as a traceback; nothing when it is empty."""
        if text.strip():
            self.line(title)
            self._append("".join(f"    {line}\n" for line in _ANSI.sub("", text).splitlines()))

    def _append(self, text: str) -> None:
        with (
            suppress(FileNotFoundError),  # the notebook removed its output_dir
            self._path.open("a", encoding="utf-8", errors="backslashreplace") as file,
        ):
            file.write(masked(text))

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Take what papermill and nbclient log; without us it would go to the terminal."""
        handler = _Handler(self)
        loggers = [logging.getLogger(name) for name in _LOGGERS]
        before = [logger.propagate for logger in loggers]
        for logger in loggers:
            logger.addHandler(handler)
            logger.propagate = False
        try:
            yield
        finally:
            for logger, propagate in zip(loggers, before, strict=True):
                logger.removeHandler(handler)
                logger.propagate = propagate


class _Handler(logging.Handler):
    def __init__(self, log: RunLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.block(f"{record.name}:", record.getMessage())
