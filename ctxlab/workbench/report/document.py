"""The report of a run: `report.html` from the notebook, the manifest and the charts beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from ctxlab.errors import InputError
from ctxlab.workbench.pages import page, words, write_page
from ctxlab.workbench.report import ansi, cells, text, vector
from ctxlab.workbench.report.facts import Facts

FILE = "report.html"


@dataclass(frozen=True)
class Further:
    """A chart that the run recorded and its notebook does not show."""

    name: str
    body: Markup


def write_report(run_dir: Path) -> Path:
    """Write `report.html` into a run directory and return its path.

    A run that failed, or left little, has a report too: it says what is missing. The file is
    written in one step and depends on nothing but the directory's content.

    Raises:
        InputError: `run_dir` is no directory, or it cannot be written.
    """
    folder = Path(run_dir)
    if not folder.is_dir():
        raise InputError("no run directory is here", path=folder)
    try:
        return write_page(folder / FILE, report(folder))
    except OSError as error:
        raise InputError(f"the report cannot be written: {error.strerror}", path=folder) from None


def report(run_dir: Path, *, alone: bool = False) -> str:
    """The page's text; `alone` leaves out what lies beside it: index, tables, charts, manifest."""
    facts, story = Facts.of(run_dir), cells.read(run_dir / "notebook.ipynb")
    entry = facts.text("entry") or run_dir.parent.name
    whole = json.dumps(facts.manifest, indent=2, sort_keys=True, ensure_ascii=False)
    return page(
        "report.html.j2",
        title=text.visible(story.title or entry.replace("_", " ")),
        alone=alone,
        entry=entry,
        run_id=facts.text("run_id") or run_dir.name,
        facts=facts,
        error=text.visible(ansi.plain(facts.error)),
        started=words.when(facts.text("started")),
        took=words.took(facts.manifest.get("seconds")),
        story=story,
        further=_further(run_dir, facts, story),
        values=facts.values(story.parameters_source),
        files=[] if alone else facts.files(run_dir),
        manifest=text.preformatted(whole, "source", 200_000) if facts.manifest else "",
    )


def _further(run_dir: Path, facts: Facts, story: cells.Story) -> list[Further]:
    shown = "".join(block.outputs for block in story.blocks)
    return [
        Further(name, _chart(run_dir / Path(path).name, alt, name))
        for name, (path, alt) in facts.charts().items()
        if f'id="chart-{name}"' not in shown
    ]


def _chart(path: Path, alt: str, name: str) -> Markup:
    try:
        picture = vector.cleaned(path.read_text(encoding="utf-8"), alt)
    except (OSError, ValueError):
        picture = Markup()
    if not picture:
        return Markup('<p class="note">The chart {} is not there: {}</p>').format(name, alt)
    return Markup('<figure class="chart">{}</figure>').format(picture)
