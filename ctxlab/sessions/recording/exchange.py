"""One exchange while it happens, and the line that a request log keeps of it.

A line is `{"schema": 1, "time", "seconds", "path", "status", "request", "response", "request_id",
"tools_fingerprint"}`, with `agent` where one was named, `error` {type, message} where it failed,
`complete: false` where the answer was not seen to its end, and `simulated: true` where no API gave
it. `request` is the body as it was sent. No header is written and no query; a credential of the
request's headers is masked wherever else it stands.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from ctxlab.errors import CtxlabError
from ctxlab.masking import MASK, masked
from ctxlab.prefix.canonical import encode_tool
from ctxlab.sessions.model import Line
from ctxlab.sessions.recording.heard import STREAMED, error_of, hear
from ctxlab.sessions.recording.request_log import RequestLog

SCHEMA = 1
_CREDENTIALS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key")
_LONGEST = 64 * 1024 * 1024
_KEY = re.compile(r"^(?=.*\d|sk-)\S{8,}$")  # a placeholder such as `dummy` may stand anywhere


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
        """A piece of the answer's body, as it came over the wire."""
        kind = self._headers.get("content-type", STREAMED)
        if "json" in kind or kind.startswith("text/"):  # no downloads
            self._size += len(chunk)
            if self._size <= _LONGEST:
                self._chunks.append(chunk)

    def fails(self, error: BaseException | Mapping[str, str]) -> None:
        """There will be no answer, or no more of it."""
        self._error = error_of(error) if isinstance(error, BaseException) else dict(error)

    def finish(self, *, ended: bool) -> dict[str, Any]:
        """Append the line, unless that was done, and give it back.

        Args:
            ended: whether the answer's body came to its end.
        """
        if not self._finished:
            self._finished = True
            try:
                self.line = self._made(ended=ended)
                text = without(_credentials(self._sent), orjson.dumps(self.line))
                self.place = self._log.append(text)
            except Exception as error:  # noqa: BLE001  what is recorded must never fail by it
                self._log.tell(f"{type(error).__name__}: {error}")
            self._chunks.clear()
        return self.line

    def _made(self, *, ended: bool) -> dict[str, Any]:
        sent = self._sent
        request, fingerprint = read_request(sent.body)
        line: dict[str, Any] = {
            "schema": SCHEMA,
            "time": round(self._time, 6),
            "seconds": round(time.monotonic() - self._begun, 6),
            "path": masked(sent.path),
            "status": self.status,
            "request": request,
            "response": None,
            "request_id": "",
            "tools_fingerprint": fingerprint,
        }
        if sent.agent:
            line["agent"] = sent.agent
        if sent.simulated:
            line["simulated"] = True
        return {**line, **self._answer(ended=ended)}

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


def read_request(body: bytes) -> tuple[Any, str]:
    """What the log writes of a request body (None where it is no JSON object), and the fingerprint.

    The fingerprint is that of `ToolSegments.core_fingerprint`, over every tool as it was sent;
    empty where something stands in `tools` that is no tool.
    """
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None, ""
    if not isinstance(request, dict):
        return None, ""
    fingerprint = tools_fingerprint(request.get("tools") or ())
    if b"authorization_token" in body and _mask_servers(request):
        return request, fingerprint
    # The bytes themselves: numbers keep their spelling, and nothing is written twice.
    one_line = b"\n" not in body and b"\r" not in body
    return orjson.Fragment(body) if one_line else request, fingerprint


def tools_fingerprint(tools: Any) -> str:
    """16 hex digits of the SHA-256 over the canonical tools, without their `cache_control`."""
    return _fingerprint(orjson.dumps(tools))


@lru_cache(maxsize=32)  # a session sends the same tools again and again
def _fingerprint(raw: bytes) -> str:
    running = hashlib.sha256()
    try:
        for tool in orjson.loads(raw):
            bare = {name: value for name, value in tool.items() if name != "cache_control"}
            running.update(encode_tool(bare).encode())
    except (AttributeError, TypeError, CtxlabError):
        return ""
    return running.hexdigest()[:16]


def without(credentials: list[str], line: bytes) -> bytes:
    """The line with *** in the place of each credential, should one stand in it."""
    for credential in credentials:
        line = line.replace(orjson.dumps(credential)[1:-1], MASK.encode())
    return line


def _credentials(sent: Sent) -> list[str]:
    values = (sent.headers.get(name, "") for name in _CREDENTIALS)
    words = (word for value in values for word in value.split()[-1:])
    return [word for word in words if _KEY.match(word)]


def _mask_servers(request: dict[str, Any]) -> bool:
    """Mask the one place of a Messages request that holds a credential: its MCP servers."""
    servers = request.get("mcp_servers")
    found = False
    for server in servers if isinstance(servers, list) else ():
        if isinstance(server, dict) and server.get("authorization_token"):
            server["authorization_token"] = MASK
            found = True
    return found
