"""Rows of a Claude Code transcript: which of them are a request, and which only look like one.

One row per content block repeats the response's `message.id` and usage; the last one has the whole
output. A request is an `assistant` row alone: what a tool result, a `progress` or a `result` row
tells of usage are sums or copies of requests that have rows of their own. What a row lacks makes it
skipped and counted, never an error. Not handled here: which rows of two files are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ctxlab.sessions.reading.found import Compaction, Found, Item, Part, Place, Side, merged
from ctxlab.sessions.reading.lines import BLANK, NO_OBJECT, Row
from ctxlab.sessions.reading.times import seconds
from ctxlab.sessions.reading.usage import normalised

MAIN = "main"
ROLL_UP = "roll-up: usage that other rows told already"
NO_TYPE = "a row without a type"
NO_MESSAGE = "a row without a message"
SYNTHETIC = "synthetic answer: no request was sent"
API_ERROR = "API error"
NO_USAGE = "an answer without usage"
NO_MODEL = "an answer without a model"
NO_ID = "an answer without an id"


def scan(rows: Iterable[Row], session: str, agent: str = "") -> Part:
    """What the rows of a file, or of a part of it, tell of requests.

    Args:
        rows: in the order of the file.
        session: the session that the file belongs to; rows of another were copied into it.
        agent: the agent whose file it is; empty in a main file.
    """
    part = Part()
    items = part.items
    seen: dict[tuple[str, str], int] = {}
    for number, offset, length, value, problem in rows:
        part.lines = number
        if problem == BLANK or _is_ordinary(value):
            continue
        told = problem or _row(value, session, agent, (number, offset, length))
        if isinstance(told, str):
            part.tally.add(told, number)
            continue
        for item in told:
            if not isinstance(item, Found):
                items.append(item)
                continue
            at = seen.setdefault((item.id, item.request_id), len(items))
            if at == len(items):
                items.append(item)
            else:
                before = items[at]
                assert isinstance(before, Found)
                items[at] = merged(before, item)
    return _priced(part)


def stream_of(row: dict[str, Any], agent: str = "") -> tuple[str, str]:
    """The agent that a row belongs to, and for an inline sidechain without a name its uuid."""
    side = row.get("isSidechain") is True
    name = row.get("agentId") if side or agent else None
    if isinstance(name, str) and name:
        return name, ""
    if agent:
        return agent, ""
    uuid = row.get("uuid")
    return MAIN, uuid if side and isinstance(uuid, str) else ""


class Sidechains:
    """Names of inline sidechains: a row belongs to the chain of the row that it answers."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._count = 0

    def add(self, uuid: str, parent: str) -> str:
        """Note a row, in the order of the file; the name of its chain."""
        if uuid not in self._names:
            if parent not in self._names:
                self._count += 1
            chain = self._names.get(parent, f"sidechain-{self._count}")
            self._names[uuid] = chain
        return self._names[uuid]

    def name(self, base: str, side: str) -> str:
        """The stream of a row that `stream_of` told this of."""
        return self._names.get(side, base) if side else base


def _is_ordinary(row: Any) -> bool:
    """Whether it is what most rows are, a message of the user's that tells nothing of requests."""
    if type(row) is not dict or row.get("type") != "user" or row.get("isSidechain"):
        return False
    result = row.get("toolUseResult")
    sums = type(result) is dict and ("usage" in result or "totalTokens" in result)
    return not sums and type(row.get("message")) is dict and not row.get("isCompactSummary")


def _row(row: Any, session: str, agent: str, place: Place) -> str | tuple[Item, ...]:
    """Why a row is skipped, or what it tells: nothing where it is an ordinary one."""
    if not isinstance(row, dict):
        return NO_OBJECT
    kind = row.get("type")
    if kind == "assistant":
        return _answer(row, session, agent, place)
    if not isinstance(kind, str):
        return NO_TYPE
    if kind == "user":
        return _user(row, agent)
    if kind == "system" and _is_boundary(row.get("subtype")):
        return (Compaction(*stream_of(row, agent)),)
    return ROLL_UP if kind in ("result", "progress") and _tells_usage(row) else ()


def _user(row: dict[str, Any], agent: str) -> str | tuple[Item, ...]:
    base, side = stream_of(row, agent)
    items: tuple[Item, ...] = (Side(side, _text(row.get("parentUuid"))),) if side else ()
    if row.get("isCompactSummary") is True:
        return (*items, Compaction(base, side))
    if items:
        return items
    if not isinstance(row.get("message"), dict):
        return NO_MESSAGE
    result = row.get("toolUseResult")
    sums = isinstance(result, dict) and ("usage" in result or "totalTokens" in result)
    return ROLL_UP if sums else ()


def _answer(row: dict[str, Any], session: str, agent: str, place: Place) -> str | tuple[Item, ...]:
    message = row.get("message")
    problem = _problem(row, message)
    if problem or not isinstance(message, dict):
        return problem
    id_, request_id = _text(message.get("id")), _text(row.get("requestId"))
    if not id_ and not request_id:
        return NO_ID
    base, side = stream_of(row, agent)
    time = seconds(row.get("timestamp"))
    foreign = bool(session) and row.get("sessionId", session) != session
    model, usage = message["model"], message["usage"]
    found = Found(id_, request_id, model, usage, time, (place,), base, side, foreign)
    return (Side(side, _text(row.get("parentUuid"))), found) if side else (found,)


def _problem(row: dict[str, Any], message: Any) -> str:
    """Why an assistant row is no request."""
    if not isinstance(message, dict):
        return NO_MESSAGE
    model, usage = message.get("model"), message.get("usage")
    if row.get("isApiErrorMessage") is True:
        return API_ERROR
    if model == "<synthetic>":
        return SYNTHETIC
    if not isinstance(usage, dict) or not usage:
        return NO_USAGE
    return "" if isinstance(model, str) and model else NO_MODEL


def _priced(part: Part) -> Part:
    """The part with usage that can be priced, once a request; what was left out is counted."""
    for at, item in enumerate(part.items):
        if isinstance(item, Found):
            usage, notes = normalised(item.usage)
            for note in notes:
                part.tally.add(note, item.places[0][0])
            if usage is not item.usage:
                part.items[at] = item._replace(usage=usage)
    return part


def _is_boundary(subtype: Any) -> bool:
    return isinstance(subtype, str) and subtype.endswith("compact_boundary")


def _tells_usage(row: dict[str, Any]) -> bool:
    data = row.get("data")
    return "usage" in row or (isinstance(data, dict) and "message" in data)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
