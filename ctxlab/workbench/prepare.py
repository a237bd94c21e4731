"""Everything about a run that is known before its kernel starts.

What is wrong with a notebook, its parameters or its inputs is refused here: no kernel has started,
and no directory is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import UsageError
from ctxlab.workbench import identity
from ctxlab.workbench.manifest import Datum
from ctxlab.workbench.notebook import Notebook, checked_entry, default_entry, read_notebook
from ctxlab.workbench.parameters import check_values, effective
from ctxlab.workbench.results import Run, newest_successful, succeeded_before


@dataclass(frozen=True)
class Prepared:
    """A run that can start, here or in another process: nothing of it is read again."""

    entry: str
    notebook: Notebook
    passed: dict[str, Any]
    """The parameters that were passed, typed."""
    parameters: dict[str, Any]
    """Every parameter's value."""
    data: list[Datum]
    needs: dict[str, Path]
    """Needed entry → the run whose tables are read."""
    inputs_sha256: str

    @property
    def live(self) -> bool:
        """Whether it calls a live API: then it is never skipped."""
        return self.parameters.get("live") is True


def prepare(
    notebook: str | Path | Notebook,
    passed: Mapping[str, Any],
    *,
    entry: str | None = None,
    needs: Sequence[Run] = (),
    known: identity.Contents | None = None,
) -> Prepared:
    """Check a notebook and its parameters, and tell what run it would be.

    `needs` are the runs whose tables it reads; `known` remembers what was hashed already.

    Raises:
        InputError: the notebook or what a path names cannot be read.
        UsageError: a parameter or the entry is wrong.
    """
    read = notebook if isinstance(notebook, Notebook) else read_notebook(notebook)
    typed = check_values(read.parameters, passed)
    parameters = effective(read.parameters, typed)
    data = identity.data(read, parameters, known)
    tables = {
        run.entry: {name: table.sha256 for name, table in run.manifest.tables.items()}
        for run in needs
    }
    return Prepared(
        checked_entry(entry) if entry else default_entry(read.path),
        read,
        typed,
        parameters,
        data,
        {run.entry: run.path for run in needs},
        identity.inputs_sha256(read, parameters, data, tables),
    )


def needed_runs(
    entries: Iterable[str], results: Path | None = None, *, partial: bool = False
) -> list[Run]:
    """The newest successful run of each entry that is needed; those that are there if `partial`.

    Raises:
        UsageError: there is none, and all are needed.
    """
    found = {entry: newest_successful(entry, results) for entry in entries}
    for entry, run in found.items():
        if run is None and not partial:
            raise UsageError(f"there is no successful run of the needed entry {entry!r}")
    return [run for run in found.values() if run is not None]


def done_before(job: Prepared, results: Path | None = None) -> Run | None:
    """The successful run that makes this one needless; a live one is never needless."""
    return None if job.live else succeeded_before(job.entry, job.inputs_sha256, results)


def output_dir(folder: Path) -> str:
    """The directory as the notebook is told it: relative to the project's root where it is inside.

    So the injected parameters name no machine's path where they need not.
    """
    root = project.root()
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
