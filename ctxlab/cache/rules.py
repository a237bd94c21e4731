"""The rules of the prompt cache for one model: `data/cache_rules.toml`, and what overrides it.

>>> rules_for("claude-opus-4-5-20251101").minimum_tokens
4096
>>> rules_for("claude-opus-5", {"minimum_tokens": 100}).minimum_tokens
100

Every row of the table has its source; what the sources leave open is a switch with a name
(`switches()`), and an experiment states its conclusions under each of a switch's values.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

from ctxlab import project
from ctxlab.errors import InvalidRequest, UsageError

SEGMENTS = ("tools", "system", "messages")
_RESELLER = re.compile(r"^.*/|^(?:[a-z]{2,6}\.)?anthropic\.")
_VERSION = re.compile(r"(?:[-@]\d{8})?(?:-v\d+(?::\d+)?)?$|[-@]latest$")
_ALIASES = {
    "claude-opus-4": "claude-opus-4-0",
    "claude-sonnet-4": "claude-sonnet-4-0",
    "claude-haiku-3-5": "claude-3-5-haiku",
}


class Switch(NamedTuple):
    """Something the sources leave open."""

    name: str
    default: Any
    values: tuple[Any, ...]
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What one model's cache does; every field may stand in `model_rules`."""

    minimum_tokens: int
    """A shorter prefix is silently not cached."""
    maximum_breakpoints: int
    lookback_positions: int
    """Places a breakpoint looks at for an entry, itself included."""
    maximum_tools: int
    ttl_seconds: Mapping[str, float]
    run_types: tuple[str, ...]
    """Block types of which a consecutive run is one position."""
    tool_prompt_tokens: tuple[int, int]
    """Tokens that tools bring along, by `tool_choice`: auto or none, any or tool."""
    system_messages: bool
    """Whether `messages` may hold the role `system`."""
    tool_search: bool
    """Whether tools may be deferred."""
    forced_tool_choice: bool
    first_lost: Mapping[str, str]
    """Parameter → the first segment that its change loses."""
    tool_entries_survive_later_changes: bool
    lookback_into_tools: str
    thinking_first_lost: str

    def loses(self, parameter: str) -> str:
        """The first segment that a change of this parameter loses."""
        told = self.first_lost[parameter]
        name = told.removeprefix("switch: ")
        return told if name == told else str(getattr(self, name))


def rules_for(model: str, overrides: Mapping[str, Any] | None = None) -> Rules:
    """The rules of a model, with `overrides` laid over the dated table.

    Raises:
        UsageError: an override that is no rule, or a value a switch cannot have.
        InvalidRequest: 404, a model the table does not know (with `minimum_tokens` among the
            overrides any name will do).
    """
    return _rules(model_id(model), tuple(sorted((overrides or {}).items(), key=lambda row: row[0])))


def model_id(model: str) -> str:
    """A model's id without reseller, date and version: caches are per model.

    >>> model_id("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), model_id("claude-opus-4.1")
    ('claude-sonnet-4-5', 'claude-opus-4-1')
    """
    name = _RESELLER.sub("", model.strip().lower()).replace(".", "-")
    name = _VERSION.sub("", name)
    return _ALIASES.get(name, name)


def switches() -> dict[str, Switch]:
    """Every switch by name, with its default first among its values."""
    return {
        row["name"]: Switch(
            row["name"], row["default"], tuple(row["values"]), row["meaning"], row["source"]
        )
        for row in table()["switch"]
    }


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """`data/cache_rules.toml` as it stands."""
    with (project.data_dir() / "cache_rules.toml").open("rb") as file:
        return tomllib.load(file)


def known_models() -> list[str]:
    """Models whose minimum the table states."""
    return [model for row in table()["minimum"] for model in row["models"]]


def _rules(model: str, overrides: tuple[tuple[str, Any], ...]) -> Rules:
    try:
        return _cached_rules(model, overrides)
    except TypeError:  # an override that cannot be hashed, such as a mapping of TTLs
        return _build(model, dict(overrides))


@lru_cache(maxsize=256)
def _cached_rules(model: str, overrides: tuple[tuple[str, Any], ...]) -> Rules:
    return _build(model, dict(overrides))


def _build(model: str, overrides: dict[str, Any]) -> Rules:
    _check(overrides)
    if model not in known_models() and "minimum_tokens" not in overrides:
        near = get_close_matches(model, known_models(), n=3)
        hint = f"near names: {', '.join(near)}; " if near else ""
        raise InvalidRequest(
            f"model: {model} is not in data/cache_rules.toml; {hint}"
            'any name will do with a minimum: model_rules={"minimum_tokens": …} in Python, '
            "--minimum-tokens with ctxlab serve",
            status=404,
        )
    return replace(_from_table(model), **overrides)


def _check(overrides: dict[str, Any]) -> None:
    known = [field.name for field in fields(Rules)]
    for name, value in overrides.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"rules are {', '.join(known)}"
            raise UsageError(f"model_rules: no rule {name!r}; {hint}")
        switch = switches().get(name)
        if switch and value not in switch.values:
            told = ", ".join(repr(allowed) for allowed in switch.values)
            raise UsageError(f"model_rules: {name} is one of {told}, not {value!r}")


def _from_table(model: str) -> Rules:
    rows = table()
    prompts = [(row["auto"], row["forced"]) for row in rows["tool_prompt"] if _speaks(row, model)]
    minimums = [row["tokens"] for row in rows["minimum"] if _speaks(row, model)]
    # A model outside the table is allowed everything: its minimum came from the caller.
    unknown = not minimums
    rules: dict[str, Any] = {
        "minimum_tokens": minimums[0] if minimums else 0,
        "ttl_seconds": {row["name"]: row["seconds"] for row in rows["ttl"]},
        "run_types": tuple(row["type"] for row in rows["run"]),
        "tool_prompt_tokens": prompts[0] if prompts else (0, 0),
        "first_lost": {row["parameter"]: row["first_lost"] for row in rows["invalidation"]},
    }
    rules |= {row["name"]: row["value"] for row in rows["limit"]}
    rules |= {row["name"]: unknown or _speaks(row, model) for row in rows["capability"]}
    rules |= {row["name"]: not _speaks(row, model) for row in rows["refusal"]}
    rules |= {name: switch.default for name, switch in switches().items()}
    return Rules(**rules)


def _speaks(row: Mapping[str, Any], model: str) -> bool:
    return model in row["models"]
