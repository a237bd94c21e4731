"""A recorded session: the requests that an agent sent, and the usage that the API reported.

A session holds what a table needs and where in its files the rest stands: texts and bodies are read
when they are asked for, so that a tree of gigabytes fits into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from ctxlab.errors import UsageError

Kind = Literal["claude-code", "requests", "usage"]
Basis = Literal["recorded", "simulated", "partly simulated"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: where it begins and how long it is, in bytes."""

    path: Path
    offset: int
    length: int

    def read(self) -> Any:
        """The JSON value that stands there.

        Raises:
            OSError: the file is gone.
            ValueError: it has changed since.
        """
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return orjson.loads(file.read(self.length))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the answer to it."""

    time: float | None
    """Seconds since the epoch: when it was sent, or where only that is known when the answer was
    logged; None where the log has no time."""
    model: str
    usage: Mapping[str, Any]
    """Usage in the Messages API's form (tokens); empty where none was recorded."""
    stream: str
    """Requests of one stream follow each other: `main`, or a name of an agent, and with more than
    one model the model too."""
    message_id: str = ""
    request_id: str = ""
    follows: str = ""
    """The stream that this stream's first request carried on, where the model was switched."""
    compacted: bool = False
    """A compaction of the history stands between the request before and this one."""
    tools_fingerprint: str = ""
    """SHA-256 over the request's tools as sent, 16 hex digits, where the recorder wrote it."""
    diagnostics: Mapping[str, Any] | None = None
    """The response's cache diagnostics, where they were asked for."""
    simulated: bool = False
    """No API answered: the usage is a simulated cache's."""
    lines: tuple[Line, ...] = field(default=(), repr=False)
    """Where it stands: the rows of one response, or the recorded line."""
    has_body: bool = False
    """Whether the request's body was recorded."""
    reported_usd: float | None = None
    """What the log itself says that it cost."""

    def body(self) -> dict[str, Any] | None:
        """The request body as it was sent; None where it was not recorded."""
        if not self.has_body:
            return None
        value = self.lines[0].read()
        request = value.get("request", value)
        return request if isinstance(request, dict) else None


@dataclass(frozen=True)
class Skipped:
    """Rows that are no part of the measurement, and why."""

    reason: str
    count: int
    first: str
    """Path and line of the first one, `path:line`."""


@dataclass(frozen=True)
class Session:
    """What belongs together: a transcript with its agents, a request log, a usage record."""

    id: str
    kind: Kind
    paths: tuple[Path, ...]
    exchanges: tuple[Exchange, ...]
    """In the order of time; within a stream in the order in which they were sent."""
    skipped: tuple[Skipped, ...] = ()

    @property
    def basis(self) -> Basis:
        """Who said what was used: an API, whose answers were recorded, or a simulated cache."""
        return basis_of([self])

    def streams(self) -> Iterator[tuple[str, tuple[Exchange, ...]]]:
        """Each stream's name and its requests, in the order of first appearance."""
        names = dict.fromkeys(exchange.stream for exchange in self.exchanges)
        for name in names:
            yield name, tuple(each for each in self.exchanges if each.stream == name)


def check_session(value: object) -> None:
    """Refuse what is no session, such as the path of one.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, Session):
        raise UsageError(
            f"a session is wanted, not a {type(value).__name__}; read_sessions(path) gives a list "
            "of them"
        )


def basis_of(sessions: Iterable[Session]) -> Basis:
    """The same for several sessions together."""
    marks = {exchange.simulated for session in sessions for exchange in session.exchanges}
    return "simulated" if marks == {True} else "partly simulated" if True in marks else "recorded"


def roots(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """Stream → the stream whose history it carries on, itself where it carries on none."""
    found: dict[str, str] = {}
    for exchange in exchanges:
        found.setdefault(exchange.stream, found.get(exchange.follows, exchange.stream))
    return found
