"""What the documents state, held against what we measure.

`data/claims.yaml` is the one place with figures of the documents. A claim says where it is
measured: `measured_in: {experiment, table, select, column}`, an entry of the plan, one of its
tables, the rows (column → value, or a list of values) and the column. For a claim with several
named values, `$key` stands for the name: in `select` (a row each) or as `column` (a column each).

| value of the claim | what is read                                                       |
|--------------------|--------------------------------------------------------------------|
| one value          | the one selected row's column; `of` from the row's column of that name |
| `{name: value}`    | the same for each name                                             |
| `[value, …]`       | the column of all selected rows, in the table's order              |

A notebook holds its own tables against the claims with `check`, the notebook over all claims reads
the newest tables and calls `compare`. How a verdict is reached stands in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ctxlab import project
from ctxlab.errors import InputError, UsageError
from ctxlab.experiments.verdicts import KINDS, difference, told, verdict

CLAIMS = "data/claims.yaml"
COLUMNS = ["id", "verdict", "statement", "stated", "measured", "unit", "note", "document"]
DOCUMENTS = ("tool-registry", "tool-design", "result-handling", "tool-search")
KEY = "$key"

Tables = Mapping[str, pd.DataFrame]


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


def stated(claim: str, claims: Iterable[Claim] | None = None) -> Any:
    """The value of one claim, for a chart that marks it; without `claims`, those of CLAIMS.

    Raises:
        UsageError: no claim has this id.
    """
    for known in load_claims() if claims is None else claims:
        if known.id == claim:
            return known.value
    raise UsageError(f"no claim has the id {claim!r}")


def check(experiment: str, tables: Tables, claims: Iterable[Claim] | None = None) -> pd.DataFrame:
    """The claims that are measured in `experiment`, against the tables of one run of it.

    For a notebook's own cell: `check("tool_mutations", {"mutations": mutations}, claims)`, with
    `claims = load_claims(figures)`, where `figures` is a `Path` parameter, so that a run is done
    again when the file has changed. Without `claims`, those of CLAIMS. Columns as `compare`.
    """
    known = load_claims() if claims is None else claims
    own = [c for c in known if c.measured_in and c.measured_in.experiment == experiment]
    return compare(own, {experiment: tables})


def compare(claims: Iterable[Claim], tables: Mapping[str, Tables]) -> pd.DataFrame:
    """Each claim against what was measured; `tables` maps experiment → table → frame.

    Columns id; verdict (`reproduced`, `direction`, `differs`, `external`, `live`, `open`);
    statement; stated, measured (both as text, with what they are part of); unit; note (what
    differs and why, or why nothing was measured); document. A claim is never left out: one without
    `measured_in`, or whose table, row or column is not there, is `open`.
    """
    return pd.DataFrame([_row(claim, tables) for claim in claims], columns=COLUMNS, dtype=str)


def _row(claim: Claim, tables: Mapping[str, Tables]) -> list[str]:
    stated, measured, missing = _stated(claim), "", ""
    of: float | None = None
    found = None
    try:
        found, of = _measure(claim, tables)
        measured = told(found, of)
    except LookupError as error:
        missing = str(error.args[0])
    result = verdict(claim.kind, (claim.value, claim.of), (found, of), claim.unit)
    differs = difference(claim.value, found) if result in ("differs", "direction") else ""
    note = "; ".join(part for part in (missing, differs, claim.note) if part)
    figures = [claim.statement, stated, measured, claim.unit]
    return [claim.id, result, *figures, note, claim.document]


def _stated(claim: Claim) -> str:
    """A claim without a figure says that something holds; the statement says what."""
    in_words = claim.value is None and claim.measured_in is not None
    return "that it holds" if in_words else told(claim.value, claim.of)


def _measure(claim: Claim, tables: Mapping[str, Tables]) -> tuple[Any, float | None]:
    place = claim.measured_in
    if place is None:
        raise LookupError("")
    frame = tables.get(place.experiment, {}).get(place.table)
    if frame is None:
        raise LookupError(f"not measured: no table {place.table} of {place.experiment}")
    if isinstance(claim.value, Mapping):
        return {key: _cell(_rows(frame, place, key), place, key) for key in claim.value}, None
    rows = _rows(frame, place)
    if isinstance(claim.value, Sequence) and not isinstance(claim.value, str):
        return [_plain(value) for value in _column(rows, place.column)], None
    of = _cell(rows, place, column="of") if claim.of is not None and "of" in frame else None
    return _cell(rows, place), of


def _rows(frame: pd.DataFrame, place: MeasuredIn, key: str = "") -> pd.DataFrame:
    for column, value in place.select.items():
        wanted = key if value == KEY else value
        choices = wanted if isinstance(wanted, list) else [wanted]
        # A number that is the name of a row may come back from CSV as a number, or go in as one.
        names = {str(choice) for choice in choices}
        cells = map(_plain, _column(frame, column))
        frame = frame[[cell in choices or str(cell) in names for cell in cells]]
    return frame


def _cell(rows: pd.DataFrame, place: MeasuredIn, key: str = "", column: str = "") -> Any:
    values = list(_column(rows, column or (key if place.column == KEY else place.column)))
    if len(values) != 1:
        where = " and ".join(
            f"{name} = {key if value == KEY else value}" for name, value in place.select.items()
        )
        which = f"where {where}" if where else "at all"
        raise LookupError(f"not measured: {len(values)} rows {which} in {place.table}, expected 1")
    if pd.isna(values[0]):
        raise LookupError(f"not measured: an empty cell in {place.table}")
    return _plain(values[0])


def _column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name not in frame:
        raise LookupError(f"not measured: no column {name}")
    return frame[name]


def _plain(value: Any) -> Any:
    """A number, text or flag of Python in place of numpy's."""
    return value.item() if hasattr(value, "item") else value


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
