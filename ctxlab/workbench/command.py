"""What the verbs `run` and `batch` do around a run: watch it, bring the index up to date."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from ctxlab import project
from ctxlab.errors import CtxlabError, RunFailed
from ctxlab.workbench import stores
from ctxlab.workbench.batch import run_batch
from ctxlab.workbench.notebook import Notebook, default_entry, read_notebook
from ctxlab.workbench.outcome import Outcome
from ctxlab.workbench.parameters import OUTPUT_DIR, Parameter, parse_assignments
from ctxlab.workbench.plan import FILE, read_plan, step_beside
from ctxlab.workbench.run import run_notebook
from ctxlab.workbench.telling import aligned
from ctxlab.workbench.watch import watching


def read(notebook: Path, assignments: Iterable[str]) -> tuple[Notebook, dict[str, Any]]:
    """The notebook, and the values of `-p name=value` with its types.

    Raises:
        InputError, UsageError: see `read_notebook` and `parse_assignments`.
    """
    found = read_notebook(notebook)
    return found, parse_assignments(found.parameters, assignments)


def parameters_text(declared: Mapping[str, Parameter]) -> str:
    """What a notebook may be passed."""
    rows = [["parameter", "type", "default", "meaning"]]
    rows += [
        [name, each.annotation, json.dumps(each.default, ensure_ascii=False), each.meaning]
        for name, each in declared.items()
        if name != OUTPUT_DIR
    ]
    return aligned(rows)


def run(
    notebook: Notebook,
    passed: dict[str, Any],
    *,
    entry: str | None,
    needs: Sequence[str] | None,
    results: str | None,
    **options: Any,
) -> Outcome:
    """Run one notebook and bring the index up to date; see `run_notebook`."""
    name = entry or default_entry(notebook.path)
    planned = step_beside(notebook.path, name)
    wanted, partial = (planned.needs, planned.partial) if needs is None else (needs, False)
    watch = watching(1)
    watch.started(name)
    try:
        outcome = run_notebook(
            notebook, passed, entry=name, needs=wanted, partial=partial, results=results,
            on_cell=lambda *cell: watch.looks({name: cell}), **options,
        )  # fmt: skip
        watch.ended(outcome)
    finally:
        watch.close()
    _rebuild(results)
    return outcome


def report_of(notebook: Path, assignments: Iterable[str], target: Path) -> Path:
    """Run a notebook aside and keep its report alone, without links to files that are gone.

    Args:
        notebook: the .ipynb file.
        assignments: `name=value` for its parameters.
        target: the file to write; one that is there is replaced.

    Raises:
        RunFailed: the notebook failed, or its report could not be made.
    """
    from ctxlab.workbench.pages import write_page  # noqa: PLC0415  jinja2 and all that follows
    from ctxlab.workbench.report.document import report  # noqa: PLC0415  as above

    found, passed = read(notebook, assignments)
    with ended_by_signals(), TemporaryDirectory(prefix="ctxlab-") as folder:
        outcome = run(found, passed, entry=None, needs=(), results=folder)
        if outcome.report is None or not outcome.well:
            raise RunFailed(f"{outcome.entry}: {outcome.reason or 'no report could be made'}")
        write_page(target, report(outcome.report.parent, alone=True))
    return target


def batch(plan: Path | None, *, results: str | None, **options: Any) -> list[Outcome]:
    """Run a plan and bring the index up to date; see `run_batch`."""
    read = read_plan(plan or project.root() / "notebooks" / FILE)
    watch = watching(len(read.steps))
    try:
        outcomes = run_batch(read, results=results, watch=watch, **options)
    finally:
        watch.close()
    _rebuild(results)
    return outcomes


def _rebuild(results: str | None) -> None:
    """The index is derived from the runs: that it could not be written fails none of them."""
    from ctxlab.workbench import index  # noqa: PLC0415  when something ran

    try:
        index.rebuild(stores.at(results))
    except (CtxlabError, OSError) as error:
        sys.stderr.write(f"ctxlab: the index was not rebuilt: {error}\n")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end a run as Ctrl-C does: nothing half-written, no kernel left.

    The exit code is 128 + the signal's number, as a shell has it.
    """
    before = {each: signal.signal(each, _exit) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
