"""Reading results: entries, their runs, the newest of them, and a run's tables.

    results/<entry>/<run-id>/manifest.json

A directory without a manifest, or whose name is no run's, is not a run: a run is whole or absent.
`results/baseline/` holds accepted runs, no entry. Manifests are read when they are asked for.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.errors import CtxlabError, InputError, UsageError
from ctxlab.workbench import stores
from ctxlab.workbench.manifest import FILE, Manifest, read_manifest

if TYPE_CHECKING:
    import pandas as pd

NEEDS_VARIABLE = "CTXLAB_NEEDS"
"""In a kernel of ours: entry → run directory, those that the running entry needs, as JSON."""

BASELINE = "baseline"
COMPARISONS = "comparisons"
"""Beside the entries: the accepted runs, and the pages of comparisons that the index writes."""
RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")
"""UTC start and the first 8 hex of inputs_sha256: names sort by time."""


@dataclass(frozen=True)
class Run:
    """A run that is kept."""

    entry: str
    run_id: str
    path: Path

    @cached_property
    def manifest(self) -> Manifest:
        """Its manifest; InputError when it is not one."""
        return read_manifest(self.path / FILE)

    @property
    def succeeded(self) -> bool:
        """Whether it succeeded; a run whose manifest cannot be read did not."""
        try:
            return self.manifest.status == "succeeded"
        except InputError:
            return False


def entries(results: Path | None = None) -> list[str]:
    """The entries that have runs, by name."""
    folder = stores.folder(results)
    names = (path.name for path in _folders(folder) if not path.name.startswith("."))
    return sorted(
        name for name in names if name not in (BASELINE, COMPARISONS) and _run_ids(folder / name)
    )


def runs(entry: str, results: Path | None = None) -> list[Run]:
    """An entry's runs, oldest first."""
    folder = stores.folder(results) / entry
    return [Run(entry, run_id, folder / run_id) for run_id in _run_ids(folder)]


def _run_ids(folder: Path) -> list[str]:
    found = (path for path in _folders(folder) if RUN_ID.fullmatch(path.name))
    return sorted(path.name for path in found if os.path.exists(f"{path.path}/{FILE}"))  # noqa: PTH110  thousands


def _folders(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            yield from (path for path in found if path.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return


def newest(entry: str, results: Path | None = None) -> Run | None:
    """The entry's newest run, whatever became of it."""
    found = runs(entry, results)
    return found[-1] if found else None


def newest_successful(entry: str, results: Path | None = None) -> Run | None:
    """The entry's newest run that succeeded."""
    return next((run for run in reversed(runs(entry, results)) if run.succeeded), None)


def succeeded_before(entry: str, inputs_sha256: str, results: Path | None = None) -> Run | None:
    """The newest successful run of the entry with just these inputs."""
    candidates = [
        run for run in runs(entry, results) if run.run_id.endswith(f"-{inputs_sha256[:8]}")
    ]
    return next(
        (
            run
            for run in reversed(candidates)
            if run.succeeded and run.manifest.inputs_sha256 == inputs_sha256
        ),
        None,
    )


def newest_tables(entries: Iterable[str]) -> dict[str, dict[str, pd.DataFrame]]:
    """Entry → every table of its newest successful run; entries that have none are left out.

    In a notebook that our runner runs, only entries that the notebook needs are read.

    Raises:
        InputError: a table is not as its manifest says.
    """
    from ctxlab.workbench import tables  # noqa: PLC0415  `ctxlab list` reads no table

    found = {}
    for entry in entries:
        run = _to_read(entry)
        if run is not None:
            found[entry] = {
                name: tables.from_csv(run.path / table.path, table.columns)
                for name, table in run.manifest.tables.items()
            }
    return found


def load_table(entry: str, name: str) -> pd.DataFrame:
    """A table of the newest successful run of an entry.

    In a notebook that our runner runs, the entry is one that the notebook needs (`needs` in the
    plan, `--needs` on the command line): its tables are part of what makes two runs the same.

    Raises:
        InputError: no such run or table.
        UsageError: the entry is not among the needs of the run that asks.
    """
    from ctxlab.workbench import tables  # noqa: PLC0415  `ctxlab list` reads no table

    run = _to_read(entry)
    if run is None:
        raise _none_to_read(entry)
    table = run.manifest.tables.get(name)
    if table is None:
        there = ", ".join(run.manifest.tables) or "none"
        raise InputError(f"no table {name!r}; there are {there}", path=run.path)
    folder = stores.of(run.path).fetch(run.path)
    return tables.from_csv(folder / table.path, table.columns)


def _to_read(entry: str) -> Run | None:
    """The newest successful run; in a kernel of ours the one that is among what its run needs."""
    if NEEDS_VARIABLE not in os.environ:
        return newest_successful(entry)
    path = json.loads(os.environ[NEEDS_VARIABLE]).get(entry)
    return Run(entry, Path(path).name, Path(path)) if path else None


def _none_to_read(entry: str) -> CtxlabError:
    if NEEDS_VARIABLE not in os.environ:
        there = ", ".join(entries()) or "none"
        return InputError(f"no successful run of the entry {entry!r}; there are runs of {there}")
    told = ", ".join(json.loads(os.environ[NEEDS_VARIABLE])) or "none"
    return UsageError(
        f"the entry {entry!r} is not among what this run needs ({told}); "
        "name it in the plan's `needs`, or with --needs"
    )
