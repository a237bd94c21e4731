"""What is there and right, without fetching anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ctxlab import project
from ctxlab.errors import UsageError
from ctxlab.sources import answers, files
from ctxlab.sources.recipes import (
    Recipe,
    ServerRecipe,
    TreeRecipe,
    VocabularyRecipe,
    read_recipes,
)
from ctxlab.tokens import VOCABULARIES

Kind = Literal["vocabularies", "tree", "server"]
State = Literal["there", "fetched", "missing", "failed"]


@dataclass(frozen=True)
class Outcome:
    """One input: where it is and how it got there."""

    name: str
    kind: Kind
    version: str
    path: str
    """Relative to the project's root."""
    state: State
    reason: str = ""
    """Why it is missing or failed; of a tool list, what its dependencies are if not the pinned."""
    tools: int = 0
    drift: answers.Drift | None = None
    """How the server's list differs from the recorded one."""


def status(names: Sequence[str] = ()) -> list[Outcome]:
    """What is there, without fetching anything."""
    return [look(recipe) for recipe in chosen(names)]


def chosen(names: Sequence[str]) -> list[Recipe]:
    """The recipes of these names, in the file's order; all when there are none.

    Raises:
        UsageError: a name that is not in data/sources.toml; the known ones are listed.
    """
    recipes = read_recipes()
    known = [recipe.name for recipe in recipes]
    for name in names:
        if name not in known:
            raise UsageError(
                f"no input {name!r} in data/sources.toml; there are {', '.join(known)}"
            )
    return [recipe for recipe in recipes if not names or recipe.name in names]


def place_of(recipe: Recipe) -> Path:
    """Where an input stands."""
    match recipe:
        case VocabularyRecipe():
            return project.cache_dir() / "tiktoken"
        case TreeRecipe():
            return project.cache_dir() / "trees" / recipe.name
        case ServerRecipe():
            return answers.in_use(recipe)


def outcome(recipe: Recipe, state: State, reason: str = "") -> Outcome:
    """An outcome with what can be read from the input itself."""
    path = place_of(recipe).relative_to(project.root()).as_posix()
    if not isinstance(recipe, ServerRecipe):
        kind: Kind = "tree" if isinstance(recipe, TreeRecipe) else "vocabularies"
        return Outcome(recipe.name, kind, recipe.wheel.version, path, state, reason)
    document = answers.read(recipe)
    return Outcome(
        recipe.name,
        "server",
        recipe.version,
        path,
        state,
        reason or _undated(document),
        tools=len(document["tools"]) if document else 0,
        drift=answers.drift_of(recipe, document),
    )


def _undated(document: dict[str, Any] | None) -> str:
    if document is None or document["fetched"]["dated"]:
        return ""
    return "with today's dependencies: the registry does not say when packages were published"


def look(recipe: Recipe) -> Outcome:
    """Whether an input is there and what its recipe says."""
    place = place_of(recipe)
    match recipe:
        case VocabularyRecipe():
            right = all(
                (place / vocabulary.file).is_file()
                and files.file_sha256(place / vocabulary.file) == vocabulary.sha256
                for vocabulary in VOCABULARIES.values()
            )
        case TreeRecipe():
            right = files.is_unchanged(place, recipe.tree_sha256)
        case ServerRecipe():
            right = answers.read(recipe) is not None
    if right:
        return outcome(recipe, "there")
    return outcome(
        recipe, "missing", "not what its recipe says" if place.exists() else "not fetched"
    )
