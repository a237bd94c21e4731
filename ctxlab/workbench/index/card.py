"""What the index shows of an entry: the newest run, its picture, its figures, what changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ctxlab.workbench.index.figures import claims, key_figures
from ctxlab.workbench.index.held import Held, held
from ctxlab.workbench.index.seen import Entry, Seen, part
from ctxlab.workbench.pages import words
from ctxlab.workbench.report import vector
from ctxlab.workbench.report.text import visible

_TITLE = re.compile(rb"<title>([^<]{1,400})</title>")
_FIRST_CHART = re.compile(rb'<figure class="chart" id="chart-([a-z0-9_-]{1,64})">')
_VIEW_BOX = re.compile(r'viewBox="0 0 (\d+(?:\.\d+)?) (\d+(?:\.\d+)?)"')
_LARGEST_CHART = 400_000
_TALL = 2
"""Times its width."""


@dataclass(frozen=True)
class Card:
    """An entry on the page."""

    entry: Entry
    title: str
    newest: Seen
    report: str
    """Of the newest run, relative to the results directory; its directory without one."""
    picture: Markup
    tall: bool
    """Whether only the picture's beginning is shown: whole, its text could not be read."""
    picture_of: str
    """When the picture is an earlier run's: its time."""
    figures: list[tuple[str, str]]
    claims: list[tuple[str, int]]
    tables: list[tuple[str, str, str]]
    """Name, link and rows."""
    held: list[Held]
    older: list[tuple[Seen, str]]
    """Earlier runs and where their reports are."""

    @property
    def worse(self) -> bool:
        """Whether the newest run succeeded, and is worse than the baseline."""
        return self.newest.status == "succeeded" and any(each.regressed for each in self.held)


def card(entry: Entry, results: Path, has: Callable[[Path], bool] = Path.exists) -> Card:
    """An entry as the page shows it; whatever cannot be read is left out."""

    def report(run: Seen) -> str:
        path = f"{run.place}/report.html"
        return path if has(results / path) else f"{run.place}/"

    newest, shown = entry.newest, entry.succeeded or entry.newest
    source = _head(results / shown.place / "report.html")
    tables = part(newest.manifest, "tables")
    picture = _picture(results / shown.place, shown, source)
    return Card(
        entry=entry,
        title=_title(source) or entry.name.replace("_", " "),
        newest=newest,
        report=report(newest),
        picture=picture,
        tall=_is_tall(picture),
        picture_of=words.when(shown.started) if shown is not newest else "",
        figures=key_figures(results / newest.place, tables),
        claims=claims(results / newest.place, tables),
        tables=[_table(newest, name, table) for name, table in tables.items()],
        held=held(entry, results),
        older=[(run, report(run)) for run in entry.runs[1:]],
    )


def _head(report: Path) -> bytes:
    """A report's text, for its title and its first chart; empty where there is none."""
    try:
        with report.open("rb") as file:
            return file.read(_LARGEST_CHART)
    except OSError:
        return b""


def _title(source: bytes) -> str:
    found = _TITLE.search(source)
    return visible(unescape(found[1].decode(errors="replace"))).strip() if found else ""


def _picture(folder: Path, run: Seen, source: bytes) -> Markup:
    """The first chart of the report, else the first that was recorded."""
    charts = {
        name: chart
        for name, chart in part(run.manifest, "charts").items()
        if isinstance(chart, Mapping)
    }
    first = _FIRST_CHART.search(source)
    names = [first[1].decode()] if first else []
    for name in [*names, *charts]:
        picture = _chart(folder, charts.get(name, {}), f"{run.entry}-{run.run_id}-")
        if picture:
            return picture
    return Markup()


def _is_tall(picture: str) -> bool:
    box = _VIEW_BOX.search(picture)
    return box is not None and float(box[2]) > _TALL * float(box[1])


def _chart(folder: Path, chart: Mapping[str, Any], ids: str) -> Markup:
    path, alt = str(chart.get("path") or ""), str(chart.get("alt") or "")
    if not path or path != Path(path).name:
        return Markup()
    try:
        if (folder / path).stat().st_size > _LARGEST_CHART:
            return Markup()
        return vector.cleaned((folder / path).read_text(encoding="utf-8"), alt, ids)
    except (OSError, ValueError):
        return Markup()


def _table(run: Seen, name: str, table: object) -> tuple[str, str, str]:
    rows = table.get("rows") if isinstance(table, Mapping) else None
    path = table.get("path") if isinstance(table, Mapping) else None
    well = isinstance(path, str) and path == Path(path).name
    link = f"{run.place}/{path}" if well else ""
    return name, link, f"{rows:,} rows" if isinstance(rows, int) and rows != 1 else ""
