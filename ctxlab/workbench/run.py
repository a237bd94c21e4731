"""Run one notebook into a run directory that is whole or absent.

results/<entry>/<run-id>/  manifest.json  <table>.csv  <chart>.svg  notebook.ipynb  report.html
                           log.txt
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab import project
from ctxlab.errors import RunFailed, UsageError
from ctxlab.masking import masked, masked_json
from ctxlab.workbench import engines, manifest, rundir, stores
from ctxlab.workbench.environment import environment, git, machine
from ctxlab.workbench.kernelspecs import check_kernel
from ctxlab.workbench.manifest import Failure, Manifest
from ctxlab.workbench.notebook import Notebook
from ctxlab.workbench.outcome import REPORT, Outcome, skipped
from ctxlab.workbench.prepare import Prepared, done_before, needed_runs, prepare
from ctxlab.workbench.record import SIDECAR, UNFINISHED
from ctxlab.workbench.runlog import RunLog

if TYPE_CHECKING:
    from ctxlab.workbench.execution import Executed

NOTEBOOK = "notebook.ipynb"
PROGRESS = "progress"
"""While a run is written: cells done and cells, for whoever looks on."""


@dataclass(frozen=True)
class _Recorded:
    """What the notebook recorded, from its `record.json`."""

    tables: dict[str, manifest.Table]
    charts: dict[str, manifest.Chart]
    models: list[str]
    tokenizer: str | None
    api_usage: dict[str, dict[str, int]] | None


def run_notebook(  # noqa: PLR0913  a run has as many inputs as it has
    notebook: str | Path | Notebook,
    parameters: Mapping[str, Any] | None = None,
    *,
    entry: str | None = None,
    needs: Sequence[str] = (),
    partial: bool = False,
    results: str | Path | None = None,
    engine: str = engines.DEFAULT,
    timeout: float | None = None,
    force: bool = False,
    on_cell: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Run a notebook with these parameters, unless a run with the same inputs succeeded before.

    A notebook that fails is an outcome, no exception: its run is kept.

    Args:
        notebook: the .ipynb file, or what was read of it.
        parameters: name → value; the others keep their defaults. Relative paths count from the
            project's root.
        entry: by default the notebook's name without its number.
        needs: entries whose newest successful runs the notebook reads.
        partial: those of them that have one are enough.
        results: a directory or a URL, see `stores.at`; by default `results/` of the project.
        engine: one of `engines.ENGINES`.
        timeout: seconds for the whole run.
        force: run it even if the same inputs succeeded before.
        on_cell: called with the number of cells done, and of all cells.

    Raises:
        InputError: the notebook, or what a parameter names, cannot be read.
        UsageError: a parameter, an option or the results directory is wrong.
        RunFailed: the run could not be saved, on a full disk for instance: nothing of it is left.
    """
    engines.checked_engine(engine)
    check_timeout(timeout)
    store = stores.at(results).refresh()
    folder = store.folder
    runs = needed_runs(needs, folder, partial=partial)
    job = prepare(notebook, parameters or {}, entry=entry, needs=runs)
    check_kernel(job.notebook.kernel)
    before = None if force else done_before(job, folder)
    if before:
        return skipped(before)
    store.check_writable()
    return execute(job, store.place, engine=engine, timeout=timeout, on_cell=on_cell)


def check_timeout(seconds: float | None) -> None:
    """Whether it is a time limit, or none.

    Raises:
        UsageError: it is neither.
    """
    if seconds is not None and not seconds > 0:
        raise UsageError(f"a time limit is more than 0 seconds, not {seconds:g}")


def execute(
    job: Prepared,
    results: str | Path,
    *,
    engine: str = engines.DEFAULT,
    timeout: float | None = None,
    on_cell: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Run what was prepared; see `run_notebook`."""
    from ctxlab.workbench import execution  # noqa: PLC0415  papermill: 1 s

    store = stores.at(results)
    needs = {entry: store.fetch(path) for entry, path in job.needs.items()}
    started, clock = datetime.now(UTC), time.monotonic()
    with _saving(job), rundir.writing(store.folder, job.entry, started, job.inputs_sha256) as run:
        log = RunLog(run.path)
        executed = execution.execute(
            replace(job, needs=needs), run.path, store.folder, log,
            engine=engine, timeout=timeout, on_cell=_noting(run.path, on_cell),
        )  # fmt: skip
        seconds = round(time.monotonic() - clock, 3)
        if not run.stands:
            executed, log = _removed(run, executed)
        return _keep(job, (store, run), executed, log, (started, seconds))


def _removed(run: rundir.RunDirectory, executed: Executed) -> tuple[Executed, RunLog]:
    """A run of which the notebook removed what was written: kept, and failed."""
    run.make_again()
    why = "the notebook removed its output_dir, and with it what was recorded"
    failure = executed.failure or Failure("FileNotFoundError", why, None)
    return replace(executed, failure=failure), RunLog(run.path)


def keep_failure(job: Prepared, results: str | Path, failure: Failure) -> Outcome:
    """Keep a run that never came back, with its notebook as it was.

    Raises:
        RunFailed: it could not be saved.
    """
    from ctxlab.workbench import execution  # noqa: PLC0415  papermill: 1 s

    store, started = stores.at(results), datetime.now(UTC)
    with _saving(job), rundir.writing(store.folder, job.entry, started, job.inputs_sha256) as run:
        executed = execution.unfinished(job, failure)
        return _keep(job, (store, run), executed, RunLog(run.path), (started, 0.0))


@contextmanager
def _saving(job: Prepared) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise RunFailed(
            f"{job.entry}: the run could not be saved, none of it is kept: {why}"
        ) from None


def _keep(
    job: Prepared,
    where: tuple[stores.Store, rundir.RunDirectory],
    executed: Executed,
    log: RunLog,
    timing: tuple[datetime, float],
) -> Outcome:
    """Write everything but the tables and charts, which the notebook wrote, and move it there."""
    store, run = where
    recorded, failure = _recorded(run.path, executed.failure)
    told = _manifest(job, (run.run_id, *timing), recorded, failure)
    _write(run, executed, told, log)
    path = run.keep(store.keep)
    return Outcome(job.entry, told.status, told.seconds, path, failure, _told(failure))


def _noting(
    folder: Path, on_cell: Callable[[int, int], object] | None
) -> Callable[[int, int], None]:
    def note(done: int, cells: int) -> None:
        # The notebook removed it, or put a file in its place: that is told in the end.
        with suppress(FileNotFoundError, NotADirectoryError):
            (folder / PROGRESS).write_text(f"{done} {cells}")
        if on_cell:
            on_cell(done, cells)

    return note


def _recorded(folder: Path, failure: Failure | None) -> tuple[_Recorded, Failure | None]:
    """What the notebook recorded; a record that cannot be read is a failure of the run."""
    sidecar = folder / SIDECAR
    if not sidecar.exists():
        return _Recorded({}, {}, [], None, None), failure
    try:
        notes = json.loads(sidecar.read_bytes())
        found = _Recorded(
            manifest.tables_from_json(notes["tables"]),
            manifest.charts_from_json(notes["charts"]),
            notes["models"],
            notes["tokenizer"],
            notes["api_usage"],
        )
        saved = [table.path for table in found.tables.values()]
        saved += [chart.path for chart in found.charts.values()]
        if gone := [path for path in saved if not (folder / path).is_file()]:
            raise ValueError(f"{gone[0]} is there no more")  # noqa: TRY301  told below
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        broken = Failure("InputError", f"{SIDECAR} cannot be read: {error}", None)
        return _Recorded({}, {}, [], None, None), failure or broken
    return found, failure


def _manifest(
    job: Prepared,
    ran: tuple[str, datetime, float],
    recorded: _Recorded,
    failure: Failure | None,
) -> Manifest:
    run_id, started, seconds = ran
    parameters = job.parameters
    told = (parameters.get("models") or []) if isinstance(parameters.get("models"), list) else []
    models = {*recorded.models, *told, parameters.get("model")}
    return Manifest(
        entry=job.entry,
        run_id=run_id,
        status="failed" if failure else "succeeded",
        error=failure,
        started=f"{started:%Y-%m-%dT%H:%M:%SZ}",
        seconds=seconds,
        parameters=masked_json(parameters),
        parameters_passed=masked_json(job.passed),
        notebook=manifest.Source(job.notebook.told_path, job.notebook.source_sha256),
        git=git(project.root()),
        environment=environment(),
        data=job.data,
        seed=parameters.get("seed"),
        models=sorted(model for model in models if isinstance(model, str) and model),
        tokenizer=recorded.tokenizer or parameters.get("tokenizer") or parameters.get("encoding"),
        machine=machine(),
        tables=recorded.tables,
        charts=recorded.charts,
        inputs_sha256=job.inputs_sha256,
        api_usage=recorded.api_usage,
    )


def _write(run: rundir.RunDirectory, executed: Executed, told: Manifest, log: RunLog) -> None:
    unfinished = run.path.glob(f".*{UNFINISHED}")
    for leftover in (run.path / SIDECAR, run.path / PROGRESS, *unfinished):
        leftover.unlink(missing_ok=True)
    (run.path / NOTEBOOK).write_text(_notebook_text(run, executed), encoding="utf-8")
    (run.path / manifest.FILE).write_text(told.to_json(), encoding="utf-8")
    log.block("failed:" if told.error else "", _traceback(executed))
    log.line(f"{told.status} in {told.seconds:g} s {_told(told.error)}")
    _report(run.path, log)


def _notebook_text(run: rundir.RunDirectory, executed: Executed) -> str:
    import nbformat  # noqa: PLC0415  papermill has imported it by now

    written = nbformat.from_dict(masked_json(executed.notebook))
    text: str = nbformat.writes(written)
    return text.replace(run.path.name, run.run_id) + "\n"  # where it is from now on


def _traceback(executed: Executed) -> str:
    errors = [
        "\n".join(output.traceback)
        for cell in executed.notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    return errors[-1] if executed.failure and errors else ""


def _told(failure: Failure | None) -> str:
    """The failure in one line."""
    if failure is None:
        return ""
    where = f" in In [{failure.cell}]" if failure.cell is not None else ""
    first = failure.evalue.strip().splitlines() or [""]
    return f"{failure.ename}{where}: {first[0]}"


def _report(folder: Path, log: RunLog) -> None:
    """Write the report; a report that cannot be made costs no run."""
    try:
        from ctxlab.workbench import report  # noqa: PLC0415  nbconvert: 2 s

        report.write_report(folder)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  the run is there, and its log says what is missing
        log.block("no report:", masked(f"{type(error).__name__}: {error}"))
        (folder / REPORT).unlink(missing_ok=True)
