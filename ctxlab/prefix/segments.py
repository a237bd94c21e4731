"""Core and tail: a tool array whose beginning never changes, and the guard that holds it to that.

The core carries the cache breakpoint on its last tool; the tail follows and is free to change.
Source: `tool-registry`. The tail too stands before the system prompt and the messages, so a
change of the tail still loses what is cached of those: `ctxlab.cache` measures how much.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from ctxlab.errors import InputError, ToolPrefixViolation
from ctxlab.prefix.canonical import encode_tool, sent_tool
from ctxlab.prefix.chain import listed
from ctxlab.prefix.naming import unique_names

MAX_BREAKPOINTS = 4
"""Markers that the API takes in one request (facts `prompt-cache` §1)."""


@dataclass(frozen=True)
class ToolSegments:
    """A tool array in two segments; the dicts are the caller's own, uncopied.

    >>> segments = ToolSegments(core=[{"name": "read"}, {"name": "grep"}], tail=[{"name": "post"}])
    >>> [tool.get("cache_control") for tool in segments.to_request_tools()]
    [None, {'type': 'ephemeral'}, None]

    Raises:
        InputError: the core is empty; something is no tool dict, or is not JSON; a name is used
            twice; a core tool carries `cache_control` or `defer_loading` already; the markers of
            the tail would be refused by the API (more than MAX_BREAKPOINTS with the core's, 1h
            behind 5m, on a deferred tool).
    """

    core: Sequence[dict[str, Any]]
    """At least one tool; kept as a tuple."""
    tail: Sequence[dict[str, Any]] = ()
    """Any tools, deferred ones and ones with markers of their own included; kept as a tuple."""
    ttl: Literal["5m", "1h"] = "5m"
    """How long the core's cache entry lives; `5m`, the API's default, is not written out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", listed(self.core, "core"))
        object.__setattr__(self, "tail", listed(self.tail, "tail"))
        _check(self)
        for place, tool in _placed(self):
            encode_tool(tool, place)

    @property
    def core_fingerprint(self) -> str:
        """The core as it is now: 16 hex digits of the SHA-256 over its canonical tools.

        One after the other, no separator, as they are sent but without our `cache_control`. It is
        computed each time, so a core dict that was changed in place has another fingerprint.
        """
        running = hashlib.sha256()
        for place, tool in _placed(self, "core"):
            running.update(encode_tool(tool, place).encode())
        return running.hexdigest()[:16]

    def to_request_tools(self) -> list[dict[str, Any]]:
        """Copies in canonical form, core then tail, `cache_control` on the last core tool.

        The dicts are the caller's own and may have changed, so all of it is checked again.

        Raises:
            InputError: as at construction.
        """
        _check(self)
        *firsts, last = _placed(self, "core")
        marked = {**last[1], "cache_control": _marker(self.ttl)}
        placed = [*firsts, (last[0], marked), *_placed(self, "tail")]
        return [sent_tool(tool, place) for place, tool in placed]


class ToolSetSession:
    """Segments over a session: the tail may change, the core is pinned when the session begins.

    >>> session = ToolSetSession(ToolSegments([{"name": "read"}], [{"name": "post"}]))
    >>> session.mutate_tail([{"name": "mail"}])
    >>> [tool["name"] for tool in session.request_tools()]
    ['read', 'mail']
    >>> session.segments.core[0]["description"] = "changed in place"
    >>> try:
    ...     session.request_tools()
    ... except ToolPrefixViolation as violation:
    ...     print(violation.pinned, violation.found)
    6a7296be2d50ccb2 bc661f81ebd1031d
    """

    def __init__(self, segments: ToolSegments) -> None:
        """Pin the core of `segments`."""
        if not isinstance(segments, ToolSegments):
            kind = type(segments).__name__
            raise InputError(f"a session takes ToolSegments, not an object of type {kind}")
        self.segments = segments
        """What the next request is made from: the caller's own dicts, uncopied."""
        self._pinned = segments.core_fingerprint

    def mutate_tail(self, tail: Sequence[dict[str, Any]]) -> None:
        """Put another tail behind the core; when it is refused, nothing has changed.

        Raises:
            ToolPrefixViolation: the core differs from the pinned one.
            InputError: the new tail does not go with the core (see ToolSegments).
        """
        self._guard()
        self.segments = replace(self.segments, tail=tail)

    def request_tools(self) -> list[dict[str, Any]]:
        """The `tools` of the next request: copies, see `ToolSegments.to_request_tools`.

        Raises:
            ToolPrefixViolation: the core differs from the pinned one, in place or as a whole.
            InputError: a dict was changed into something that cannot be sent.
        """
        self._guard()
        return self.segments.to_request_tools()

    def _guard(self) -> None:
        found = self.segments.core_fingerprint
        if found != self._pinned:
            raise ToolPrefixViolation(self._pinned, found)


def _placed(
    segments: ToolSegments, *parts: Literal["core", "tail"]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in parts or ("core", "tail"):
        for index, tool in enumerate(getattr(segments, part)):
            yield f"/{part}/{index}", tool


def _check(segments: ToolSegments) -> None:
    if not segments.core:
        raise InputError("the core is empty; it needs a tool to carry the breakpoint")
    if segments.ttl not in ("5m", "1h"):
        raise InputError(f"the ttl is '5m' or '1h', not {segments.ttl!r}")
    unique_names(_placed(segments))
    for place, tool in _placed(segments, "core"):
        for field in ("cache_control", "defer_loading"):
            if field in tool:
                message = f"the core tool {tool.get('name')!r} must not carry {field}"
                raise InputError(message, place=f"{place}/{field}")
    _check_tail_markers(segments)


def _check_tail_markers(segments: ToolSegments) -> None:
    markers = [("/core", _marker(segments.ttl))]
    for place, tool in _placed(segments, "tail"):
        marker = tool.get("cache_control")
        if marker is None:
            continue
        if not isinstance(marker, dict):
            message = 'cache_control is an object such as {"type": "ephemeral"}'
            raise InputError(message, place=f"{place}/cache_control")
        if tool.get("defer_loading"):
            raise InputError("a deferred tool cannot carry cache_control", place=place)
        markers.append((place, marker))
    if len(markers) > MAX_BREAKPOINTS:
        raise InputError(
            f"core and tail carry {len(markers)} breakpoints, a request at most {MAX_BREAKPOINTS}"
        )
    for (_, earlier), (place, later) in pairwise(markers):
        if later.get("ttl") == "1h" and earlier.get("ttl") != "1h":
            raise InputError("a 1h breakpoint cannot stand behind a 5m one", place=place)


def _marker(ttl: str) -> dict[str, str]:
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
