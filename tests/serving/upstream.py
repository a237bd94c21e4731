"""A made upstream: a socket that says, byte for byte, what a test gives it."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 300,
    "cache_read_input_tokens": 700,
    "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 1,
}
MESSAGE = {
    "id": "msg_made",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": USAGE,
}


@dataclass
class Received:
    head: bytes
    body: bytes

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode()

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


Answer = Callable[[Received, socket.socket], None]


@dataclass
class Upstream:
    url: str
    received: list[Received] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Somebody closed a connection while an answer was being given."""


@contextmanager
def upstream(answer: Answer) -> Iterator[Upstream]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=300)
    made = Upstream(f"http://127.0.0.1:{listener.getsockname()[1]}")

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    def serve(connection: socket.socket) -> None:
        with connection:
            request = read(connection)
            if request is None:
                return
            made.received.append(request)
            try:
                answer(request, connection)
            except OSError:
                made.hung_up.set()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield made
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def read(connection: socket.socket) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    request = Received(head, body)
    while len(request.body) < int(request.headers.get("content-length", 0)):
        request.body += connection.recv(1 << 20)
    return request


def says(*pieces: bytes) -> Answer:
    """These bytes, and the connection is closed."""

    def answer(_request: Received, connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return answer


def http(status: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    told = {**headers, "content-length": str(len(body)), "connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def json_answer(value: Any, status: str = "200 OK", **headers: str) -> bytes:
    return http(status, {"content-type": "application/json", **headers}, json.dumps(value).encode())


def gzipped(value: Any) -> bytes:
    body = gzip.compress(json.dumps(value).encode())
    return http("200 OK", {"Content-Type": "application/json", "Content-Encoding": "gzip"}, body)


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"request-id: req_made\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def stream_events(output: int = 7) -> list[bytes]:
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    text = {"type": "text_delta", "text": "hello"}
    return [
        event("message_start", message=MESSAGE),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("content_block_delta", index=0, delta=text),
        event("content_block_stop", index=0),
        event("message_delta", delta=delta, usage={"output_tokens": output}),
        event("message_stop"),
    ]


def streamed(events: list[bytes] | None = None) -> list[bytes]:
    """A whole streamed answer in pieces: the head, the chunks, the end."""
    told = stream_events() if events is None else events
    return [STREAM_HEAD, *map(chunk, told), b"0\r\n\r\n"]
