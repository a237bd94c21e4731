"""Which run is meant: what a person writes on the command line, as a run directory."""

from __future__ import annotations

from pathlib import Path

from ctxlab import project
from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import results
from ctxlab.workbench.baseline import baseline as accepted_run
from ctxlab.workbench.baseline import entries_with_baseline
from ctxlab.workbench.manifest import FILE
from ctxlab.workbench.results import Run


def run_directory(text: str, folder: Path | None = None) -> Path:
    """The directory of a path, `<entry>/<run-id>`, `baseline/<entry>`, or an entry's newest run.

    Raises:
        InputError: there is no such run.
    """
    place = folder or project.results_dir()
    for path in (Path(text), place / text):
        if (path / FILE).is_file():
            return path
    newest = results.newest(text, folder)
    if newest is not None:
        return newest.path
    there = ", ".join(results.entries(folder)) or "none"
    raise InputError(f"no run {text!r}: a run directory, ENTRY/RUN-ID or an entry ({there})")


def pairs(
    named: list[str], folder: Path | None = None, *, baseline: bool = False
) -> list[tuple[Path, Path]]:
    """The run directories to compare, before and after: two runs, or entries and their baselines.

    Raises:
        UsageError: without `baseline`, other than two runs are named.
        InputError: see `run_directory` and `against_baseline`.
    """
    if baseline:
        return against_baseline(named, folder)
    try:
        before, after = named
    except ValueError:
        raise UsageError("two runs are compared, BEFORE AFTER; or --baseline") from None
    return [(run_directory(before, folder), run_directory(after, folder))]


def planned(plan: Path, folder: Path | None = None) -> list[tuple[Path, Path]]:
    """Baseline and run of each step of a plan.

    Raises:
        InputError: a step has no baseline; see `planned_runs` as well.
    """
    from ctxlab.workbench.planned import planned_runs  # noqa: PLC0415  notebooks are read

    return [(_accepted(run.entry, folder).path, run.path) for run in planned_runs(plan, folder)]


def against_baseline(entries: list[str], folder: Path | None = None) -> list[tuple[Path, Path]]:
    """Baseline and newest run of each entry; of all that have both when none is named.

    Raises:
        InputError: a named entry that has no baseline, or no run; or no entry has both.
    """
    named = entries or sorted({*entries_with_baseline(folder)} & {*results.entries(folder)})
    pairs = []
    for entry in named:
        accepted, newest = _accepted(entry, folder), results.newest(entry, folder)
        if newest is None:
            raise InputError(f"the entry {entry!r} has no run in {folder or 'results'}")
        pairs.append((accepted.path, newest.path))
    if not pairs:
        raise InputError("no entry has a run and a baseline; `ctxlab baseline` accepts runs")
    return pairs


def _accepted(entry: str, folder: Path | None) -> Run:
    found = accepted_run(entry, folder)
    if found is None:
        raise InputError(f"the entry {entry!r} has no baseline in {folder or 'results'}")
    return found
