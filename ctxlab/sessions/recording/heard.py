"""What a log keeps of an answer: its usage and what it takes to find it again, not its text.

Answers of the Messages API, whole and streamed; of others (OpenAI's form) whatever stands under the
same names, usage above all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import orjson

STREAMED = "text/event-stream"
_KEPT = (
    "id",
    "type",
    "object",
    "model",
    "stop_reason",
    "stop_sequence",
    "usage",
    "diagnostics",
    "input_tokens",
    "context_management",
    "service_tier",
)
_TELLING = (b'"usage"', b'"error"', b"message_stop", b"[DONE]")
_LONGEST = 64 * 1024 * 1024
_LONGEST_MESSAGE = 64 * 1024
"""Far more than is written: it is masked, and cut only then."""
_PORTION = 16 * 1024  # compressed bytes may hold a thousand times as many
_REFUSED = 300
_OK = 200


@dataclass
class Heard:
    """What was heard of one answer."""

    response: dict[str, Any] | None = None
    error: dict[str, str] | None = None
    request_id: str = ""
    complete: bool = True
    begun: bool = field(default=False, repr=False)
    """A stream's first event was seen, of the Messages API's form."""
    stopped: bool = field(default=False, repr=False)
    """A stream's last event was seen."""


def hear(status: int, headers: Mapping[str, str], chunks: Iterable[bytes], *, ended: bool) -> Heard:
    """Read an answer's body as it came over the wire.

    Args:
        status: HTTP status.
        headers: with lower-case names.
        chunks: the body's bytes, content encoding and all.
        ended: whether the body came to its end.
    """
    body, whole = _decoded(headers.get("content-encoding", ""), chunks)
    kind = headers.get("content-type", "")
    heard = Heard(complete=ended and whole)
    if kind.startswith(STREAMED) and status < _REFUSED:
        _hear_events(heard, body)
    else:
        _hear_body(heard, body, status, kind)
    heard.request_id = headers.get("request-id", "") or heard.request_id
    return heard


def error_of(error: BaseException) -> dict[str, str]:
    """An exception in the form of the API's errors."""
    told = str(error)[:_LONGEST_MESSAGE].encode(errors="replace").decode()
    return {"type": type(error).__name__, "message": told}


def _decoded(encoding: str, chunks: Iterable[bytes]) -> tuple[bytes, bool]:
    """The body without its content encoding, as far as it came, and whether it was not too long."""
    if not encoding:
        return b"".join(chunks), True
    response = httpx2.Response(_OK, headers={"content-encoding": encoding}, stream=_Chunks(chunks))
    parts, size = [], 0
    try:
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > _LONGEST:
                break
    except httpx2.DecodingError:
        pass  # it was cut off
    return b"".join(parts), size <= _LONGEST


class _Chunks(httpx2.SyncByteStream):
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            for start in range(0, len(chunk), _PORTION):
                yield chunk[start : start + _PORTION]


def _hear_body(heard: Heard, body: bytes, status: int, kind: str) -> None:
    value = _json(body)
    if status >= _REFUSED:
        heard.error = _refusal(status, value, body)
        if isinstance(value, dict):
            heard.request_id = str(value.get("request_id") or "")
    elif isinstance(value, dict):
        heard.response = _kept(value)
    elif heard.complete and "json" in kind:
        heard.error = {"type": "unreadable_response", "message": "the answer is no JSON object"}


def _refusal(status: int, value: Any, body: bytes) -> dict[str, str]:
    told = value.get("error") if isinstance(value, dict) else None
    if isinstance(told, dict):
        return _error(told)
    text = body[:_LONGEST_MESSAGE].decode(errors="replace").strip()
    return {"type": f"http_{status}", "message": text}


def _error(told: Mapping[str, Any]) -> dict[str, str]:
    kind, message = told.get("type"), told.get("message")
    return {
        "type": str(kind or "error")[:_LONGEST_MESSAGE],
        "message": str(message or "")[:_LONGEST_MESSAGE],
    }


def _hear_events(heard: Heard, body: bytes) -> None:
    plain = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *whole, _unfinished = plain.split(b"\n\n")
    for event in whole:
        if any(word in event for word in _TELLING):
            _hear_event(heard, *_data(event))
    ended = heard.stopped or (heard.complete and not heard.begun)
    heard.complete = ended and heard.error is None


def _data(event: bytes) -> tuple[bytes, bytes]:
    """An event's data, and its last line, which is an error behind what was cut off."""
    lines = [line for line in event.split(b"\n") if line.startswith(b"data:")]
    values = [line[5:].removeprefix(b" ") for line in lines]
    return b"\n".join(values), values[-1] if values else b""


def _hear_event(heard: Heard, data: bytes, last: bytes) -> None:
    value = _json(data) or _json(last)
    heard.stopped |= data == b"[DONE]"
    if not isinstance(value, dict):
        return
    match value.get("type"):
        case "message_start":
            heard.begun = True
            _add(heard, value.get("message"))
        case "message_delta":
            _add(heard, value.get("delta"))
            _add(heard, {"usage": value.get("usage")})
        case "message_stop":
            heard.stopped = True
        case "error" if isinstance(value.get("error"), dict):
            heard.error = _error(value["error"])
        case _:  # OpenAI's two forms
            _add(heard, value.get("response", value))


def _add(heard: Heard, value: Any) -> None:
    """Counts of usage are cumulative: the last ones hold."""
    if not isinstance(value, dict):
        return
    told = {name: item for name, item in _kept(value).items() if item is not None}
    known = heard.response or {}
    counts = [usage for usage in (known.get("usage"), told.get("usage")) if isinstance(usage, dict)]
    usage = {name: n for usage in counts for name, n in usage.items() if n is not None}
    heard.response = {**known, **told, **({"usage": usage} if usage else {})}


def _kept(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in _KEPT if name in value and _is_writable(value[name])}


def _is_writable(value: Any) -> bool:
    """What is nested deeper than it can be written is left out, for the sake of the rest."""
    try:
        orjson.dumps([[[value]]])
    except TypeError:
        return False
    return True


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
