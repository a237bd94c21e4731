"""The page of all entries and runs."""

from __future__ import annotations

from pathlib import Path

from ctxlab.errors import InputError
from ctxlab.workbench.compare import BAD, GOOD
from ctxlab.workbench.index.card import Card, card
from ctxlab.workbench.index.held import write_pages
from ctxlab.workbench.index.seen import everything
from ctxlab.workbench.pages import page, words, write_page

FILE = "index.html"


def write_index(results_dir: Path) -> Path:
    """Write `index.html` into a results directory and return its path.

    Beside it stands a page for each comparison, `comparisons/<entry>/baseline.html` and
    `before.html`. All of it is derived, never edited, and each file is written in one step;
    directories that are no runs are named at the index's foot and break nothing.

    Raises:
        InputError: `results_dir` is no directory, or it cannot be written.
    """
    results = Path(results_dir)
    if not results.is_dir():
        raise InputError("no results directory is here", path=results)
    cards, text = _index(results)
    try:
        write_pages(results, [each for card in cards for each in card.held])
        return write_page(results / FILE, text)
    except OSError as error:
        raise InputError(f"the index cannot be written: {error.strerror}", path=results) from None


def _index(results: Path) -> tuple[list[Card], str]:
    """What stands on the page, and its text."""
    found = everything(results)
    cards = [card(entry, results) for entry in found.entries]
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
