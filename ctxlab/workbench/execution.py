"""One notebook through one kernel: the executed notebook, and why it failed if it did.

Importing this module imports papermill (1 s): `run` does so when something runs.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxlab.workbench import light_jsonschema  # noqa: F401  before nbformat imports jsonschema

# isort: split
import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.engines import papermill_engines
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from ctxlab import project
from ctxlab.masking import masked
from ctxlab.workbench import engines
from ctxlab.workbench.kernel import Session
from ctxlab.workbench.manifest import Failure
from ctxlab.workbench.parameters import OUTPUT_DIR
from ctxlab.workbench.prepare import Prepared, output_dir
from ctxlab.workbench.results import NEEDS_VARIABLE
from ctxlab.workbench.runlog import RunLog
from ctxlab.workbench.sockets import socket_folder

_LONGEST_MESSAGE = 2_000
_KERNEL_OUTPUT = 100_000


@dataclass(frozen=True)
class Executed:
    """A notebook that ran."""

    notebook: Any
    """nbformat's node, with outputs."""
    failure: Failure | None


def execute(  # noqa: PLR0913  what a run is told
    job: Prepared,
    folder: Path,
    results: Path,
    log: RunLog,
    *,
    engine: str = engines.DEFAULT,
    timeout: float | None = None,
    on_cell: Callable[[int, int], object] | None = None,
) -> Executed:
    """Run the notebook in a fresh kernel; `folder` is its output_dir.

    `timeout` is in seconds and for the whole run. `on_cell` is called with the number of cells done
    and of all cells. A notebook that fails is no exception here, an interrupt is.
    """
    notebook = _with_parameters(job, folder)
    begun: list[int] = []
    with socket_folder() as short:
        session = _session(job, Path(short), results, timeout)
        session.on_cell = _counting(begun, len(notebook.cells), log, on_cell)
        with session.log, log.gathering():
            raised = _engine_run(notebook, job.notebook.kernel, engine, session)
        output = (Path(short) / "kernel.log").read_bytes()[-_KERNEL_OUTPUT:]
        log.block("the kernel process said:", output.decode(errors="replace"))
    failure = _failure(notebook, begun, raised, session, timeout)
    return Executed(notebook, failure)


def unfinished(job: Prepared, failure: Failure) -> Executed:
    """The notebook as it was, for a run of which nothing came back."""
    return Executed(nbformat.reads(job.notebook.text, as_version=4), failure)


def _with_parameters(job: Prepared, folder: Path) -> Any:
    node = load_notebook_node(nbformat.reads(job.notebook.text, as_version=4))
    values = job.passed | {OUTPUT_DIR: output_dir(folder)}
    return parameterize_notebook(node, values, kernel_name=job.notebook.kernel, language="python")


def _session(job: Prepared, short: Path, results: Path, timeout: float | None) -> Session:
    needs = {entry: str(path) for entry, path in job.needs.items()}
    return Session(
        folder=short,
        cwd=project.root(),
        environment={
            "CTXLAB_ROOT": str(project.root()),
            "CTXLAB_RESULTS": str(results),
            NEEDS_VARIABLE: json.dumps(needs),
        },
        log=(short / "kernel.log").open("wb"),
        on_cell=lambda _: None,
        deadline=time.monotonic() + timeout if timeout else None,
    )


def _counting(
    begun: list[int], cells: int, log: RunLog, on_cell: Callable[[int, int], object] | None
) -> Callable[[int], None]:
    def begin(index: int) -> None:
        begun.append(index)
        log.line(f"cell {index + 1} of {cells}")
        if on_cell:
            on_cell(index, cells)

    return begin


def _engine_run(notebook: Any, kernel: str, engine: str, session: Session) -> Exception | None:
    name = engines.register(engine)
    try:
        papermill_engines.execute_notebook_with_engine(
            name, notebook, kernel, output_path=None, progress_bar=False, session=session
        )
    except Exception as error:  # noqa: BLE001  whatever the kernel does, the run is kept and told
        return error
    return None


def _failure(
    notebook: Any,
    begun: list[int],
    raised: Exception | None,
    session: Session,
    timeout: float | None,
) -> Failure | None:
    cell = _number(notebook, begun[-1]) if begun else None
    if raised is None:
        return _cell_failure(notebook, cell)
    if isinstance(raised, CellTimeoutError):
        return Failure("TimeoutError", f"the run took longer than {timeout:g} s", cell)
    message = str(raised) or "no message"
    if isinstance(raised, DeadKernelError):
        message = f"the kernel died{_told_exit(session.exit_code)}"
    return Failure(type(raised).__name__, _short(message), cell)


def _number(notebook: Any, index: int) -> int | None:
    """The n of `In [n]`; a cell that never answered gets the one it would have had."""
    cell = notebook.cells[index]
    if cell.cell_type != "code":
        return None
    if cell.execution_count is None:
        before = [other.get("execution_count") or 0 for other in notebook.cells[:index]]
        cell.execution_count = max(before, default=0) + 1
    number: int = cell.execution_count
    return number


def _cell_failure(notebook: Any, cell: int | None) -> Failure | None:
    for each in notebook.cells:
        if each.metadata.get("papermill", {}).get("exception") is True:
            errors = [output for output in each.outputs if output.output_type == "error"]
            if errors:
                return Failure(errors[-1].ename, _short(errors[-1].evalue), cell)
            return Failure("CellExecutionError", "the cell failed without a word", cell)
    return None


def _told_exit(code: int | None) -> str:
    if code is None:
        return ""
    if code >= 0:
        return f": it exited with code {code}"
    name = signal.Signals(-code).name
    return f": {name}" + (", out of memory?" if -code == signal.SIGKILL else "")


def _short(message: str) -> str:
    text = masked(message)
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"
