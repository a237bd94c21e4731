"""What differs between two runs, as far as their manifests tell: inputs, and which tables moved.

>>> before = {"parameters": {"seeds": 10}, "git": {"commit": "a" * 40}}
>>> after = {"parameters": {"seeds": 20}, "git": {"commit": "a" * 40}}
>>> input_changes(before, after)
[Change(what='seeds', before='10', after='20')]

Manifests are mappings as JSON gives them; what they lack is no change. Not handled: rows and
verdicts, which are the comparison's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["same", "differs", "new", "gone"]

_SHORT = 8
_NAMED = 4
_LONGEST = 60
_FACTS = (
    ("commit", ("git", "commit")),
    ("uncommitted changes", ("git", "dirty")),
    ("notebook", ("notebook", "source_sha256")),
    ("Python", ("environment", "python")),
    ("lock", ("environment", "lock_sha256")),
    ("tokenizer", ("tokenizer",)),
)


@dataclass(frozen=True)
class Change:
    """One input that is not what it was; an empty side was not there."""

    what: str
    before: str
    after: str


def input_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What differs in what two runs were made of: parameters, code, packages, data.

    The packages that moved are named one by one up to four, then counted.
    """
    changes = list(_pairs("", part(before, "parameters"), part(after, "parameters")))
    for what, place in _FACTS:
        old, new = _found(before, place), _found(after, place)
        if old != new:
            changes.append(Change(what, _told(old), _told(new)))
    changes += _data_changes(before, after)
    packages = [part(part(run, "environment"), "packages") for run in (before, after)]
    moved = list(_pairs("", *packages))
    changes += moved[:_NAMED]
    if len(moved) > _NAMED:
        changes.append(Change(f"{len(moved) - _NAMED:,} more packages", "", ""))
    return changes


def table_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Verdict]:
    """Table → whether it is byte for byte what it was; measured times are left out.

    >>> table_changes({"tables": {"a": {"sha256": "1"}}}, {"tables": {"a": {"sha256": "2"}}})
    {'a': 'differs'}
    """
    old, new = (
        {
            name: table.get("sha256")
            for name, table in part(run, "tables").items()
            if isinstance(table, Mapping) and table.get("measured") is not True
        }
        for run in (before, after)
    )
    return {name: _verdict(name, old, new) for name in sorted({*old, *new})}


def part(value: object, name: str) -> Mapping[str, Any]:
    """A mapping inside a mapping; empty where there is none."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _verdict(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Verdict:
    if name not in old:
        return "new"
    if name not in new:
        return "gone"
    return "same" if old[name] == new[name] else "differs"


def _pairs(about: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            yield Change(f"{about}{name}", _told(old.get(name)), _told(new.get(name)))


def _data_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """Inputs whose content moved under the same path; another path is a parameter's change."""
    old, new = ({datum["path"]: datum for datum in _data(run)} for run in (before, after))
    for path in [path for path in old if path in new]:
        if old[path].get("sha256") != new[path].get("sha256"):
            yield Change(str(path), _told(old[path].get("sha256")), _told(new[path].get("sha256")))


def _data(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    data = run.get("data")
    found = data if isinstance(data, list) else []
    return [datum for datum in found if isinstance(datum, Mapping) and "path" in datum]


def _found(run: Mapping[str, Any], place: tuple[str, ...]) -> object:
    found: Any = run
    for name in place:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _told(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) in (40, 64) and not set(text) - set("0123456789abcdef"):  # a hash
        return text[:_SHORT]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
