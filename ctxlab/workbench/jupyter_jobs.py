"""Jupyter Scheduler over our runner: what JupyterLab's own menu schedules becomes a run of ours.

    jupyter lab --Scheduler.execution_manager_class=ctxlab.workbench.jupyter_jobs.RunnerJobs

By itself the extension executes a copy with nbconvert and pastes parameters in as source: no
manifest, no report, no check of a parameter. Needs the extra `scheduler`; `make lab` sets it up.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from jupyter_scheduler.executors import DefaultExecutionManager

from ctxlab.errors import RunFailed
from ctxlab.workbench import stores
from ctxlab.workbench.notebook import default_entry, read_notebook
from ctxlab.workbench.parameters import parse_assignments
from ctxlab.workbench.run import run_notebook

_OUTPUTS = {"ipynb": "notebook.ipynb", "html": "report.html"}


class RunnerJobs(DefaultExecutionManager):  # type: ignore[misc]  # jupyter_scheduler has no types
    """Executes a job as `ctxlab run` would; the job's files are our notebook and report."""

    def execute(self) -> None:
        """Run the job's notebook as it was when the job was made.

        Raises:
            CtxlabError: a parameter was refused, or the run failed; the job shows the line.
        """
        job = self.model
        notebook = _unchanged(Path(self.staging_paths["input"]), Path(self.root_dir))
        declared = read_notebook(notebook).parameters
        passed = parse_assignments(declared, map(_assignment, (job.parameters or {}).items()))
        outcome = run_notebook(notebook, passed, entry=default_entry(job.input_filename))
        if outcome.path is not None:
            self._hand_over(stores.at().fetch(outcome.path), job.output_formats or [])
        if outcome.status == "failed":
            raise RunFailed(f"{outcome.reason}; report: {outcome.path}/report.html")

    def _hand_over(self, run: Path, formats: list[str]) -> None:
        for wanted in formats:
            made = run / _OUTPUTS.get(wanted, "")
            if made.is_file():
                shutil.copyfile(made, self.staging_paths[wanted])


def _unchanged(staged: Path, root: Path) -> Path:
    """The notebook itself where it is still what was staged, so that its run is named after it."""
    content = staged.read_bytes()
    candidates = [root / "notebooks" / staged.name, root / staged.name]
    same = (path for path in candidates if path.is_file() and path.read_bytes() == content)
    return next(same, staged)


def _assignment(item: tuple[str, Any]) -> str:
    """`name=value` as `-p` takes it: text as written, the rest JSON."""
    name, value = item
    return f"{name}={value if isinstance(value, str) else json.dumps(value)}"
