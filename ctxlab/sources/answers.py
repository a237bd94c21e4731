"""Answers of MCP servers as files in `data/cache/toolsets`, and what moved in them (drift).

`<server>.json` is the list in use. It can be read as a tools/list answer: `tools` as the server
sent them, beside them its instructions and what it ran on. A list that differs from the recorded
one is *drift*, no failure: it is kept as `<server>.<hash>.json`, and it is in use only where the
recorded list is not at hand, since runs are compared with a baseline that was made with that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.loading import ServerTools, join_tools
from ctxlab.prefix import compare_tools
from ctxlab.sources.drift import digests, moved, recorded, tools_sha256
from ctxlab.sources.files import put_file
from ctxlab.sources.recipes import ServerRecipe
from ctxlab.sources.servers import Asked


def toolsets() -> Path:
    """Where tool lists are kept."""
    return project.cache_dir() / "toolsets"


@dataclass(frozen=True)
class Drift:
    """How a server's list differs from the recorded one."""

    path: str
    """The list that differs, relative to the project's root."""
    changes: tuple[str, ...]
    """A line for each tool that differs."""


def keep(asked: Asked) -> Drift | None:
    """Write an answer down: the list in use, or beside it where the recorded list is in use."""
    recipe, document = asked.recipe, document_of(asked)
    drift = drift_of(recipe, document)
    if drift:
        put_file(as_file(document), project.root() / drift.path)
    if not drift or not _is_recorded(recipe, read(recipe)):
        put_file(as_file(document), in_use(recipe))
    return drift


def in_use(recipe: ServerRecipe) -> Path:
    """The file that the registry and the notebooks read."""
    return toolsets() / f"{recipe.name}.json"


def read(recipe: ServerRecipe) -> dict[str, Any] | None:
    """The answer in use; None where there is none, it is damaged, or it answers an older recipe."""
    try:
        document = json.loads(in_use(recipe).read_bytes())
        fetched = document["fetched"]
        whole = fetched["tools_sha256"] == tools_sha256(document["tools"])
        return document if whole and fetched["recipe"] == recipe.identity() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def drift_of(recipe: ServerRecipe, document: dict[str, Any] | None) -> Drift | None:
    """What differs from the recorded list; None when nothing does, or there is no list."""
    if document is None or _is_recorded(recipe, document):
        return None
    changes = _changes(recipe, document["tools"])
    path = in_use(recipe).with_suffix(f".{document['fetched']['tools_sha256'][:12]}.json")
    told = path.relative_to(project.root()).as_posix()
    return Drift(told, tuple(changes or ["another list is recorded in data/sources.toml"]))


def write_registry(recipes: list[ServerRecipe]) -> int:
    """Join the lists in use, in the file's order, into `registry.json`; how many tools it has.

    Without a list there is no registry: one of older recipes would pass for these.

    Raises:
        InputError: two tools get one name, or a name is too long for the Messages API.
    """
    servers = [
        ServerTools(recipe.name, tuple(document["tools"]))
        for recipe in recipes
        if (document := read(recipe))
    ]
    tools = join_tools(servers)
    if tools:
        put_file(as_file(tools), toolsets() / "registry.json")
    else:
        (toolsets() / "registry.json").unlink(missing_ok=True)
    return len(tools)


def _changes(recipe: ServerRecipe, tools: list[dict[str, Any]]) -> list[str]:
    """In full where the recorded list is at hand, else by the digests of its tools."""
    known = read(recipe)
    if known is not None and _is_recorded(recipe, known):
        return [str(change) for change in compare_tools(known["tools"], tools)]
    return moved(recorded(recipe.name), digests(tools))


def _is_recorded(recipe: ServerRecipe, document: dict[str, Any] | None) -> bool:
    return document is not None and document["fetched"]["tools_sha256"] == recipe.tools_sha256


def document_of(asked: Asked) -> dict[str, Any]:
    """What is written down of an answer; equal answers give equal bytes."""
    answer, environment = asked.tools, asked.environment
    return {
        **answer.answer,
        "tools": list(answer.tools),
        "instructions": answer.instructions,
        "serverVersion": answer.version,
        "protocolVersion": answer.protocol,
        "fetched": {
            "recipe": asked.recipe.identity(),
            "dated": environment.dated,
            "packages": environment.packages,
            "tools_sha256": tools_sha256(answer.tools),
        },
    }


def as_file(value: Any) -> bytes:
    """The bytes of a file in `toolsets`."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"
