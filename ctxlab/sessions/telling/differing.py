"""What changed between two request bodies, and what it costs: `ctxlab diff`.

Token counts are o200k estimates. Files hold a Messages API request body, or one line of a request
log, `{"request": {…}}`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ctxlab.cache import Explanation, explain
from ctxlab.cache.validation import SAMPLING
from ctxlab.errors import InputError, InvalidRequest, UsageError
from ctxlab.masking import masked_json
from ctxlab.prices import rates
from ctxlab.sessions.auditing.fall import minimum_tokens
from ctxlab.sessions.telling.shown import shown

_WIDTH = 100
_MOST = 20
"""Changes that are shown; the others are in the JSON."""
_MILLION = 1_000_000


@dataclass(frozen=True)
class Difference:
    """Two requests, one after the other."""

    told: Explanation
    model: str
    """Of the second request."""
    ttl: str
    """The lifetime that what was lost is written for again."""
    usd: float
    """Writing again what could have been read, at today's prices; NaN where nobody knows them."""
    priced_on: str
    """The day of the prices; why there are none, where there are none."""


def differ(before: Path, after: Path) -> Difference:
    """Compare the request bodies in two files.

    Raises:
        InputError: a file that is no request body.
        InvalidRequest: the API would refuse one of the requests.
    """
    bodies = [_body(before), _body(after)]
    model = str(bodies[1]["model"])
    # A model that the table does not know yet is compared all the same.
    known = minimum_tokens(str(bodies[0]["model"]))
    try:
        told = explain(
            *(orjson.dumps(body) for body in bodies),
            model_rules=None if known else {"minimum_tokens": 0},
        )
        told.loss.settle()
    except InvalidRequest as error:
        raise InputError(
            f"the API would refuse a request: {error}", path=f"{before}, {after}"
        ) from None
    breakpoints = told.loss.layouts[1].breakpoints
    ttl = breakpoints[-1].ttl if breakpoints else "5m"
    return Difference(told, model, ttl, *_price(model, told.lost_tokens_at_breakpoint, ttl))


def as_text(found: Difference) -> str:
    """What to print for people."""
    told = found.told
    if told.segment is None:
        return _lines(
            ["the prefix is whole" if not told.broke else "the prefix is not found"], found
        )
    at = " ".join(
        filter(None, (told.segment, told.path if told.path != f"/{told.segment}" else ""))
    )
    head = [
        f"the prefix broke at {shown(at, _WIDTH)}"
        if told.broke
        else f"changed: {shown(at, _WIDTH)}"
    ]
    head += [f"  {shown(str(change), _WIDTH)}" for change in told.changes[:_MOST]]
    if len(told.changes) > _MOST:
        head.append(f"  … and {len(told.changes) - _MOST:,} more; --json tells of all")
    return _lines(head, found)


def as_json(found: Difference) -> str:
    """The same for a script."""
    told = found.told
    value = {
        "schema": 1,
        "broke": told.broke,
        "segment": told.segment,
        "path": told.path,
        "kind": told.kind,
        "tool": told.tool,
        "message": told.message,
        "parameter": told.parameter,
        "only_reserialized": told.only_reserialized,
        "changes": [_change(change) for change in told.changes],
        "lost_tokens": told.lost_tokens,
        "lost_tokens_at_breakpoint": told.lost_tokens_at_breakpoint,
        "tokenizer": "o200k estimate",
        "model": found.model,
        "ttl": found.ttl,
        "usd": None if math.isnan(found.usd) else found.usd,
        "prices": found.priced_on,
        "advice": told.advice,
    }
    return json.dumps(masked_json(value), indent=1)


def _lines(head: list[str], found: Difference) -> str:
    told = found.told
    by_breakpoint = f"{told.lost_tokens_at_breakpoint:,} that the breakpoints would have read"
    lost = [f"lost: {told.lost_tokens:,} tokens by prefix, {by_breakpoint} (o200k estimate)"]
    if told.lost_tokens_at_breakpoint:
        cost = "unknown" if math.isnan(found.usd) else f"{found.usd:,.6f} USD"
        lost.append(
            f"cost: {cost} to write them again for {found.ttl} instead of reading them "
            f"({shown(found.model, 40)}, {shown(found.priced_on, _WIDTH)})"
        )
    return "\n".join([*head, *(lost if told.broke else []), shown(told.advice, 2 * _WIDTH)])


def _change(change: Any) -> dict[str, Any]:
    names = ("kind", "tool", "pointer", "before", "after", "semantic")
    return {name: getattr(change, name) for name in names if hasattr(change, name)}


def _price(model: str, tokens: int, ttl: str) -> tuple[float, str]:
    try:
        listed = rates(model)
    except UsageError as error:
        return math.nan, str(error)
    write = listed.cache_write_1h if ttl == "1h" else listed.cache_write_5m
    write = listed.input if write is None else write
    if write is None or listed.cache_read is None:
        return math.nan, f"{listed.source} has no price of cached tokens"
    return tokens * (write - listed.cache_read) / _MILLION, f"prices of {listed.priced_on}"


def _body(path: Path) -> dict[str, Any]:
    """The request body of a file, without parameters that later versions of the API refuse."""
    value = _value(path)
    if isinstance(value, Mapping) and isinstance(value.get("request"), Mapping):
        value = value["request"]
    if not isinstance(value, Mapping) or not {"model", "messages"} <= set(value):
        raise InputError(
            'no request body: a JSON object with model and messages, or {"request": {…}}', path=path
        )
    return {key: item for key, item in value.items() if key not in SAMPLING}


def _value(path: Path) -> Any:
    raw = path.read_bytes()
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if raw.strip().count(b"\n") and path.suffix == ".jsonl":
            raise InputError(
                "more than one line: give a file with one request", path=path
            ) from None
        raise InputError(f"not JSON: {error.msg}", path=path, place=error.lineno) from None
