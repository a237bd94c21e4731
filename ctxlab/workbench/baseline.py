"""The accepted run of each entry: what later runs are held against.

    results/baseline/<entry>/   manifest.json, tables, charts

It is committed, so it holds neither notebook nor report nor log. Only `accept` moves it, each
entry's by itself; one that no plan has any more stays until `drop` is asked for by name.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import results, stores
from ctxlab.workbench.manifest import FILE
from ctxlab.workbench.results import BASELINE, Run
from ctxlab.workbench.stores import Store


def baseline(entry: str, folder: Path | None = None) -> Run | None:
    """The accepted run of an entry."""
    path = _place(entry, folder)
    if not (path / FILE).is_file():
        return None
    run = Run(entry, BASELINE, path)
    return Run(entry, run.manifest.run_id, path)


def entries_with_baseline(folder: Path | None = None) -> list[str]:
    """Entries that have an accepted run, by name."""
    place = stores.folder(folder) / BASELINE
    return sorted(path.parent.name for path in place.glob(f"*/{FILE}"))


def accept(run: Run, folder: Path | None = None) -> Path:
    """Make `run` the baseline of its entry: where it stands now.

    The old one is moved aside before and removed afterwards, so that one of them is always there.

    Raises:
        UsageError: the run failed.
    """
    if not run.succeeded:
        raise UsageError(f"{run.entry}/{run.run_id} failed: a failed run is no baseline")
    place = _place(run.entry, folder)
    new, old = (place.with_name(f".{run.entry}.{name}") for name in ("new", "old"))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    manifest = run.manifest
    tables = [table.path for table in manifest.tables.values()]
    charts = [chart.path for chart in manifest.charts.values()]
    for file in (FILE, *tables, *charts):
        shutil.copyfile(run.path / file, new / file)
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)
    return place


def accept_newest(entries: list[str], kept: str | Path | None = None) -> list[Path]:
    """Accept the newest successful run of each entry (of all entries when none is named).

    `kept` says where results are kept, see `stores.at`.

    Raises:
        UsageError: an entry without a successful run; nothing is moved then.
    """
    store = stores.at(kept)
    folder = store.refresh().folder
    chosen = [
        (entry, results.newest_successful(entry, folder))
        for entry in entries or results.entries(folder)
    ]
    missing = [entry for entry, run in chosen if run is None]
    if missing or not chosen:
        raise UsageError(f"no successful run of {', '.join(missing) or 'any entry'} to accept")
    return [_accepted(run, store) for _, run in chosen if run is not None]


def accept_planned(plan: Path, kept: str | Path | None = None) -> list[Path]:
    """Accept the runs of a plan; what is accepted of other entries stays.

    Raises:
        InputError, UsageError: see `planned_runs`; nothing is moved then.
    """
    from ctxlab.workbench.planned import planned_runs  # noqa: PLC0415  notebooks are read

    store = stores.at(kept)
    folder = store.refresh().folder
    return [_accepted(run, store) for run in planned_runs(plan, folder)]


def drop(entries: Sequence[str], kept: str | Path | None = None) -> list[Path]:
    """Remove the accepted run of each entry; where they stood.

    Raises:
        InputError: one has none; nothing is removed then.
    """
    store = stores.at(kept)
    folder = store.refresh().folder
    there = entries_with_baseline(folder)
    for entry in entries:
        if entry not in there:
            raise InputError(f"the entry {entry!r} has no baseline in {store} to drop")
    places = [_place(entry, folder) for entry in dict.fromkeys(entries)]
    for place in places:
        store.remove(place)
        shutil.rmtree(place)
    return places


def _accepted(run: Run, store: Store) -> Path:
    store.fetch(run.path)
    place = accept(run, store.folder)
    store.carry(place)
    return place


def _place(entry: str, folder: Path | None) -> Path:
    return stores.folder(folder) / BASELINE / entry
