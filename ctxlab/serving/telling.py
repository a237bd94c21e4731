"""One line a request: what it read, wrote and cost, and why the cache broke if it did.

The breaks are found by the audit of `ctxlab.sessions`, request by request as they end; bodies stay
in the log, where it reads the two that it compares.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple

import orjson

from ctxlab.cache.handler import COUNT_PATH
from ctxlab.masking import masked
from ctxlab.serving.door import Asked
from ctxlab.sessions.auditing.audit import AuditedRequest, walk
from ctxlab.sessions.model import Exchange
from ctxlab.sessions.reading.conversations import Conversations
from ctxlab.sessions.reading.requests import talk_of
from ctxlab.sessions.reading.usage import normalised
from ctxlab.sessions.recording.exchange import Recording

_LONGEST = 200
_MOST = 256 * 1024 * 1024
"""Bytes of requests that wait to be told; more are counted."""
_ITEM = 256 * 1024  # what an exchange is taken for, at least


class Ended(NamedTuple):
    """An exchange that ended."""

    asked: Asked
    line: dict[str, Any]
    """What the log holds of it."""
    exchange: Exchange | None
    """None where it was no request to a model, or failed."""


class Teller:
    """Prints lines in a thread of its own, in the order in which exchanges ended.

    A request that it cannot make sense of gets a line that says so. Whoever reads slower than
    requests come is told how many were left out: the log has them.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Tell lines through `tell`."""
        self._tell = tell
        self._queue: SimpleQueue[tuple[Asked, Recording] | None] = SimpleQueue()
        self._waiting = self._left_out = 0
        self._lock = Lock()
        self._streams = Streams()
        self._begin()
        self._thread = Thread(target=self._run, name="teller")
        self._thread.start()

    def ended(self, asked: Asked, recording: Recording) -> None:
        """An exchange has ended; returns at once."""
        with self._lock:
            if self._waiting > _MOST:
                self._left_out += 1
                return
            self._waiting += _size(asked)
        self._queue.put((asked, recording))

    def close(self) -> None:
        """Tell what is left, and end."""
        self._queue.put(None)
        self._thread.join()

    def _begin(self) -> None:
        self._next: list[Exchange] = []
        self._audited = walk(_drain(self._next))

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            with self._lock:
                self._waiting -= _size(item[0])
                left_out, self._left_out = self._left_out, 0
            lines = [f"{left_out:,} more requests were not told of; the log has them"]
            for line in [*lines[: bool(left_out)], self._line(*item)]:
                with suppress(OSError, ValueError):  # nobody reads us: the server goes on
                    self._tell(printable(masked(line)))

    def _line(self, asked: Asked, recording: Recording) -> str:
        """Of one exchange, whatever it holds: no request may silence those that follow."""
        try:
            return self._told(_ended(asked, recording, self._streams))
        except Exception as error:  # noqa: BLE001  see above
            self._begin()
            told = f"could not be told: {type(error).__name__}: {masked(str(error))[:_LONGEST]}"
            return f"{_clock(recording.line)}  {asked.method} {recording.path}  {told}"

    def _told(self, ended: Ended) -> str:
        if ended.exchange is None:
            return f"{_clock(ended.line)}  {_plain(ended)}"
        self._next.append(ended.exchange)
        return f"{_clock(ended.line)}  {used(next(self._audited), ended.line)}"


def _size(asked: Asked) -> int:
    return max(_ITEM, len(asked.body))


class Streams:
    """Which request goes on from which: conversations, and with another model a stream beside."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._conversations = Conversations()
        self._last: dict[str, str] = {}

    def of(self, body: dict[str, Any], model: str) -> tuple[str, str]:
        """The stream of the next request, and the one that the conversation was in before."""
        name = self._conversations.name(talk_of(body)) if _spoken(body) else ""
        stream = f"{name}/{model}"
        before = self._last.get(name, stream)
        self._last[name] = stream
        return stream, "" if before == stream else before


def used(row: AuditedRequest, line: dict[str, Any]) -> str:
    """What a request used, and why it broke the cache."""
    parts = [masked(row.model)[:_LONGEST]]
    if row.counts is None:
        parts.append("usage unknown")
    else:
        counts = row.counts
        parts += [
            f"read {counts.read:,}",
            f"written {counts.written:,}",
            f"uncached {counts.uncached:,}",
            f"output {counts.output:,}",
        ]
        parts.append("no price" if math.isnan(row.usd) else f"${row.usd:.6f}")
    if line.get("simulated"):
        parts.append("simulated")
    if line.get("complete") is False:
        parts.append("incomplete")
    return "  ".join(parts) + broke(row)


def broke(row: AuditedRequest) -> str:
    """Why the cache broke; empty where it did not."""
    if not row.broke:
        return ""
    verdict = row.verdict
    why = [verdict.cause, verdict.tool, f"at {verdict.pointer}" if verdict.pointer else ""]
    lost = [f"{row.lost:,} tokens not read again"] if row.lost else []
    paid = [f"${row.usd_lost:.6f} lost"] if row.usd_lost > 0 else []
    sure = ["inferred"] if verdict.inferred else []
    what = "not cached" if verdict.cause == "below minimum" else "cache broke"
    return f"  {what}: {', '.join([' '.join(filter(None, why)), *lost, *paid, *sure])}"


def printable(text: str) -> str:
    """Without what could steer a terminal: names of tools and errors are somebody else's text."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def _plain(ended: Ended) -> str:
    asked, line = ended.asked, ended.line
    status = line.get("status") or "no answer"
    error = line.get("error") or {}
    what = [f"{asked.method} {line['path']}", str(status)]
    if error:
        what.append(f"{error.get('type')}: {error.get('message')}"[:_LONGEST])
    counted = (line.get("response") or {}).get("input_tokens")
    if asked.path == COUNT_PATH and type(counted) is int:  # an upstream may say anything there
        what.append(f"{counted:,} input tokens")
    if line.get("complete") is False:
        what.append("incomplete")
    return "  ".join(what)


def _ended(asked: Asked, recording: Recording, streams: Streams) -> Ended:
    line = recording.line or {"status": recording.status, "path": recording.path}
    body = _body(asked)
    response = line.get("response") or {}
    usage = response.get("usage")
    if body is None or not isinstance(usage, dict) or line.get("error"):
        return Ended(asked, line, None)
    model = str(body.get("model") or response.get("model"))
    stream, follows = streams.of(body, model)
    exchange = Exchange(
        time=line["time"],
        model=model,
        usage=normalised(usage)[0],
        stream=stream,
        follows=follows,
        message_id=str(response.get("id") or ""),
        request_id=line["request_id"],
        tools_fingerprint=line["tools_fingerprint"],
        diagnostics=response.get("diagnostics"),
        lines=(recording.place,) if recording.place else (),
        has_body=recording.place is not None and _spoken(body),
    )
    return Ended(asked, line, exchange)


def _spoken(body: dict[str, Any]) -> bool:
    return isinstance(body.get("messages"), list)


def _body(asked: Asked) -> dict[str, Any] | None:
    try:
        body = orjson.loads(asked.body)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def _drain(waiting: list[Exchange]) -> Iterator[Exchange]:
    while True:
        yield waiting.pop(0)


def _clock(line: dict[str, Any]) -> str:
    return time.strftime("%H:%M:%S", time.localtime(line.get("time")))
