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
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ctxlab.errors import UsageError
from ctxlab.experiments.claim_file import CLAIMS as CLAIMS
from ctxlab.experiments.claim_file import DOCUMENTS as DOCUMENTS
from ctxlab.experiments.claim_file import Claim as Claim
from ctxlab.experiments.claim_file import MeasuredIn as MeasuredIn
from ctxlab.experiments.claim_file import load_claims as load_claims
from ctxlab.experiments.verdicts import difference, told, verdict

COLUMNS = ["id", "verdict", "statement", "stated", "measured", "unit", "note", "document"]
KEY = "$key"

Tables = Mapping[str, pd.DataFrame]


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


@dataclass(frozen=True)
class Measured:
    """What was read for a claim: a value, or several by name or in a list; or why there is none."""

    value: Any = None
    of: float | None = None
    """The whole that the value is a part of."""
    missing: str = ""


def measure(claim: Claim, tables: Mapping[str, Tables]) -> Measured:
    """Read what `measured_in` names; a claim that names nothing is not measured, and no error."""
    try:
        return Measured(*_measure(claim, tables))
    except LookupError as error:
        return Measured(missing=str(error.args[0]))


def verdict_on(claim: Claim, measured: Measured) -> str:
    """One of `verdicts.VERDICTS`."""
    stated, found = (claim.value, claim.of), (measured.value, measured.of)
    return verdict(claim.kind, stated, found, claim.unit)


def told_stated(claim: Claim) -> str:
    """What is stated, as text; without a figure it is that something holds."""
    in_words = claim.value is None and claim.measured_in is not None
    return "that it holds" if in_words else told(claim.value, claim.of)


def _row(claim: Claim, tables: Mapping[str, Tables]) -> list[str]:
    measured = measure(claim, tables)
    result = verdict_on(claim, measured)
    differs = difference(claim.value, measured.value) if result in ("differs", "direction") else ""
    note = "; ".join(part for part in (measured.missing, differs, claim.note) if part)
    figures = [told_stated(claim), told(measured.value, measured.of), claim.unit]
    return [claim.id, result, claim.statement, *figures, note, claim.document]


def _measure(claim: Claim, tables: Mapping[str, Tables]) -> tuple[Any, float | None]:
    place = claim.measured_in
    if place is None:
        raise LookupError("")
    if place.experiment not in tables:
        raise LookupError(f"no run of {place.experiment} yet")
    frame = tables[place.experiment].get(place.table)
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
