"""Which run is meant: what a person writes on the command line, as a run directory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import results, stores
from ctxlab.workbench.baseline import baseline as accepted_run
from ctxlab.workbench.baseline import entries_with_baseline
from ctxlab.workbench.manifest import FILE
from ctxlab.workbench.results import Run
from ctxlab.workbench.stores import Store


def run_directory(text: str, kept: str | Path | None = None) -> Path:
    """The directory of a path, `<entry>/<run-id>`, `baseline/<entry>`, or an entry's newest run.

    `kept` says where results are kept, see `stores.at`.

    Raises:
        InputError: there is no such run.
    """
    return run_directories([text], kept)[0]


def run_directories(texts: Iterable[str], kept: str | Path | None = None) -> list[Path]:
    """The same for several."""
    store = stores.at(kept).refresh()
    return [_run_directory(text, store) for text in texts]


def _run_directory(text: str, store: Store) -> Path:
    folder = store.folder
    if (Path(text) / FILE).is_file():
        return Path(text)
    if (folder / text / FILE).is_file():
        return store.fetch(folder / text)
    newest = results.newest(text, folder)
    if newest is not None:
        return store.fetch(newest.path)
    there = ", ".join(results.entries(folder)) or "none"
    raise InputError(f"no run {text!r}: a run directory, ENTRY/RUN-ID or an entry ({there})")


def pairs(
    named: list[str], kept: str | Path | None = None, *, baseline: bool = False
) -> list[tuple[Path, Path]]:
    """The run directories to compare, before and after.

    Two runs; or the newest two of one entry; or, with `baseline`, entries and their baselines.

    Raises:
        UsageError: without `baseline`, none or more than two are named.
        InputError: see `run_directory`, `newest_two` and `against_baseline`.
    """
    if baseline:
        return against_baseline(named, kept)
    match named:
        case [entry]:
            return [newest_two(entry, kept)]
        case [before, after]:
            found = run_directories((before, after), kept)
            return [(found[0], found[1])]
    raise UsageError("name two runs, BEFORE AFTER, or one ENTRY; or compare with --baseline")


def newest_two(entry: str, kept: str | Path | None = None) -> tuple[Path, Path]:
    """The entry's newest run and before it the one before, whatever became of them.

    Raises:
        InputError: it is no entry, or has one run alone.
    """
    store = stores.at(kept).refresh()
    found = results.runs(entry, store.folder)
    if not found:
        there = ", ".join(results.entries(store.folder)) or "none"
        raise InputError(f"no entry {entry!r} has runs (there are {there}); or name two runs")
    if len(found) == 1:
        raise InputError(
            f"the entry {entry!r} has one run alone; --baseline holds it against its baseline"
        )
    return store.fetch(found[-2].path), store.fetch(found[-1].path)


def planned(plan: Path, kept: str | Path | None = None) -> list[tuple[Path, Path]]:
    """Baseline and run of each step of a plan.

    Raises:
        InputError: a step has no baseline; see `planned_runs` as well.
    """
    from ctxlab.workbench.planned import planned_runs  # noqa: PLC0415  notebooks are read

    store = stores.at(kept).refresh()
    return [
        (store.fetch(_accepted(run.entry, store).path), store.fetch(run.path))
        for run in planned_runs(plan, store.folder)
    ]


def against_baseline(entries: list[str], kept: str | Path | None = None) -> list[tuple[Path, Path]]:
    """Baseline and newest run of each entry; of all that have both when none is named.

    Raises:
        InputError: a named entry that has no baseline, or no run; or no entry has both.
    """
    store = stores.at(kept).refresh()
    folder, pairs = store.folder, []
    both = {*entries_with_baseline(folder)} & {*results.entries(folder)}
    for entry in entries or sorted(both):
        accepted, newest = _accepted(entry, store), results.newest(entry, folder)
        if newest is None:
            raise InputError(f"the entry {entry!r} has no run in {store}")
        pairs.append((store.fetch(accepted.path), store.fetch(newest.path)))
    if not pairs:
        raise InputError("no entry has a run and a baseline; `ctxlab baseline` accepts runs")
    return pairs


def _accepted(entry: str, store: Store) -> Run:
    found = accepted_run(entry, store.folder)
    if found is None:
        raise InputError(f"the entry {entry!r} has no baseline in {store}")
    return found
