"""A plan: which notebooks a batch runs, with which parameters, and what needs what.

    # notebooks/plan.toml
    [[run]]
    notebook = "01_tool_mutations.ipynb"        # relative to the plan's own directory
    [[run]]
    notebook = "01_tool_mutations.ipynb"
    entry = "tool_mutations_registry"           # by default the notebook's name without its number
    parameters = { toolset = "data/cache/toolsets/joined.json" }
    [[run]]
    notebook = "11_claims.ipynb"
    needs = ["tool_mutations"]                  # entries whose tables it reads
    partial = true                              # of these, those that have a successful run do

Paths in parameters are relative to the project's root, as everywhere.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.notebook import checked_entry, default_entry

FILE = "plan.toml"
_KEYS = {"notebook": str, "entry": str, "needs": list, "partial": bool, "parameters": dict}
_WORDS = {str: "text", list: "a list of entries", bool: "true or false", dict: "a table"}


@dataclass(frozen=True)
class Step:
    """One `[[run]]` of a plan."""

    entry: str
    notebook: Path
    needs: tuple[str, ...] = ()
    partial: bool = False
    """It runs with those of its needs that have a successful run, however old, if any."""
    parameters: dict[str, Any] = field(default_factory=dict)
    place: str = ""
    """Where it stands in the plan, for errors."""


@dataclass(frozen=True)
class Plan:
    """Steps whose entries are distinct, and whose needs are there and lead to no circle."""

    path: Path
    steps: tuple[Step, ...]


def read_plan(path: str | Path) -> Plan:
    """Read a plan.

    Raises:
        InputError: no such file, no TOML, an unknown key, a wrong type, an entry that stands twice,
            a need that no step has, or steps that need each other in a circle.
    """
    file = Path(path)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(error.strerror or str(error), path=file) from None
    except ValueError as error:  # no UTF-8, or no TOML: the message has line and column
        raise InputError(f"no TOML: {error}", path=file) from None
    _check_keys(content, ("run",), file, "")
    runs = content.get("run")
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        raise InputError("a plan is one or more tables `[[run]]`", path=file)
    plan = Plan(file, tuple(_step(run, file, f"run[{n}]") for n, run in enumerate(runs)))
    _check_entries(plan)
    _check_circles(plan)
    return plan


def _check_keys(table: dict[str, Any], known: tuple[str, ...], file: Path, place: str) -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean `{near[0]}`? " if near else ""
            there = ", ".join(known)
            raise InputError(f"no key `{key}`; {hint}There are {there}", path=file, place=place)


def _step(run: dict[str, Any], file: Path, place: str) -> Step:
    _check_keys(run, tuple(_KEYS), file, place)
    for key, kind in _KEYS.items():
        if key in run and not isinstance(run[key], kind):
            raise InputError(f"`{key}` is {_WORDS[kind]}", path=file, place=place)
    needs = run.get("needs", [])
    if not all(isinstance(need, str) for need in needs):
        raise InputError("`needs` is a list of entries", path=file, place=place)
    if not run.get("notebook"):
        raise InputError("`notebook` is missing", path=file, place=place)
    notebook = file.parent / run["notebook"]
    try:
        entry = checked_entry(run["entry"]) if "entry" in run else default_entry(notebook)
    except UsageError as error:
        raise InputError(str(error), path=file, place=place) from None
    return Step(
        entry,
        notebook,
        tuple(dict.fromkeys(needs)),
        run.get("partial", False),
        run.get("parameters", {}),
        place,
    )


def _check_entries(plan: Plan) -> None:
    seen: dict[str, Step] = {}
    for step in plan.steps:
        if step.entry in seen:
            first = seen[step.entry].place
            raise InputError(
                f"the entry {step.entry!r} is {first}'s already; give this one its own `entry`",
                path=plan.path,
                place=step.place,
            )
        seen[step.entry] = step
    for step in plan.steps:
        for need in step.needs:
            if need not in seen:
                near = get_close_matches(need, seen, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise InputError(
                    f"needs {need!r}, which is no entry of this plan{hint}",
                    path=plan.path,
                    place=step.place,
                )


def _check_circles(plan: Plan) -> None:
    try:
        TopologicalSorter({step.entry: step.needs for step in plan.steps}).prepare()
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        raise InputError(f"a circle: {circle}", path=plan.path) from None


def step_beside(notebook: str | Path, entry: str) -> Step:
    """What a plan beside the notebook says of this entry; a step without needs where none does."""
    file = Path(notebook).parent / FILE
    steps = read_plan(file).steps if file.is_file() else ()
    found = (step for step in steps if step.entry == entry)
    return next(found, Step(entry, Path(notebook)))
