"""What stands between a client and whoever answers: a request asked, a reply that may stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count

import orjson

from ctxlab.cache.handler import failure

Headers = Sequence[tuple[bytes, bytes]]
_numbers = count(1)


@dataclass(frozen=True)
class Asked:
    """A request that has come in whole."""

    method: str
    path: str
    target: bytes
    """Path and query as they were sent."""
    headers: Headers = field(repr=False)
    """Names in lower case."""
    body: bytes = field(repr=False)

    @property
    def named(self) -> dict[str, str]:
        """The headers by name."""
        return by_name(self.headers)


@dataclass(frozen=True)
class Reply:
    """An answer that has begun."""

    status: int
    headers: Headers = field(repr=False)
    whole: bytes | None = field(default=None, repr=False)
    """The body, where it is there at once."""
    chunks: AsyncIterator[bytes] | None = field(default=None, repr=False)
    """The body, where it comes piece by piece."""

    @property
    def named(self) -> Mapping[str, str]:
        """The headers by name, in lower case."""
        return by_name(self.headers)

    @property
    def takes_events(self) -> bool:
        """Whether an event of ours can stand at the end of its body."""
        plain = not self.named.get("content-encoding") and self.length < 0
        return plain and self.named.get("content-type", "").startswith("text/event-stream")

    @property
    def length(self) -> int:
        """Bytes of the body as announced; -1 where they are not."""
        told = self.named.get("content-length", "")
        return int(told) if told.isdigit() else -1


Door = Callable[[Asked], AbstractAsyncContextManager[Reply]]
"""Answers a request; leaving the context gives up what of the answer was not taken."""


class Failed(Exception):
    """There is no answer: what to say instead, in the API's form."""

    def __init__(self, status: int, message: str, *, hangs_up: bool = False) -> None:
        """`hangs_up`: what the client still means to send is not wanted."""
        super().__init__(message)
        self.status, self.message, self.hangs_up = status, message, hangs_up

    @property
    def reply(self) -> Reply:
        """The error as the API would say it."""
        answer = failure(self.status, self.message, f"req_ctxlab_{next(_numbers):06d}")
        closing = [(b"connection", b"close")] if self.hangs_up else []
        headers = [*pairs(answer.headers), *closing]
        return Reply(self.status, headers, b"".join(answer.chunks))

    @property
    def error(self) -> dict[str, str]:
        """Its type and message."""
        error = orjson.loads(self.reply.whole or b"{}")["error"]
        return {"type": error["type"], "message": error["message"]}

    @property
    def event(self) -> bytes:
        """The error inside a stream."""
        told = orjson.dumps({"type": "error", "error": self.error})
        return b"event: error\ndata: " + told + b"\n\n"

    def event_behind(self, end: bytes) -> bytes:
        """The same behind a stream's last two bytes: an event that was cut off becomes the error.

        >>> Failed(500, "no").event_behind(b"x:").splitlines()[:2]
        [b'', b'event: error']
        """
        return (b"" if end == b"\n\n" else b"\n") + self.event


class Broken(Exception):
    """An answer broke off in a way that only an aborted connection can tell."""


def by_name(headers: Headers) -> dict[str, str]:
    """Headers by lower-case name; what was sent in several is joined.

    >>> by_name([(b"Anthropic-Beta", b"a"), (b"anthropic-beta", b"b")])
    {'anthropic-beta': 'a, b'}
    """
    named: dict[str, str] = {}
    for raw, value in headers:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        named[name] = f"{named[name]}, {text}" if name in named else text
    return named


def pairs(headers: Mapping[str, str]) -> Headers:
    """Headers as they go over the wire."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]
