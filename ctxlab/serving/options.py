"""What `ctxlab serve` is told, checked before anything listens.

>>> size("32MB"), size("1000")
(33554432, 1000)
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from ctxlab.cache.replies import Reply, Then
from ctxlab.errors import InputError, UsageError

LINES = (".jsonl", ".ndjson")
DEFAULT_RECORD = "ctxlab-requests.jsonl"
_SIZE = re.compile(r"(\d{1,15})\s*(?:([kmg])?i?b?)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_HIGHEST_PORT = 65_535
_LARGEST_BODY = 64 * 1024**3  # a body is held in memory
_ADDRESS = re.compile(r"https?://(?:[\w.~!$&'()*+,;=:@/\[\]-]|%[0-9A-F]{2})+", re.IGNORECASE)


@dataclass(frozen=True)
class Options:
    """How to serve.

    Raises:
        UsageError: something cannot be; one line says what would be right.
    """

    record: Path = Path(DEFAULT_RECORD)
    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free one."""
    upstream: str | None = None
    """An http(s) address that requests are forwarded to; None answers from the simulated cache."""
    replies: Sequence[Reply] | None = field(default=None, repr=False)
    """What the simulated model says, in order; None echoes."""
    then: Then = "error"
    """What follows the last of them."""
    minimum_tokens: int | None = None
    """The shortest prefix that is cached, whatever the model; None takes the dated table's."""
    max_body: int = 32 * 1024**2
    """Bytes of a request's body; the API's own limit is the default."""
    timeout: float = 600.0
    """Seconds that the upstream may be silent."""
    latency: float = 0.02
    """Seconds until a simulated answer begins, counted from the last request that arrived."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= _HIGHEST_PORT:
            raise UsageError(f"--port is 0 to {_HIGHEST_PORT}, not {self.port}")
        if not self.host.strip():
            raise UsageError("--host is a name or an address, such as 127.0.0.1")
        if not 0 < self.max_body <= _LARGEST_BODY:
            raise UsageError("--max-body is above 0 and at most 64GB")
        if not (0 < self.timeout < math.inf and 0 <= self.latency < math.inf):
            raise UsageError("--timeout is above 0, --latency is not below 0; both are finite")
        if self.upstream is not None:
            _check_upstream(self.upstream)
            if self.replies is not None:
                raise UsageError("--replies are for simulated answers; an upstream gives its own")
            if self.minimum_tokens is not None:
                raise UsageError(
                    "--minimum-tokens is for simulated answers; an upstream has its own"
                )
        if self.minimum_tokens is not None and self.minimum_tokens < 0:
            raise UsageError(f"--minimum-tokens is not below 0, as {self.minimum_tokens} is")


def size(text: str) -> int:
    """Bytes: a number, or one with KB, MB or GB behind it (1,024 of the smaller).

    Raises:
        UsageError: it is neither.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise UsageError(
            f"a size is a number of bytes, or such as 500KB or 32MB, not {text[:40]!r}"
        )
    return int(found[1]) * _UNITS[(found[2] or "").lower()]


def read_replies(path: Path) -> list[Reply]:
    """The replies of a JSON list, or of JSONL with one a line.

    Each is a text, a list of content blocks, or an object whose `content` is one of the two. Of a
    file named .jsonl every line is a reply; a JSON document that is no list is one reply.

    Raises:
        InputError: with path and place.
        OSError: the file cannot be read.
    """
    if path.exists() and not path.is_file():  # a pipe may never end
        raise InputError("not a file; replies are read from one", path=path)
    raw = path.read_bytes()
    placed = _lines(raw, path) if path.suffix in LINES else _document(raw, path)
    if not placed:
        raise InputError("there is no reply in it", path=path)
    return [_reply(value, path, place) for place, value in placed]


def _document(raw: bytes, path: Path) -> list[tuple[str, Any]]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _lines(raw, path)
    if isinstance(value, list):
        return [(f"[{number}]", each) for number, each in enumerate(value)]
    return [("", value)]


def _lines(raw: bytes, path: Path) -> list[tuple[str, Any]]:
    rows = [(number, row) for number, row in enumerate(raw.splitlines(), 1) if row.strip()]
    return [(str(number), _row(row, path, number)) for number, row in rows]


def _row(row: bytes, path: Path, number: int) -> Any:
    try:
        return orjson.loads(row)
    except orjson.JSONDecodeError as error:
        raise InputError(f"no JSON: {error}", path=path, place=number) from None


def _reply(value: Any, path: Path, place: str) -> Reply:
    told = "a reply is a text, a list of content blocks, or an object with one of them as content"
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        if value.get("type") == "text" and "content" not in value:
            told = f"{told}: put the block into a list"
        value, place = value.get("content"), f"{place}.content" if "content" in value else place
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        raise InputError(told, path=path, place=place)
    for number, block in enumerate(value):
        if not _is_block(block):
            told = 'no content block, such as {"type": "text", "text": …}'
            raise InputError(told, path=path, place=f"{place}[{number}]")
    return value


def _is_block(value: Any) -> bool:
    """What is counted and cut must be there; the rest is the script's own business."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] == "text":
        return isinstance(value.get("text"), str)
    if value["type"] in ("tool_use", "server_tool_use"):
        return isinstance(value.get("name"), str) and isinstance(value.get("input"), dict)
    return True


def _check_upstream(url: str) -> None:
    try:
        parts = urlsplit(url)
        well = bool(_ADDRESS.fullmatch(url) and parts.hostname and _is_known_to_the_client(url))
        well = well and parts.port != 0 and ".." not in (parts.hostname or "")
    except ValueError:
        well = False
    if not well:
        raise UsageError(
            "--upstream is an address such as https://api.example.com, without a query, a fragment "
            "or spaces"
        )


def _is_known_to_the_client(url: str) -> bool:
    import httpx2  # noqa: PLC0415  not for those who simulate

    try:
        return bool(httpx2.URL(url).host)
    except httpx2.InvalidURL:
        return False
