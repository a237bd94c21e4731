"""An entry's newest run held against an earlier one: the comparison's own verdicts, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from ctxlab.errors import InputError
from ctxlab.workbench.changes import in_short
from ctxlab.workbench.compare import BAD, Comparison, compare_runs
from ctxlab.workbench.comparison_page import Links, write_comparison
from ctxlab.workbench.comparison_text import ORDER, in_order
from ctxlab.workbench.index.seen import Entry
from ctxlab.workbench.pages import words
from ctxlab.workbench.results import BASELINE, COMPARISONS

_DAMAGED = (InputError, AttributeError, KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Held:
    """What changed in the newest run since `before`."""

    against: str
    """Such as `the run before`."""
    before: str
    """The earlier run's directory, relative to the results directory, as is `after`."""
    after: str
    since: str
    page: str
    """Where the comparison's own page is, relative to the results directory."""
    comparison: Comparison | None
    """None where one of the two cannot be read, and nothing is said of them."""
    inputs: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def regressed(self) -> bool:
        """Whether it is the baseline that the run is worse than, with the same parameters.

        Who passes others explores: that figures move is what he wants to see.
        """
        if self.comparison is None or not self.before.startswith(f"{BASELINE}/"):
            return False
        explores = any(each.what.startswith("parameters.") for each in self.comparison.inputs)
        return self.comparison.bad and not explores

    @property
    def verdicts(self) -> list[tuple[str, int]]:
        """Verdict → how many rows have it, the bad ones first, those that are the same last."""
        counts = self.comparison.counts if self.comparison else {}
        return in_order(counts)

    @property
    def unmoved(self) -> bool:
        """Whether every row is what it was: then the inputs are of little interest."""
        return all(verdict == "same" for verdict, _ in self.verdicts)

    @property
    def inputs_in_short(self) -> str:
        """How many inputs differ, under which all of them can be unfolded.

        A notebook that measures otherwise and finds the same is worth a word.
        """
        many = len(self.inputs)
        told = f"{many:,} {'input' if many == 1 else 'inputs'} changed"
        inputs = self.comparison.inputs if self.comparison else ()
        notebook = any(each.what == "notebook.source_sha256" for each in inputs)
        return f"{told}, the notebook{' too' if many > 1 else ''}" if notebook else told

    @property
    def tables(self) -> list[tuple[str, str]]:
        """Table → what became of its rows, for tables with rows that are bad."""
        rows = self.comparison.rows if self.comparison else ()
        found: dict[str, Counter[str]] = {}
        for row in rows:
            found.setdefault(row.table, Counter())[row.verdict] += 1
        return [
            (table, ", ".join(f"{counts[name]:,} {name}" for name in ORDER if counts[name]))
            for table, counts in found.items()
            if BAD & counts.keys()
        ]


def held(entry: Entry, results: Path) -> list[Held]:
    """The newest run against the accepted one and against the one before, as far as they are."""
    newest, found = entry.newest, []
    if entry.baseline and entry.baseline.get("run_id") != newest.run_id:
        accepted = f"{BASELINE}/{entry.name}"
        since = words.when(entry.baseline.get("started"))
        found.append(_held(entry, results, ("the baseline", accepted, since), "baseline.html"))
    for run in entry.runs[1:2]:
        before = ("the run before", run.place, words.when(run.started))
        found.append(_held(entry, results, before, "before.html"))
    return found


def _held(entry: Entry, results: Path, earlier: tuple[str, str, str], file: str) -> Held:
    against, before, since = earlier
    after = entry.newest.place
    try:
        whole = compare_runs(results / before, results / after, verify=False)
    except _DAMAGED:  # foreign or damaged: there is nothing to say, and nothing else breaks
        return Held(against, before, after, since, "", None)
    named = replace(whole, before=before, after=after)  # no path of this machine on a page
    page = f"{COMPARISONS}/{entry.name}/{file}"
    return Held(against, before, after, since, page, named, in_short(whole.inputs))


def write_pages(results: Path, found: list[Held]) -> None:
    """Write a page for each comparison, and remove those of comparisons that are no more.

    Raises:
        OSError: a page cannot be written.
    """
    written = set()
    for each in found:
        if each.comparison is not None:
            path = results / each.page
            path.parent.mkdir(parents=True, exist_ok=True)
            links = Links(
                "../../index.html", *(_report(results, at) for at in (each.before, each.after))
            )
            written.add(write_comparison(path, each.comparison, links))
    for path in _pages(results):
        if path not in written:
            path.unlink()


def _pages(results: Path) -> Iterator[Path]:
    yield from (results / COMPARISONS).glob("*/*.html")


def _report(results: Path, place: str) -> str:
    """A run's report as seen from a comparison's page; empty where it has none."""
    report = f"{place}/report.html"
    return f"../../{quote(report)}" if (results / report).is_file() else ""
