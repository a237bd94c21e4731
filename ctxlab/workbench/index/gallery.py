"""The page of all entries and runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ctxlab.errors import InputError
from ctxlab.workbench import results
from ctxlab.workbench.baseline import baseline
from ctxlab.workbench.compare import BAD, GOOD
from ctxlab.workbench.index.card import Card, card
from ctxlab.workbench.index.held import write_pages
from ctxlab.workbench.index.seen import everything
from ctxlab.workbench.pages import page, words, write_page
from ctxlab.workbench.stores import Store

FILE = "index.html"


def rebuild(store: Store) -> str:
    """Write the index of a store; where people find it.

    Raises:
        InputError, UsageError: it cannot be read or written.
    """
    folder = store.refresh().folder
    if store.place == folder:
        return str(write_index(folder))
    for entry in results.entries(folder):  # whose charts, figures and changes are shown
        shown = [baseline(entry, folder), results.newest_successful(entry, folder)]
        for run in {each for each in shown if each} | {*results.runs(entry, folder)[-2:]}:
            store.fetch(run.path)
    path = write_index(folder, store.has)
    for page_of_two in folder.glob(f"{results.COMPARISONS}/*/*.html"):
        store.carry(page_of_two)
    store.carry(path)
    return store.told(path)


def write_index(results_dir: Path, has: Callable[[Path], bool] = Path.exists) -> Path:
    """Write `index.html` into a results directory and return its path.

    Beside it stands a page for each comparison, `comparisons/<entry>/baseline.html` and
    `before.html`. All of it is derived, never edited, and each file is written in one step;
    directories that are no runs are named at the index's foot and break nothing.

    `has` says whether a file of a run is there; in a copy of remote results it need not be.

    Raises:
        InputError: `results_dir` is no directory, or it cannot be written.
    """
    folder = Path(results_dir)
    if not folder.is_dir():
        raise InputError("no results directory is here", path=folder)
    cards, text = _index(folder, has)
    try:
        write_pages(folder, [each for card in cards for each in card.held])
        return write_page(folder / FILE, text)
    except OSError as error:
        raise InputError(f"the index cannot be written: {error.strerror}", path=folder) from None


def _index(folder: Path, has: Callable[[Path], bool]) -> tuple[list[Card], str]:
    """What stands on the page, and its text."""
    found = everything(folder)
    cards = [card(entry, folder, has) for entry in found.entries]
    runs = [run for entry in found.entries for run in entry.runs]
    newest = max((run.started for run in runs), default="")
    return cards, page(
        "index.html.j2",
        cards=cards,
        runs=len(runs),
        newest=words.when(newest) if newest else "",
        failed=[entry.name for entry in found.entries if entry.newest.status != "succeeded"],
        worse=[each.entry.name for each in cards if each.worse],
        foreign=found.foreign,
        bad=BAD,
        good=GOOD,
    )
