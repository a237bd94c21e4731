"""Several comparisons at once, as the command and a batch tell them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ctxlab.errors import UsageError
from ctxlab.workbench import results, stores
from ctxlab.workbench.baseline import baseline
from ctxlab.workbench.compare import BAD, Comparison, compare_runs
from ctxlab.workbench.comparison_page import write_comparisons
from ctxlab.workbench.comparison_text import as_text as one_as_text
from ctxlab.workbench.outcome import Outcome


def compare(pairs: Iterable[tuple[Path, Path]]) -> list[Comparison]:
    """Each pair of run directories, before and after."""
    return [compare_runs(before, after) for before, after in pairs]


def worse(outcomes: Iterable[Outcome], kept: str | Path | None = None) -> list[Comparison]:
    """The runs that got worse than their entry's baseline; where there is none, than the last.

    `kept` says where results are kept, see `stores.at`.
    """
    store = stores.at(kept)
    folder, found = store.folder, []
    for outcome in outcomes:
        before = _reference(outcome, folder)
        if outcome.path is not None and before is not None:
            found.append(compare_runs(store.fetch(before), store.fetch(outcome.path)))
    return [each for each in found if each.bad]


def _reference(outcome: Outcome, folder: Path) -> Path | None:
    accepted = baseline(outcome.entry, folder)
    if accepted is not None:
        return accepted.path
    runs = [run for run in results.runs(outcome.entry, folder) if run.succeeded]
    earlier = [run.path for run in runs if run.path != outcome.path]
    return earlier[-1] if earlier else None


def worse_text(found: list[Comparison]) -> str:
    """What got worse, each under its entry's name, and at the end which entries did."""
    if not found:
        return "nothing got worse"
    told = [f"== {each.entry}\n{one_as_text(each)}" for each in found]
    return "\n\n".join([*told, f"got worse: {', '.join(each.entry for each in found)}"])


def worse_json(found: list[Comparison]) -> dict[str, dict[str, Any]]:
    """Entry → what it was held against, how many rows have each verdict, and the bad rows."""
    return {each.entry: _bad_alone(each.as_json()) for each in found}


def _bad_alone(told: dict[str, Any]) -> dict[str, Any]:
    rows = [row for row in told["rows"] if row["verdict"] in BAD]
    return {name: told[name] for name in ("before", "after", "counts")} | {"rows": rows}


def as_text(found: list[Comparison]) -> str:
    """One after the other under its entry's name; of several, the same stand in one line."""
    if len(found) == 1:
        return one_as_text(found[0])
    told = [f"== {each.entry}\n{one_as_text(each)}" for each in found if each.rows]
    same = [each.entry for each in found if not each.rows]
    if same:
        told.append(f"every row is the same: {', '.join(same)}")
    return "\n\n".join(told)


def as_json(found: list[Comparison]) -> str:
    """An object for one comparison, a list for several."""
    told = [each.as_json() for each in found]
    return json.dumps(told[0] if len(told) == 1 else told, ensure_ascii=False, indent=1)


def write_page(path: Path, found: list[Comparison]) -> Path:
    """One page of them all, at `path`, in a folder that is made where it is not there.

    Raises:
        UsageError: `path` is a folder.
        OSError: it cannot be written.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name the file to write, such as {path}/compare.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_comparisons(path, found)
