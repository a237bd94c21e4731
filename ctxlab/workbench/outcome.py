"""What became of one entry of a batch, or of one notebook."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ctxlab.workbench import stores
from ctxlab.workbench.manifest import Failure
from ctxlab.workbench.results import Run

REPORT = "report.html"


@dataclass(frozen=True)
class Outcome:
    """What became of it, and where to look."""

    entry: str
    status: Literal["succeeded", "failed", "skipped", "not run"]
    """Skipped: the same inputs succeeded before. Not run: what it needs failed."""
    seconds: float = 0
    """From before the kernel's start until after its end; 0 where nothing ran."""
    path: Path | None = None
    """The run directory; of a skipped entry the earlier run's; None where there is none."""
    error: Failure | None = None
    reason: str = ""
    """In words, where it did not succeed."""

    @property
    def well(self) -> bool:
        """Whether there is a successful run of these inputs now."""
        return self.status in ("succeeded", "skipped")

    @property
    def report(self) -> Path | None:
        """The run's report, where there is one."""
        file = self.path / REPORT if self.path else None
        return file if file and stores.of(file.parent).has(file) else None

    def to_json(self) -> dict[str, Any]:
        """For scripts: paths as text, the run's id beside them."""
        return asdict(self) | {
            "path": _told(self.path),
            "report": _told(self.report),
            "run_id": self.path.name if self.path else None,
        }


def _told(path: Path | None) -> str | None:
    return stores.of(path).told(path) if path else None


def skipped(run: Run) -> Outcome:
    """The outcome where `run` had the same inputs and succeeded."""
    return Outcome(run.entry, "skipped", path=run.path, reason="the same inputs succeeded before")
