"""The notebook as blocks to read: prose, and code with what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ctxlab.workbench.report import code, markdown, outputs
from ctxlab.workbench.report.markdown import Heading

_OURS = ("papermill-error-cell-tag", "papermill-error-cell-message")
_EMBEDDED = 25_000_000
"""Characters of outputs in one report; what comes after that is named and left out."""


@dataclass(frozen=True)
class Block:
    """One cell."""

    kind: str
    """`prose` or `code`."""
    anchor: str
    body: Markup
    """Prose, or highlighted source."""
    outputs: Markup = field(default_factory=Markup)
    label: str = ""
    """Such as `In [3]`; empty for code that never ran."""
    failed: bool = False
    about: str = ""
    """`parameters`, `parameters of this run`, or empty."""


@dataclass
class Story:
    """The whole notebook."""

    title: str = ""
    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    parameters_source: str = ""
    problem: str = ""
    """Why there is nothing to read."""

    @property
    def failed(self) -> Block | None:
        """The block whose error stopped the run."""
        return next((block for block in self.blocks if block.failed), None)


def read(path: Path) -> Story:
    """The notebook at `path`; a missing or broken one gives a story with a `problem`."""
    try:
        content = json.loads(path.read_bytes())
        cells = list(content["cells"])
    except OSError:
        return Story(problem="The run left no notebook.")
    except (ValueError, KeyError, TypeError, RecursionError):
        return Story(problem="The notebook of this run cannot be read.")
    return _told([cell for cell in cells if isinstance(cell, Mapping)])


def _told(cells: list[Mapping[str, Any]]) -> Story:
    story = Story()
    room = _EMBEDDED
    for at, cell in enumerate(cells):
        tags = _tags(cell)
        if any(tag in tags for tag in _OURS):
            continue
        source = outputs.source(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            story.blocks += _prose(story, source, f"s{at}")
        elif cell.get("cell_type") == "code" and (source.strip() or cell.get("outputs")):
            block = _code(cell, source, tags, at, room)
            room -= len(block.outputs)
            story.blocks.append(block)
        if "parameters" in tags:
            story.parameters_source = source
    return story


def _prose(story: Story, source: str, place: str) -> Iterator[Block]:
    first = not story.title and not story.headings
    prose = markdown.rendered(source, take_title=first, anchors=place)
    story.title = story.title or prose.title
    story.headings += prose.headings
    if prose.html.strip():
        yield Block("prose", place, prose.html)


def _code(cell: Mapping[str, Any], source: str, tags: list[str], at: int, room: int) -> Block:
    results = cell.get("outputs")
    results = results if isinstance(results, list) else []
    count = cell.get("execution_count")
    made = outputs.shown(results, f"c{at}")
    if len(made) > room:
        made = Markup(
            '<p class="note">… outputs left out: the report is full; see notebook.ipynb …</p>'
        )
    abouts = {"parameters": "parameters", "injected-parameters": "parameters of this run"}
    return Block(
        "code",
        f"cell-{at}",
        code.highlighted(source.rstrip()),
        made,
        label=f"In [{count}]" if isinstance(count, int) else "",
        failed=any(_is_error(result) for result in results),
        about=next((abouts[tag] for tag in tags if tag in abouts), ""),
    )


def _is_error(output: object) -> bool:
    return isinstance(output, Mapping) and output.get("output_type") == "error"


def _tags(cell: Mapping[str, Any]) -> list[str]:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, Mapping) else None
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
