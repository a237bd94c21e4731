"""Runs and their outcomes in words: aligned text for people, JSON for scripts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ctxlab.errors import InputError
from ctxlab.workbench import stores
from ctxlab.workbench.outcome import REPORT, Outcome
from ctxlab.workbench.results import Run, entries, runs


def aligned(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Rows as text with their columns aligned, those of `right` on the right.

    >>> print(aligned([["entry", "s"], ["a", "10.5"]], right=[1]))
    entry     s
    a      10.5
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = set(right)
    lines = (
        "  ".join(
            cell.rjust(width) if n in right else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def outcomes_text(outcomes: Sequence[Outcome]) -> str:
    """A table of what became of each entry, with seconds and report; why some did not; the sum."""
    rows = [["entry", "status", "seconds", "report"]]
    rows += [[each.entry, each.status, _seconds(each), _report(each.path)] for each in outcomes]
    bad = [f"{each.entry}: {each.reason}" for each in outcomes if not each.well]
    counts = Counter(each.status for each in outcomes)
    told = ", ".join(f"{number} {status}" for status, number in counts.items())
    blocks = [aligned(rows, right=[2]), "\n".join(bad), told if len(outcomes) > 1 else ""]
    return "\n\n".join(filter(None, blocks))


def _seconds(outcome: Outcome) -> str:
    return f"{outcome.seconds:.1f}" if outcome.seconds else "–"


def _report(path: Path | None) -> str:
    """The report, or the run directory where there is none; relative where it is below."""
    if path is None:
        return "–"
    file, store = path / REPORT, stores.of(path)
    whole = file if store.has(file) else path
    near = whole.is_relative_to(Path.cwd()) and not stores.is_url(store.place)
    return str(whole.relative_to(Path.cwd())) if near else store.told(whole)


def outcomes_json(
    outcomes: Sequence[Outcome], worse: Mapping[str, Mapping[str, Any]] | None = None
) -> str:
    """The same for a script.

    `worse`, where it was asked for, says of entries that got worse in what; each outcome has the
    key then, null where it did not.
    """
    told = [outcome.to_json() for outcome in outcomes]
    if worse is not None:
        told = [each | {"worse": worse.get(each["entry"])} for each in told]
    return json.dumps(told, ensure_ascii=False, indent=1)


def entries_rows(results: Path) -> list[dict[str, Any]]:
    """Each entry with its newest run."""
    return [_row(found[-1]) | {"runs": len(found)} for found in _by_entry(results)]


def runs_rows(entry: str, results: Path) -> list[dict[str, Any]]:
    """Each run of an entry, the newest first.

    Raises:
        InputError: the entry has no run.
    """
    found = runs(entry, results)
    if not found:
        there = ", ".join(entries(results)) or "none"
        raise InputError(f"no run of the entry {entry!r}; there are runs of {there}", path=results)
    return [_row(run) for run in reversed(found)]


def _by_entry(results: Path) -> Iterable[list[Run]]:
    return (runs(entry, results) for entry in entries(results))


def _row(run: Run) -> dict[str, Any]:
    told: dict[str, Any] = {
        "entry": run.entry,
        "run_id": run.run_id,
        "path": stores.of(run.path).told(run.path),
        "report": _report(run.path),
    }
    try:
        manifest = run.manifest
    except InputError as error:
        return told | {"status": "unreadable", "seconds": None, "reason": str(error)}
    why = f"{manifest.error.ename}: {manifest.error.evalue}" if manifest.error else ""
    passed = manifest.parameters_passed
    return told | {
        "status": manifest.status,
        "started": manifest.started,
        "seconds": manifest.seconds,
        "parameters_passed": passed,
        "reason": why,
    }


def rows_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """What entries_rows and runs_rows give, as a table."""
    with_runs = any("runs" in row for row in rows)
    head = ["entry", "runs"] if with_runs else ["started"]
    table = [[*head, "status", "seconds", "report"]]
    for row in rows:
        first = [row["entry"], str(row["runs"])] if with_runs else [row["run_id"][:16]]
        seconds = "–" if row["seconds"] is None else f"{row['seconds']:.1f}"
        table.append([*first, row["status"], seconds, row["report"]])
    return aligned(table, right=[1, 3] if with_runs else [2])
