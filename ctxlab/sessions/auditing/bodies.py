"""Why a request read too little, by the two bodies: what changed, in which tool, at which place.

Bodies are read two at a time and only for a request that broke: a log of gigabytes stays on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import orjson

from ctxlab.cache import Explanation, PromptCache, explain
from ctxlab.cache.diagnostics import cached_tokens
from ctxlab.cache.validation import SAMPLING
from ctxlab.errors import CtxlabError
from ctxlab.sessions.auditing.fall import Fall, minimum_tokens
from ctxlab.sessions.auditing.verdict import Cause, Verdict
from ctxlab.sessions.model import Exchange

# Usage tells what was cached; whether an estimate of it reaches the minimum says nothing more.
_ANY_LENGTH = {"minimum_tokens": 0}
# What a body of another API, or none at all, may raise when it is laid out.
_NOT_A_REQUEST = (CtxlabError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def from_bodies(fall: Fall) -> Verdict | None:
    """The verdict of the two bodies; None where they are not there or no Messages API requests."""
    bodies = _body(fall.before), _body(fall.now)
    if bodies[0] is None or bodies[1] is None:
        return None
    try:
        told = explain(*(orjson.dumps(body) for body in bodies), model_rules=_ANY_LENGTH)
        if told.segment is None:
            return _nothing_changed(told, fall)
        if _replaced(told, fall, bodies[0], bodies[1]):
            return Verdict("compaction", pointer=told.path)
        if fall.expired and not fall.counts.read and _something_left(told):
            note = f"{told.segment} changed too, at {told.path}, which alone would lose less"
            return Verdict("TTL expired", inferred=False, note=note)
    except _NOT_A_REQUEST:
        return None
    cause = cast("Cause", told.segment)
    return Verdict(cause, told.tool or "", told.path, inferred=False, advice=told.advice)


def changed(before: Exchange, now: Exchange) -> Verdict | None:
    """What two bodies say where no usage was recorded; None where the second breaks nothing."""
    bodies = _body(before), _body(now)
    if bodies[0] is None or bodies[1] is None:
        return None
    rules = None if minimum_tokens(now.model) else _ANY_LENGTH
    try:
        told = explain(*(orjson.dumps(body) for body in bodies), model_rules=rules)
        if not told.lost_tokens_at_breakpoint:
            return None
    except _NOT_A_REQUEST:
        return None
    note, unsure = "by the bodies alone", told.segment is None
    cause: Cause = "lookback" if told.segment is None else cast("Cause", told.segment)
    return Verdict(cause, told.tool or "", told.path, unsure, note, told.advice)


def repeated(fall: Fall) -> bool | None:
    """Whether the second body is the first again; None where the bodies do not say."""
    bodies = _body(fall.before), _body(fall.now)
    if bodies[0] is None or bodies[1] is None:
        return None
    try:
        told = explain(*(orjson.dumps(body) for body in bodies), model_rules=_ANY_LENGTH)
        return told.segment is None and len(bodies[0]["messages"]) == len(bodies[1]["messages"])
    except _NOT_A_REQUEST:
        return None


def in_vain(now: Exchange, total: int) -> Verdict | None:
    """Whether a request of which nothing was cached asks for caching below the minimum.

    Args:
        now: the request.
        total: its input tokens, as the usage has them.
    """
    least = minimum_tokens(now.model)
    body = _body(now) if least else None
    if body is None or b'"cache_control"' not in orjson.dumps(body):
        return None
    try:
        layout = PromptCache(_ANY_LENGTH).lay_out(body)
    except _NOT_A_REQUEST:
        return None
    if not layout.breakpoints:
        return None
    told = min(total, cached_tokens(layout))
    if told >= least:
        return None
    note = f"its last breakpoint stands below {least:,} tokens, and shorter prefixes are not cached"
    return Verdict("below minimum", inferred=total >= least, note=note)


def _nothing_changed(told: Explanation, fall: Fall) -> Verdict:
    """Whatever was sent before was sent again."""
    if fall.expired:
        return Verdict("TTL expired", inferred=False, note="nothing changed; the entries were old")
    if not fall.counts.reach and (short := in_vain(fall.now, fall.counts.total)):
        return short
    if told.lost_tokens_at_breakpoint:
        return Verdict("lookback", inferred=False, advice=told.advice)
    note = "nothing changed and the entries were young: evicted, or another workspace or region"
    advice = "Send what shares a prefix from one workspace and to one region."
    return Verdict("unknown", inferred=False, note=note, advice=advice)


def _replaced(told: Explanation, fall: Fall, before: dict[str, Any], now: dict[str, Any]) -> bool:
    """A history of which little is left was compacted, not edited."""
    fewer = len(now["messages"]) < len(before["messages"])
    return told.segment == "messages" and fewer and fall.shrank


def _something_left(told: Explanation) -> bool:
    """Whether the change alone would have left some of the cache readable."""
    return told.loss.cached > told.lost_tokens_at_breakpoint


def _body(exchange: Exchange) -> dict[str, Any] | None:
    """Without parameters that later versions of the API refuse: an old log stays readable."""
    try:
        body = exchange.body()
    except (AttributeError, IndexError, OSError, ValueError):  # the file has changed since
        return None
    if not isinstance(body, Mapping):
        return None
    return {key: value for key, value in body.items() if key not in SAMPLING}
