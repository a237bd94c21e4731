"""Old runs go: never a baseline, never an entry's newest run or newest successful run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ctxlab.errors import UsageError
from ctxlab.workbench import results, stores
from ctxlab.workbench.index import rebuild
from ctxlab.workbench.results import Run

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def age(text: str) -> timedelta:
    """A length of time: a number and h, d or w.

    >>> age("90d")
    datetime.timedelta(days=90)

    Raises:
        UsageError: anything else.
    """
    match = re.fullmatch(r"(\d{1,5})([hdw])", text)
    if match is None:
        raise UsageError(f"{text!r} is no age; a number and h, d or w, such as 90d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def old_runs(
    keep: int | None, older_than: timedelta | None, now: datetime, folder: Path | None = None
) -> list[Run]:
    """Runs beyond the newest `keep` of their entry and older than `older_than`.

    Of the two, one that is None asks for nothing.

    Raises:
        UsageError: both are None, or `keep` is negative.
    """
    if keep is None and older_than is None:
        raise UsageError("say what goes: --keep N, --older-than AGE, or both")
    if keep is not None and keep < 0:
        raise UsageError(f"--keep is 0 or more, not {keep}")
    found = []
    for entry in results.entries(folder):
        runs = results.runs(entry, folder)
        spared = {runs[-1].run_id, *_newest_successful(entry, folder)}
        candidates = runs[: len(runs) - (keep or 0)] if keep is not None else runs
        found += [
            run
            for run in candidates
            if run.run_id not in spared
            and (older_than is None or started(run.run_id) < now - older_than)
        ]
    return found


def prune(
    keep: int | None, older_than: str | None, kept: str | Path, *, dry_run: bool = False
) -> list[Run]:
    """Remove old runs (see `old_runs`) and bring the index up to date; the runs that went.

    `kept` says where results are kept, see `stores.at`.
    """
    length = age(older_than) if older_than is not None else None
    store = stores.at(kept)
    doomed = old_runs(keep, length, datetime.now(UTC), store.refresh().folder)
    if doomed and not dry_run:
        for run in doomed:
            store.remove(run.path)
            remove(run)
        rebuild(store)
    return doomed


def _newest_successful(entry: str, folder: Path | None) -> Iterator[str]:
    run = results.newest_successful(entry, folder)
    if run is not None:
        yield run.run_id


def started(run_id: str) -> datetime:
    """The start that a run id tells, in UTC."""
    return datetime.strptime(run_id[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def remove(run: Run) -> None:
    """Remove a run in one step for whoever looks: it is renamed first, and is no run from then."""
    doomed = run.path.with_name(
        f".{run.run_id}.tmp"
    )  # where a killed prune leaves it, a batch cleans
    run.path.rename(doomed)
    shutil.rmtree(doomed)
