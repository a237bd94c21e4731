"""Every claim of the documents in one table: stated, measured, verdict, and why.

    stated = claims.load_claims()
    tables = newest_tables(ledger.experiments(stated))      # entry → table → frame
    ledger.table(stated, tables)                            # one row for each claim, none left out
    ledger.ratios(stated, tables)                           # measured ÷ stated, for the chart

Not handled: what is the right verdict (that is `verdicts`), and where a value stands (`claims`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ctxlab.experiments.claims import (
    DOCUMENTS,
    Claim,
    Measured,
    Tables,
    measure,
    told_stated,
    verdict_on,
)
from ctxlab.experiments.verdicts import VERDICTS, difference, told

COLUMNS = [
    "verdict", "statement", "stated", "measured", "unit", "why", "document", "measured_in", "id",
]  # fmt: skip

MEANINGS = {
    "reproduced": "equal, to the last digit that the document writes",
    "direction": "not equal, but the same sign and order",
    "differs": "measured, and neither of the two",
    "external": "their own telemetry or inputs: ours stands beside it and cannot equal it",
    "live": "needs the real API",
    "open": "no experiment has measured it",
}
"""Verdict → what it says of a claim."""

_FEW = 5

ORDER = ("direction", "open", "differs", "reproduced", "live", "external")
"""Verdicts in the order of a chart's colours: red differs, green is reproduced, grey external."""

_COUNTED = {
    "reproduced": "reproduced",
    "direction": "in direction",
    "differs": "different",
    "external": "of someone's own telemetry or inputs",
    "live": "for the real API alone",
    "open": "open",
}

_WORDS = {
    "reproduced": "as stated",
    "direction": "it holds",
    "differs": "differs",
    "external": "on other inputs",
    "live": "needs the real API",
    "open": "not measured",
}
"""What a chart says of a claim that has no ratio."""


def experiments(claims: Iterable[Claim]) -> list[str]:
    """The entries that claims are measured in, each once, in the claims' order.

    >>> from ctxlab.experiments.claims import load_claims
    >>> experiments(load_claims())[:2]
    ['tool_mutations', 'field_orderings']
    """
    return list(dict.fromkeys(c.measured_in.experiment for c in claims if c.measured_in))


def table(claims: Iterable[Claim], tables: Mapping[str, Tables]) -> pd.DataFrame:
    """One row for each claim, by document, in the claims' order; `tables` as for `claims.compare`.

    Columns verdict, statement, stated, measured, unit, why, document, measured_in (entry and table;
    empty where no experiment covers the claim), id. `why` is in words wherever a claim is not
    reproduced: of one that differs both values, of an open one what is missing.
    """
    rows = [_row(claim, measure(claim, tables)) for claim in _by_document(claims)]
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


def ratios(claims: Iterable[Claim], tables: Mapping[str, Tables]) -> pd.DataFrame:
    """Measured ÷ stated, a row for each value of each claim, in the order of `table`.

    Columns document, statement, verdict, name (of the value, among several), ratio (NaN where a
    value is no number, or was not measured), told (words in place of a ratio). A claim without any
    ratio has one row.
    """
    rows = [row for claim in _by_document(claims) for row in _ratios(claim, measure(claim, tables))]
    columns = ["document", "statement", "verdict", "name", "ratio", "told"]
    return pd.DataFrame(rows, columns=columns).astype({"ratio": float})


def counts(found: pd.DataFrame) -> dict[str, int]:
    """Verdict → how many claims of `table` have it, in the order of VERDICTS."""
    there = Counter(found["verdict"])
    return {verdict: there[verdict] for verdict in VERDICTS if there[verdict]}


def conclusion(found: pd.DataFrame) -> str:
    """The table in sentences (Markdown): the count, then what differs and what is open."""
    told_counts = ", ".join(f"**{n}** {_COUNTED[verdict]}" for verdict, n in counts(found).items())
    parts = [f"{len(found)} claims: {told_counts}."]
    for verdict, heading in (("differs", "What differs"), ("open", "What nobody measured yet")):
        own = found[found["verdict"] == verdict]
        if len(own):
            lines = (f"- {row.statement} (`{row.document}`): {row.why}" for row in own.itertuples())
            parts.append(f"{heading}:\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _by_document(claims: Iterable[Claim]) -> list[Claim]:
    return sorted(claims, key=lambda claim: DOCUMENTS.index(claim.document))


def _row(claim: Claim, measured: Measured) -> list[str]:
    result, place = verdict_on(claim, measured), claim.measured_in
    return [
        result,
        claim.statement,
        told_stated(claim),
        _told_measured(measured, result),
        claim.unit,
        _why(claim, measured, result),
        claim.document,
        f"{place.experiment} · {place.table}" if place else "",
        claim.id,
    ]


def _told_measured(measured: Measured, result: str) -> str:
    """A dozen values that are all as stated are not written out twice."""
    value = measured.value
    several = isinstance(value, Mapping) or _several(value)
    if result == "reproduced" and several and len(value) > _FEW:
        return f"all {len(value)} as stated"
    return told(value, measured.of)


def _why(claim: Claim, measured: Measured, result: str) -> str:
    reason = claim.note
    if result in ("open", "live"):
        missing = measured.missing or MEANINGS[result]
        return "; ".join(filter(None, (missing, reason)))
    if result in ("differs", "direction"):
        both = f"stated {told_stated(claim)}, measured {told(measured.value, measured.of)}"
        differing = difference(claim.value, measured.value) or both
        return ": ".join(filter(None, (differing if claim.value is not None else "", reason)))
    return reason or (MEANINGS[result] if result == "external" else "")


def _ratios(claim: Claim, measured: Measured) -> list[list[Any]]:
    result = verdict_on(claim, measured)
    start = [claim.document, claim.statement, result]
    pairs = list(_pairs(claim.value, measured.value))
    rows = [[*start, name, ratio, ""] for name, *pair in pairs if (ratio := _ratio(*pair)) >= 0]
    return rows or [[*start, "", float("nan"), _WORDS[result]]]


def _pairs(stated: Any, found: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, stated, measured of each value."""
    if isinstance(stated, Mapping) and isinstance(found, Mapping):
        yield from ((str(name), value, found[name]) for name, value in stated.items())
    elif _several(stated) and _several(found):
        yield from (("", *pair) for pair in zip(stated, found, strict=False))
    else:
        yield "", stated, found


def _several(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _ratio(stated: Any, found: Any) -> float:
    """Measured ÷ stated; -1 where no ratio says anything: no numbers, or of different sign."""
    if not (_is_number(stated) and _is_number(found)):
        return -1
    if stated == found:
        return 1.0
    return float(found / stated) if stated and found / stated >= 0 else -1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
