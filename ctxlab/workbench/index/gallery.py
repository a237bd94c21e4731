"""The page of all entries and runs."""

from __future__ import annotations

from pathlib import Path

from ctxlab.errors import InputError
from ctxlab.workbench.index.card import card
from ctxlab.workbench.index.seen import everything
from ctxlab.workbench.pages import page, words, write_page

FILE = "index.html"


def write_index(results_dir: Path) -> Path:
    """Write `index.html` into a results directory and return its path.

    It is derived, never edited, and written in one step; directories that are no runs are named at
    its foot and break nothing.

    Raises:
        InputError: `results_dir` is no directory, or it cannot be written.
    """
    results = Path(results_dir)
    if not results.is_dir():
        raise InputError("no results directory is here", path=results)
    try:
        return write_page(results / FILE, index(results))
    except OSError as error:
        raise InputError(f"the index cannot be written: {error.strerror}", path=results) from None


def index(results: Path) -> str:
    """The page's text."""
    found = everything(results)
    runs = [run for entry in found.entries for run in entry.runs]
    newest = max((run.started for run in runs), default="")
    return page(
        "index.html.j2",
        cards=[card(entry, results) for entry in found.entries],
        runs=len(runs),
        newest=words.when(newest) if newest else "",
        failed=[entry.name for entry in found.entries if entry.newest.status != "succeeded"],
        foreign=found.foreign,
    )
