"""What a batch tells while it runs: a bar on a terminal, plain lines in a log.

`Watch` itself is silent, which is what a caller in Python wants.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import IO

from ctxlab.workbench.outcome import Outcome

Cells = Mapping[str, tuple[int, int]]
"""Entry → cells done, cells."""


class Watch:
    """Is told what happens, and says nothing."""

    def started(self, entry: str) -> None:
        """A run begins, or begins anew."""

    def looks(self, cells: Cells) -> None:
        """How far the runs are; called a few times a second."""

    def ended(self, outcome: Outcome) -> None:
        """An entry has its outcome."""

    def close(self) -> None:
        """Nothing more will be told."""


class Lines(Watch):
    """A line for each thing that happens, with its time."""

    def __init__(self, entries: int, stream: IO[str] | None = None) -> None:
        self._entries, self._ended = entries, 0
        self._stream = stream or sys.stderr

    def started(self, entry: str) -> None:
        """Say so."""
        self._say(f"{entry} started")

    def ended(self, outcome: Outcome) -> None:
        """Say what became of it."""
        self._ended += 1
        self._say(f"{told(outcome)} ({self._ended} of {self._entries})")

    def _say(self, text: str) -> None:
        self._stream.write(f"{time.strftime('%H:%M:%S')} {text}\n")
        self._stream.flush()


def told(outcome: Outcome) -> str:
    """An outcome in one line."""
    took = f" in {outcome.seconds:.1f} s" if outcome.seconds else ""
    why = f": {outcome.reason}" if outcome.reason else ""
    return f"{outcome.entry} {outcome.status}{took}{why}"


class Bar(Watch):
    """A bar for the batch and one for each run that is under way; they vanish at the end."""

    def __init__(self, entries: int) -> None:
        from rich.console import Console  # noqa: PLC0415  0.1 s that a log does not need
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TaskID,
            TimeElapsedColumn,
        )

        self._bars = Progress(
            "{task.description}",
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            "{task.fields[unit]}",
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._all = self._bars.add_task("batch", total=entries, unit="runs")
        self._runs: dict[str, TaskID] = {}
        self._bars.start()

    def started(self, entry: str) -> None:
        """A bar of its own."""
        self._drop(entry)
        self._runs[entry] = self._bars.add_task(entry, total=None, unit="cells")

    def looks(self, cells: Cells) -> None:
        """Move the bars."""
        for entry, (done, total) in cells.items():
            if entry in self._runs:
                self._bars.update(self._runs[entry], completed=done, total=total)

    def ended(self, outcome: Outcome) -> None:
        """A line that stays, in the place of the bar."""
        self._drop(outcome.entry)
        self._bars.console.print(told(outcome), highlight=False, markup=False)
        self._bars.advance(self._all)

    def close(self) -> None:
        """Take the bars away."""
        self._bars.stop()

    def _drop(self, entry: str) -> None:
        if entry in self._runs:
            self._bars.remove_task(self._runs.pop(entry))


def watching(entries: int) -> Watch:
    """Bars where stderr is a terminal, lines where it is not."""
    return Bar(entries) if sys.stderr.isatty() else Lines(entries)
