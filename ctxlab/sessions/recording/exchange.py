"""One exchange while it happens, and the line that a request log keeps of it.

A line is `{"schema": 1, "time", "seconds", "path", "status", "request", "response", "request_id",
"tools_fingerprint"}`, with `agent` where one was named, `error` {type, message} where it failed,
`complete: false` where the answer was not seen to its end, and `simulated: true` where no API gave
it. `request` is the body as it was sent, byte for byte but for line breaks between its parts, and
for secrets: no header is written and no query, and inside strings `hiding` masks the credentials of
the request's headers, those of its MCP servers and whatever looks like a key. Equal strings stay
equal by that, so that an audit that compares beginnings finds what it would find in the original.

An exchange is never left out: what cannot be derived is (the fingerprint of tools that are nested
too deep is empty, a field of the answer that no JSON encoder takes is missing).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from ctxlab.errors import CtxlabError
from ctxlab.prefix.canonical import encode_tool
from ctxlab.sessions.model import Line
from ctxlab.sessions.recording.heard import STREAMED, error_of, hear
from ctxlab.sessions.recording.hiding import credentials_of, hidden, masked_path
from ctxlab.sessions.recording.request_log import RequestLog

SCHEMA = 1
_LONGEST = 16 * 1024 * 1024
_LONGEST_MESSAGE = 1_000


@dataclass(frozen=True)
class Sent:
    """A request as it went out."""

    path: str
    """Without its query."""
    headers: Mapping[str, str]
    """With lower-case names; only read for the credentials that must not be written."""
    body: bytes
    agent: str = ""
    simulated: bool = False


class Recording:
    """Gathers one exchange and appends it to a log, once."""

    def __init__(self, log: RequestLog, sent: Sent, clock: Callable[[], float] = time.time) -> None:
        """The request is being sent now."""
        self._log, self._sent = log, sent
        self._time, self._begun = clock(), time.monotonic()
        self.status: int | None = None
        self._headers: Mapping[str, str] = {}
        self._chunks: list[bytes] = []
        self._size, self._finished = 0, False
        self._error: dict[str, str] | None = None
        self.line: dict[str, Any] = {}
        """What is written of it, once it has ended."""
        self.place: Line | None = None
        """Where the line stands, once it was written."""

    def begins(self, status: int, headers: Mapping[str, str]) -> None:
        """The answer begins."""
        self.status = status
        self._headers = {name.lower(): value for name, value in headers.items()}

    def saw(self, chunk: bytes) -> None:
        """A piece of the answer's body, as it came over the wire; what is too long is cut off."""
        kind = self._headers.get("content-type", STREAMED)
        if "json" in kind or kind.startswith("text/"):  # no downloads
            self._size += len(chunk)
            if self._size <= _LONGEST:
                self._chunks.append(chunk)
            elif "json" in kind:
                self._chunks.clear()  # a part of it is no JSON; of events each one is

    def fails(self, error: BaseException | Mapping[str, str]) -> None:
        """There will be no answer, or no more of it."""
        self._error = error_of(error) if isinstance(error, BaseException) else dict(error)

    @property
    def path(self) -> str:
        """The path without secrets, for whoever tells of it."""
        return masked_path(self._sent.path, credentials_of(self._sent.headers))

    def finish(self, *, ended: bool) -> dict[str, Any]:
        """Append the line, unless that was done, and give back what it says of the exchange.

        Args:
            ended: whether the answer's body came to its end.
        """
        if not self._finished:
            self._finished = True
            try:
                text = self._written(ended=ended)
            except Exception as error:  # noqa: BLE001  what is recorded must never fail by it
                text = self._least(error)
            self._chunks.clear()
            self.place = self._log.append(text)
        return self.line

    def _written(self, *, ended: bool) -> bytes:
        """The line, and `line` without the request: of all else there is little."""
        answer = self._answer(ended=ended and self._size <= _LONGEST)
        raw, told = read_request(self._sent.body)
        models = [str((each or {}).get("model")) for each in (told, answer.get("response"))]
        secrets = credentials_of(self._sent.headers, models)
        fingerprint = "" if told is None else tools_fingerprint(told.get("tools") or ())
        head = self._head(fingerprint, secrets)
        self.line = orjson.loads(hidden(orjson.dumps({**head, **answer}), secrets))
        if "error" in self.line:  # masked first: of a secret that is cut, half would stay
            self.line["error"] = {
                name: text[:_LONGEST_MESSAGE] for name, text in self.line["error"].items()
            }
        request = None if raw is None else orjson.Fragment(hidden(raw, secrets))
        return orjson.dumps({**self.line, "request": request})

    def _least(self, error: Exception) -> bytes:
        """The line of an exchange of which no more could be written."""
        told = {"type": type(error).__name__, "message": "it could not be written down"}
        self.line = {**self._head("", []), "path": self.path.encode(errors="replace").decode()}
        self.line |= {"error": told, "complete": False}
        return orjson.dumps(self.line)

    def _head(self, fingerprint: str, secrets: list[str]) -> dict[str, Any]:
        sent = self._sent
        head: dict[str, Any] = {
            "schema": SCHEMA,
            "time": round(self._time, 6),
            "seconds": round(time.monotonic() - self._begun, 6),
            "path": masked_path(sent.path, secrets),
            "status": self.status,
            "request": None,
            "response": None,
            "request_id": "",
            "tools_fingerprint": fingerprint,
        }
        if sent.agent:
            head["agent"] = sent.agent
        if sent.simulated:
            head["simulated"] = True
        return head

    def _answer(self, *, ended: bool) -> dict[str, Any]:
        if self.status is None:
            return {"error": self._error or {"type": "abandoned", "message": "no answer was seen"}}
        heard = hear(self.status, self._headers, self._chunks, ended=ended)
        error = self._error or heard.error
        told: dict[str, Any] = {"response": heard.response, "request_id": heard.request_id}
        if error:
            told["error"] = error
        if not heard.complete:
            told["complete"] = False
        return told


def read_request(body: bytes) -> tuple[bytes | None, dict[str, Any] | None]:
    """A request body as one line of JSON, and what it says; None where it is no JSON object."""
    try:
        # In a list, since it will stand in a line: that is one level more, and there is a last one.
        (request,) = orjson.loads(b"[" + body + b"]")
    except ValueError:
        return None, None
    if not isinstance(request, dict):
        return None, None
    # The bytes themselves: numbers keep their spelling. Line breaks stand between parts only.
    return body.replace(b"\r", b" ").replace(b"\n", b" "), request


def tools_fingerprint(tools: Any) -> str:
    """16 hex digits of the SHA-256 over the canonical tools, without their `cache_control`.

    It is that of `ToolSegments.core_fingerprint`, over every tool as it was sent; empty where
    something stands in `tools` that is no tool, or is nested too deep.
    """
    try:
        return _fingerprint(orjson.dumps(tools))
    except (TypeError, ValueError):
        return ""


@lru_cache(maxsize=32)  # a session sends the same tools again and again
def _fingerprint(raw: bytes) -> str:
    running = hashlib.sha256()
    try:
        for tool in orjson.loads(raw):
            bare = {name: value for name, value in tool.items() if name != "cache_control"}
            running.update(encode_tool(bare).encode())
    except (AttributeError, TypeError, RecursionError, CtxlabError):
        return ""
    return running.hexdigest()[:16]
