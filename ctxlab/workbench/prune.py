"""Runs go: old ones, never an entry's newest or newest successful one; or all of one entry.

A baseline never goes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ctxlab.errors import InputError, UsageError
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
    keep: int | None,
    older_than: timedelta | None,
    now: datetime,
    folder: Path | None = None,
    entries: Sequence[str] | None = None,
) -> list[Run]:
    """Runs beyond the newest `keep` of their entry and older than `older_than`.

    Of the two, one that is None asks for nothing. `entries` are those to look at, by default all.

    Raises:
        UsageError: both are None, or `keep` is negative.
    """
    if keep is None and older_than is None:
        raise UsageError("say what goes: --keep N, --older-than AGE, or both")
    if keep is not None and keep < 0:
        raise UsageError(f"--keep is 0 or more, not {keep}")
    found = []
    for entry in results.entries(folder) if entries is None else entries:
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


def prune(  # noqa: PLR0913  what goes is said in as many ways
    keep: int | None,
    older_than: str | None,
    kept: str | Path | None,
    *,
    entries: Sequence[str] | None = None,
    whole: bool = False,
    dry_run: bool = False,
) -> list[Run]:
    """Remove runs and bring the index up to date; the runs that went.

    Args:
        keep: see `old_runs`, as for `older_than`.
        older_than: an `age`.
        kept: where results are kept, see `stores.at`.
        entries: those to look at, by default all.
        whole: every run of `entries` goes, the newest too.
        dry_run: nothing goes.

    Raises:
        InputError: an entry without runs.
        UsageError: see `age` and `old_runs`; `whole` without entries, or with an age or a number.
    """
    store = stores.at(kept)
    folder = store.refresh().folder
    for entry in entries or ():
        if not results.runs(entry, folder):
            raise InputError(f"no entry {entry!r} has runs in {store}")
    if whole:
        doomed = _every_run(keep, older_than, entries, folder)
    else:
        length = age(older_than) if older_than is not None else None
        doomed = old_runs(keep, length, datetime.now(UTC), folder, entries)
    if doomed and not dry_run:
        for run in doomed:
            store.remove(run.path)
            remove(run)
        rebuild(store)
    return doomed


def _every_run(
    keep: int | None, older_than: str | None, entries: Sequence[str] | None, folder: Path
) -> list[Run]:
    if not entries:
        raise UsageError("--all goes with --entry: say whose runs go")
    if keep is not None or older_than is not None:
        raise UsageError("--all leaves nothing for --keep and --older-than to spare")
    return [run for entry in dict.fromkeys(entries) for run in results.runs(entry, folder)]


def _newest_successful(entry: str, folder: Path | None) -> Iterator[str]:
    run = results.newest_successful(entry, folder)
    if run is not None:
        yield run.run_id


def started(run_id: str) -> datetime:
    """The start that a run id tells, in UTC."""
    return datetime.strptime(run_id[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def remove(run: Run) -> None:
    """Remove a run in one step for whoever looks: it is renamed first, and is no run from then.

    The folder of an entry that has nothing any more goes too.
    """
    doomed = run.path.with_name(
        f".{run.run_id}.tmp"
    )  # where a killed prune leaves it, a batch cleans
    run.path.rename(doomed)
    shutil.rmtree(doomed)
    with suppress(OSError):  # there is something else in it
        run.path.parent.rmdir()
