"""`data/claims.yaml`, the one place with figures of the documents, as records.

    - {id: reg-safe, document: tool-registry, kind: exact, statement: "…", value: 2, of: 12,
       measured_in: {experiment: tool_mutations, table: summary, column: value, select: {…}}}

Not handled: whether what `measured_in` names is there; `claims` tells when it reads the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from ctxlab import project
from ctxlab.errors import InputError
from ctxlab.experiments.verdicts import KINDS

CLAIMS = "data/claims.yaml"
DOCUMENTS = ("tool-registry", "tool-design", "result-handling", "tool-search")


@dataclass(frozen=True)
class MeasuredIn:
    """Where the measured value of a claim stands."""

    experiment: str
    """An entry of the plan."""
    table: str
    """One of the tables that its run records."""
    column: str
    select: Mapping[str, Any] = field(default_factory=dict)
    """Column → the value (or list of values) that its rows have; empty selects every row."""


@dataclass(frozen=True)
class Claim:
    """One figure, or a few that belong together, stated by a document."""

    id: str
    document: str
    kind: str
    """One of `verdicts.KINDS`."""
    statement: str
    value: Any = None
    """A number, a text, a list, or a mapping name → number; None where only words are stated."""
    unit: str = ""
    of: float | None = None
    """The whole that `value` is a part of: 2 of 12."""
    note: str = ""
    measured_in: MeasuredIn | None = None


def load_claims(path: str | Path = CLAIMS) -> list[Claim]:
    """Every claim, in the file's order.

    >>> len({claim.id for claim in load_claims()}) == len(load_claims())
    True

    Raises:
        InputError: no such file, no YAML (with the line), or a claim that is not what it should be
            (with the claim and the field).
    """
    entries = _read(path).get("claims")
    if not isinstance(entries, list):
        raise InputError("expected a list of claims", path=path, place="claims")
    claims = [_claim(entry, path, f"claims[{index}]") for index, entry in enumerate(entries)]
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise InputError(f"the id {claim.id!r} is used twice", path=path, place=claim.id)
        seen.add(claim.id)
    return claims


def _read(path: str | Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(project.resolve(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(f"not YAML: {error.problem}", path=path, place=line) from None
    if not isinstance(content, dict):
        raise InputError("expected a mapping with the key claims", path=path)
    return content


def _claim(entry: Any, path: str | Path, place: str) -> Claim:
    values = _fields(entry, Claim, path, place)
    place = values["id"]
    if values["kind"] not in KINDS:
        raise InputError(f"no kind {values['kind']!r}; {_one_of(KINDS)}", path=path, place=place)
    if values["document"] not in DOCUMENTS:
        unknown = f"no document {values['document']!r}; {_one_of(DOCUMENTS)}"
        raise InputError(unknown, path=path, place=place)
    if "measured_in" in values:
        where = f"{place}.measured_in"
        values["measured_in"] = MeasuredIn(
            **_fields(values["measured_in"], MeasuredIn, path, where)
        )
    return Claim(**values)


def _fields(entry: Any, record: type, path: str | Path, place: str) -> dict[str, Any]:
    """`entry` as keyword arguments of the dataclass `record`."""
    if not isinstance(entry, dict):
        raise InputError("expected a mapping", path=path, place=place)
    known = {item.name: item for item in fields(record)}
    for name in entry:
        if name not in known:
            raise InputError(f"no field {name!r}; {_one_of(known)}", path=path, place=place)
    for name in ("id", "document", "kind", "statement", "experiment", "table", "column"):
        if name in known and not isinstance(entry.get(name), str):
            raise InputError("expected a text", path=path, place=f"{place}.{name}")
    if not isinstance(entry.get("select", {}), dict):
        raise InputError("expected column: value", path=path, place=f"{place}.select")
    return dict(entry)


def _one_of(names: Iterable[str]) -> str:
    return f"there are {', '.join(names)}"
