"""What changed between two request bodies, and what it costs: `ctxlab diff`.

Token counts are o200k estimates. Files hold a Messages API request body, or one line of a request
log, `{"request": {…}}`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ctxlab.cache import Explanation, explain
from ctxlab.cache.explanation import Change
from ctxlab.errors import InputError, InvalidRequest, UsageError
from ctxlab.masking import masked_json
from ctxlab.prefix import ToolChange
from ctxlab.prices import rates
from ctxlab.sessions.auditing.fall import minimum_tokens
from ctxlab.sessions.telling import request_file
from ctxlab.sessions.telling.shown import shown, shown_pair

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
    note: str = ""
    """What was assumed, where a model is not known."""


def differ(before: Path, after: Path) -> Difference:
    """Compare the request bodies in two files.

    Raises:
        InputError: a file that is no request body, or one that the API would refuse.
        OSError: a file cannot be read.
    """
    paths = before.expanduser(), after.expanduser()
    bodies = [request_file.body_of(path) for path in paths]
    rules, note = _rules(*(str(body["model"]) for body in bodies))
    texts = [request_file.text_of(body, path) for body, path in zip(bodies, paths, strict=True)]
    try:
        told = _explained(texts, rules)
    except InvalidRequest as error:
        raise _refused(error, texts, paths, rules) from None
    breakpoints = told.loss.layouts[1].breakpoints
    ttl = breakpoints[-1].ttl if breakpoints else "5m"
    model = str(bodies[1]["model"])
    price = _price(model, told.lost_tokens_at_breakpoint, ttl)
    return Difference(told, model, ttl, *price, note)


def _explained(texts: Sequence[bytes], rules: Mapping[str, Any] | None) -> Explanation:
    told = explain(*texts, model_rules=rules)
    told.loss.settle()
    return told


def _rules(before: str, after: str) -> tuple[dict[str, Any] | None, str]:
    """Overrides for models that the table does not know yet, and what to say of them."""
    least = [minimum_tokens(model) for model in (before, after)]
    if all(least):
        return None, ""
    unknown = dict.fromkeys(model for model, n in zip((before, after), least, strict=True) if not n)
    known = max(least)
    told = f"a minimum of {known:,} tokens is assumed" if known else "no minimum is assumed"
    return {"minimum_tokens": known}, f"no rules are known for {', '.join(unknown)}: {told}"


def _refused(
    error: InvalidRequest,
    texts: Sequence[bytes],
    paths: Sequence[Path],
    rules: Mapping[str, Any] | None,
) -> InputError:
    """The refusal, with the file that it speaks of."""
    for text, path in zip(texts, paths, strict=True):
        try:
            _explained([text, text], rules)
        except InvalidRequest as its:
            return InputError(f"the API would refuse the request: {its.message}", path=path)
    return InputError(f"the API would refuse a request: {error.message}")


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
    head += [f"  {line}" for change in told.changes[:_MOST] for line in _told(change)]
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
        "note": found.note,
        "advice": told.advice,
    }
    return json.dumps(masked_json(value), indent=1)


def _lines(head: list[str], found: Difference) -> str:
    told = found.told
    cached = f"lost: {told.lost_tokens_at_breakpoint:,} cached tokens that are not found again"
    lost = [f"{cached}; {told.lost_tokens:,} tokens stand behind the change (o200k estimate)"]
    if told.lost_tokens_at_breakpoint:
        cost = "unknown" if math.isnan(found.usd) else f"{found.usd:,.6f} USD"
        lost.append(
            f"cost: {cost} to write them again for {found.ttl} instead of reading them "
            f"({shown(found.model, 40)}, {shown(found.priced_on, _WIDTH)})"
        )
    note = [shown(found.note, 2 * _WIDTH)] if found.note else []
    advice = shown(told.advice, 2 * _WIDTH)
    return "\n".join([*head, *(lost if told.broke else []), *note, advice])


def _told(change: ToolChange | Change) -> list[str]:
    """What a change is, with both values around the place where they differ."""
    names = (change.kind, getattr(change, "tool", ""), change.pointer)
    head = shown(" ".join(filter(None, names)), _WIDTH)
    sides = [(sign, text) for sign, text in zip("-+", _values(change), strict=True) if text]
    if len(sides) == len(("before", "after")):
        before, after = (text for _, text in sides)
        if len(head) + len(before) + len(after) <= _WIDTH:
            return [f"{head}: {before} → {after}"]
    return [head, *(f"  {sign} {text}" for sign, text in sides)]


def _values(change: ToolChange | Change) -> tuple[str, str]:
    """Excerpts of before and after; empty where there is nothing to be shown."""
    if isinstance(change, ToolChange) and change.kind in ("added", "removed"):
        return "", ""
    old, new = (
        "" if v is None else orjson.dumps(v).decode() for v in (change.before, change.after)
    )
    before, after = shown_pair(old, new, _WIDTH)
    if before == after:
        return before and f"{before} (they differ in what is masked)", after
    return before, after


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
