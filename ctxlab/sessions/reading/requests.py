"""Lines of a request log: bodies of Messages API requests, bare or with what was answered.

A line is a body, with `usage`, `response` and a time beside it where there are any, or what our
recorder writes: `{"time": …, "path": …, "status": …, "request": {body}, "response": {…}, …}`. Logs
of OpenAI's APIs are taken too: their usage is converted (see `usage`), and of a Responses API body
only the model and the usage count. A request without an answer is one whose usage is not known; one
that failed, and one that only counted tokens, is none.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from ctxlab.sessions.reading.found import Found, Part, Talk
from ctxlab.sessions.reading.lines import BLANK, NO_OBJECT, Row
from ctxlab.sessions.reading.times import seconds
from ctxlab.sessions.reading.usage import normalised

DIGEST = 8
FAILED = "a request that failed"
COUNTED = "count_tokens: no request to the model"
NO_REQUEST = "no request"
NO_MODEL = "a request without a model"
REPEATED = "a line that was there before"
_BAD = 400
_TIMES = ("time", "timestamp", "created", "created_at")


def scan(rows: Iterable[Row]) -> Part:
    """What the lines of a log, or of a part of it, tell of requests."""
    part = Part()
    for number, offset, length, value, problem in rows:
        part.lines = number
        told = problem or _line(value, part, number)
        if isinstance(told, Found):
            part.items.append(told._replace(places=((number, offset, length),)))
        elif told != BLANK:
            part.tally.add(told, number)
    return part


def _line(value: Any, part: Part, number: int) -> str | Found:
    if not isinstance(value, dict):
        return NO_OBJECT
    body = value.get("request")
    body = body if isinstance(body, dict) else value
    answer = _mapping(value.get("response"))
    problem = _problem(value, body, answer)
    if problem:
        return problem
    model = _text(body.get("model")) or _text(answer.get("model")) or _text(value.get("model"))
    if not model:
        return NO_MODEL
    usage, notes = normalised(_mapping(answer.get("usage")) or _mapping(value.get("usage")))
    for note in notes:
        part.tally.add(note, number)
    has_body = isinstance(body.get("messages"), list)
    return Found(
        id=_text(answer.get("id")) or _text(value.get("id")),
        request_id=_text(value.get("request_id")),
        model=model,
        usage=usage,
        time=_time(value, answer),
        places=(),
        base=_text(value.get("agent")),
        details=_details(value, answer, has_body),
        talk=talk_of(body) if has_body else None,
    )


def _problem(value: Mapping[str, Any], body: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    if _text(value.get("path")).partition("?")[0].rstrip("/").endswith("count_tokens"):
        return COUNTED
    status = value.get("status")
    failed = isinstance(status, int) and status >= _BAD
    if failed or value.get("error") or answer.get("error") or answer.get("type") == "error":
        return FAILED
    known = ("messages", "input", "usage")
    asked = any(key in body for key in known) or "usage" in answer or "usage" in value
    return "" if asked or body is not value else NO_REQUEST


def _details(value: Mapping[str, Any], answer: Mapping[str, Any], has_body: bool) -> dict[str, Any]:  # noqa: FBT001
    diagnostics = answer.get("diagnostics")
    return {
        "has_body": has_body,
        "tools_fingerprint": _text(value.get("tools_fingerprint")),
        "diagnostics": diagnostics if isinstance(diagnostics, dict) else None,
        "simulated": value.get("simulated") is True,
    }


def _time(value: Mapping[str, Any], answer: Mapping[str, Any]) -> float | None:
    times = [seconds(source.get(key)) for source in (value, answer) for key in _TIMES]
    return next((time for time in times if time is not None), None)


def talk_of(body: Mapping[str, Any]) -> Talk:
    """What a request body says of its conversation; `messages` must be a list."""
    messages = b"".join(_digest(_message(each)) for each in body["messages"])
    return Talk(_digest(body.get("tools")), _digest(_blocks(body.get("system"))), messages)


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    return {"role": message.get("role"), "content": _blocks(message.get("content"))}


def _blocks(content: Any) -> Any:
    """Text is one block of text; cache markers move on from request to request and say nothing."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return content
    return [
        {key: part for key, part in each.items() if key != "cache_control"}
        if isinstance(each, dict) and "cache_control" in each
        else each
        for each in content
    ]


def _digest(value: Any) -> bytes:
    try:
        raw = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # it reads four times as deep as it writes
        raw = marshal.dumps(value, 2)
    return blake2b(raw, digest_size=DIGEST).digest()


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
