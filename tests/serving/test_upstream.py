"""Requests and answers pass untouched; whatever an upstream does, the server stays up."""

from __future__ import annotations

import gzip
import http.client
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import pytest

from tests.serving.processes import Served, serving
from tests.serving.upstream import (
    MESSAGE,
    STREAM_HEAD,
    USAGE,
    Answer,
    Received,
    Upstream,
    chunk,
    gzipped,
    json_answer,
    says,
    stream_events,
    streamed,
    upstream,
)
from tests.serving.upstream import (
    http as made_http,
)

KEY = "sk-ant-secret-0123456789abcdef"
ASKED = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


class Switch:
    """One upstream whose answer each test sets."""

    def __init__(self) -> None:
        self.answer: Answer = says()

    def __call__(self, request: Received, connection: socket.socket) -> None:
        self.answer(request, connection)


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Iterator[tuple[Served, Upstream, Switch]]:
    switch = Switch()
    folder = tmp_path_factory.mktemp("upstream")
    with (
        upstream(switch) as made,
        serving(folder, "--upstream", f"{made.url}/base", "--timeout", "2") as served,
    ):
        yield served, made, switch


def client(served: Served) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=KEY, base_url=served.url, max_retries=0, timeout=30)


@contextmanager
def asking(served: Served, path: str = "/v1/messages", method: str = "POST", **headers: str):
    """The answer to a request of the standard library's client, which decodes nothing."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    body = json.dumps(ASKED).encode() if method == "POST" else None
    connection.request(method, path, body=body, headers=headers)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def test_a_request_arrives_as_it_was_sent(pair):
    served, made, switch = pair
    switch.answer = says(json_answer(MESSAGE))
    more = {"Authorization": f"Bearer {KEY}", "X-Odd": "kept", "Connection": "x-hop", "X-Hop": "1"}
    with asking(served, "/v1/messages?beta=true&q=a%2Fb%20c", **more) as answer:
        answer.read()
    received = made.received[-1]
    assert received.line == "POST /base/v1/messages?beta=true&q=a%2Fb%20c HTTP/1.1"
    assert received.body == json.dumps(ASKED).encode()
    headers = received.headers
    assert (headers["authorization"], headers["x-odd"]) == (f"Bearer {KEY}", "kept")
    assert "x-hop" not in headers
    assert headers["host"] == made.url.removeprefix("http://")
    assert not {"user-agent", "accept"} & set(headers)  # nothing of ours is added
    assert KEY not in served.record.read_text()


def test_an_answer_arrives_as_it_was_given(pair):
    served, _, switch = pair
    body = b'{ "odd" :  "spacing\\u00e9" }\n'
    headers = {"content-type": "application/json", "X-Odd": "kept", "request-id": "req_1"}
    switch.answer = says(made_http("201 Created", headers, body))
    with asking(served) as answer:
        assert (answer.status, answer.read()) == (201, body)
        told = dict(answer.getheaders())
    assert told == {
        "content-type": "application/json",
        "X-Odd": "kept",
        "request-id": "req_1",
        "content-length": str(len(body)),
    }


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
def test_any_method_and_path(pair, method: str):
    served, made, switch = pair
    switch.answer = says(made_http("200 OK", {"content-type": "text/plain"}, b"fine"))
    if method == "HEAD":
        switch.answer = says(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n")
    with asking(served, "/v1/anything/at%20all", method) as answer:
        assert answer.status == 200
        assert answer.getheader("content-length") == "4"
        assert answer.read() == (b"" if method == "HEAD" else b"fine")
    assert made.received[-1].line == f"{method} /base/v1/anything/at%20all HTTP/1.1"


def test_gzip_passes_with_its_bytes(pair):
    served, _, switch = pair
    given = gzipped(MESSAGE)
    switch.answer = says(given)
    with asking(served, **{"Accept-Encoding": "gzip"}) as answer:
        assert answer.getheader("Content-Encoding") == "gzip"
        raw = answer.read()
    assert given.endswith(b"\r\n\r\n" + raw)
    assert json.loads(gzip.decompress(raw)) == MESSAGE
    assert served.lines()[-1]["response"]["usage"] == USAGE


def test_events_arrive_as_they_come(pair):
    served, _, switch = pair
    events, go_on = stream_events(), threading.Event()

    def answer(_request: Received, connection: socket.socket) -> None:
        connection.sendall(STREAM_HEAD + chunk(events[0]))
        go_on.wait(20)
        connection.sendall(b"".join(map(chunk, events[1:])) + b"0\r\n\r\n")

    switch.answer = answer
    with asking(served) as got:
        first = got.read(len(events[0]))
        assert not go_on.is_set()
        go_on.set()
        assert first + got.read() == b"".join(events)
    (line,) = served.lines()[-1:]
    assert line["response"]["usage"] == {**USAGE, "output_tokens": 7}
    assert line["request_id"] == "req_made"
    assert "complete" not in line


def test_the_sdk_streams_through_it(pair):
    served, _, switch = pair
    switch.answer = says(*streamed())
    with client(served).messages.stream(**ASKED) as stream:
        assert "".join(stream.text_stream) == "hello"
    assert stream.get_final_message().usage.cache_read_input_tokens == 700


def test_a_refusal_passes_with_its_headers(pair):
    served, _, switch = pair
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    switch.answer = says(json_answer(body, "429 Too Many Requests", **{"retry-after": "17"}))
    with pytest.raises(anthropic.RateLimitError) as refused:
        client(served).messages.create(**ASKED)
    assert refused.value.response.headers["retry-after"] == "17"
    assert refused.value.body == body
    assert served.lines()[-1]["error"] == body["error"]


def cut_off(*pieces: bytes) -> Answer:
    return says(STREAM_HEAD, *map(chunk, pieces))


@pytest.mark.parametrize(
    "seen", [stream_events()[:3], [*stream_events()[:2], b"event: content_block_delta\ndata: {"]]
)
def test_a_stream_that_dies_ends_with_the_apis_error(pair, seen: list[bytes]):
    served, _, switch = pair
    switch.answer = cut_off(*seen)
    with pytest.raises(anthropic.APIStatusError, match="broke off its answer"):
        list(client(served).messages.create(**ASKED, stream=True))
    line = served.lines()[-1]
    assert (line["complete"], line["error"]["type"]) == (False, "api_error")
    assert line["response"]["usage"] == USAGE


def test_a_compressed_stream_that_dies_is_cut_off(pair):
    served, _, switch = pair
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    whole = gzip.compress(b"".join(stream_events()))
    switch.answer = says(head, chunk(whole[:60]))
    with asking(served) as answer, pytest.raises(http.client.IncompleteRead):
        answer.read()
    assert served.lines()[-1]["complete"] is False


def hangs(*before: bytes) -> Answer:
    def answer(_request: Received, connection: socket.socket) -> None:
        for piece in before:
            connection.sendall(piece)
        connection.recv(1)

    return answer


@pytest.mark.parametrize(
    ("answer", "status", "kind", "told"),
    [
        (says(), 502, "api_error", "did not answer"),
        (says(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), 502, "api_error", "did not answer"),
        (hangs(), 504, "timeout_error", "silent for 2 seconds"),
        (hangs(b"HTTP/1.1 200 OK\r\n"), 504, "timeout_error", "silent for 2 seconds"),
        (says(json_answer(MESSAGE)[:-9]), 502, "api_error", "broke off its answer"),
        (says(json_answer(MESSAGE, "999 Odd")), 502, "api_error", "status 999, which is none"),
        (
            says(made_http("307 Temporary Redirect", {"location": "https://else.example/x?key=1"})),
            502,
            "api_error",
            "redirects to https://else.example: give",
        ),
    ],
)
def test_what_is_no_answer_becomes_the_apis_error(pair, answer, status, kind, told):
    served, _, switch = pair
    switch.answer = answer
    with pytest.raises(anthropic.InternalServerError) as failed:
        client(served).messages.create(**ASKED)
    assert failed.value.status_code == status
    error: Any = failed.value.body
    assert (error["type"], error["error"]["type"]) == ("error", kind)
    assert told in error["error"]["message"]
    line = served.lines()[-1]
    assert (line["status"], line["error"]["type"]) == (status, kind)


def test_requests_that_come_back_here_are_refused(pair):
    served, _, switch = pair

    def back(received: Received, connection: socket.socket) -> None:
        again = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        mark = {"x-ctxlab-serve": f"other, {received.headers['x-ctxlab-serve']}"}
        again.request("POST", "/v1/messages", body=received.body, headers=mark)
        answer = again.getresponse()
        connection.sendall(json_answer(json.loads(answer.read()), f"{answer.status} Loop"))

    switch.answer = back
    with asking(served) as answer:
        assert answer.status == 508
        assert "--upstream goes in a circle" in json.loads(answer.read())["error"]["message"]
    assert [line["status"] for line in served.lines()[-2:]] == [508, 508]


def test_an_answer_too_long_to_hold_is_passed_on_as_it_comes(pair):
    served, _, switch = pair
    piece, count = b"x" * 1_000_000, 120
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    length = b"Content-Length: %d\r\n\r\n" % (2 + len(piece) * count)
    switch.answer = says(head + length + b'"', *([piece] * count), b'"')
    before = _peak(served)
    with asking(served) as answer:
        assert len(answer.read()) == 2 + len(piece) * count
    assert _peak(served) - before < len(piece) * count / 2
    line = served.lines()[-1]
    assert (line["status"], line["complete"], line["response"]) == (200, False, None)


def _peak(served: Served) -> int:
    """Bytes that its process held at most."""
    text = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) * 1024


def test_a_stream_that_falls_silent_ends_with_the_apis_error(pair):
    served, _, switch = pair
    switch.answer = hangs(STREAM_HEAD + chunk(stream_events()[0]))
    with pytest.raises(anthropic.APIStatusError, match="silent for 2 seconds"):
        list(client(served).messages.create(**ASKED, stream=True))
    assert served.lines()[-1]["error"]["type"] == "timeout_error"


def test_a_redirect_that_comes_back_here_is_passed_on(pair):
    served, _, switch = pair
    switch.answer = says(made_http("308 Permanent Redirect", {"location": "/v1/messages/"}))
    with asking(served) as answer:
        assert (answer.status, answer.getheader("location")) == (308, "/v1/messages/")


def test_an_upstream_that_refuses(tmp_path: Path):
    with serving(tmp_path, "--upstream", "http://127.0.0.1:9") as served:
        with pytest.raises(anthropic.InternalServerError, match="did not answer"):
            client(served).messages.create(**ASKED)
        assert "502  api_error" in served.next_line()


def test_a_client_that_hangs_up_ends_the_upstreams_answer_too(tmp_path: Path):
    def answer(_request: Received, connection: socket.socket) -> None:
        connection.sendall(STREAM_HEAD + b"".join(map(chunk, stream_events()[:2])))
        while True:
            connection.sendall(chunk(b"event: ping\ndata: {}\n\n"))
            time.sleep(0.05)

    with (
        upstream(answer) as made,
        serving(tmp_path, "--upstream", made.url) as served,
    ):
        with client(served).messages.create(**ASKED, stream=True) as stream:
            next(iter(stream))
        assert made.hung_up.wait(20)
        assert "incomplete" in served.next_line()
        (line,) = served.lines()
        assert line["complete"] is False
        assert line["response"]["usage"] == USAGE


def test_breaks_are_told_from_the_upstreams_usage(tmp_path: Path):
    answers = iter(
        [
            {**USAGE, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 1_000},
            {**USAGE, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 1_000},
        ]
    )

    def answer(request: Received, connection: socket.socket) -> None:
        says(json_answer({**MESSAGE, "usage": next(answers)}))(request, connection)

    tool = {"name": "grep", "description": "finds", "input_schema": {"type": "object"}}
    with upstream(answer) as made, serving(tmp_path, "--upstream", made.url) as served:
        client(served).messages.create(**ASKED, tools=[tool])
        assert "simulated" not in served.next_line()
        client(served).messages.create(**ASKED, tools=[{**tool, "description": "greps"}])
        line = served.next_line()
    assert "cache broke: tools grep at /tools/0/description, 1,000 tokens not read again" in line


def test_two_hundred_requests_at_once(tmp_path: Path):
    def answer(request: Received, connection: socket.socket) -> None:
        asked = json.loads(request.body)["messages"][0]["content"]
        says(json_answer({**MESSAGE, "id": f"msg_{asked}"}))(request, connection)

    with upstream(answer) as made, serving(tmp_path, "--upstream", made.url) as served:
        said: list[str] = []

        def ask(number: int) -> None:
            body = json.dumps({**ASKED, "messages": [{"role": "user", "content": f"{number}"}]})
            connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
            connection.request("POST", "/v1/messages", body=body)
            said.append(json.loads(connection.getresponse().read())["id"])
            connection.close()

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        recorded = [
            (line["response"]["id"], line["request"]["messages"][0]["content"])
            for line in served.lines()
        ]
    assert sorted(said) == sorted(f"msg_{number}" for number in range(200))
    assert sorted(recorded) == sorted((f"msg_{number}", f"{number}") for number in range(200))


def test_what_is_under_way_at_the_end_is_recorded_as_incomplete(tmp_path: Path):
    answer = hangs(STREAM_HEAD + chunk(stream_events()[0]))
    with (
        upstream(answer) as made,
        serving(tmp_path, "--upstream", made.url) as served,
        asking(served) as got,
    ):
        assert got.read(5) == b"event"
        served.process.send_signal(signal.SIGTERM)
        out, err = served.process.communicate(timeout=30)
        assert (served.process.returncode, err) == (0, "")
        assert "incomplete" in out
        (line,) = served.lines()
        assert line["complete"] is False
        assert line["response"]["usage"] == USAGE


def test_whoever_waits_at_the_end_is_told_in_the_apis_form(tmp_path: Path):
    def answer(request: Received, connection: socket.socket) -> None:
        begun = STREAM_HEAD + chunk(stream_events()[0])
        hangs(*[begun] * ("stream" in request.line))(request, connection)

    with (
        upstream(answer) as made,
        serving(tmp_path, "--upstream", made.url) as served,
        asking(served, "/stream") as stream,
        socket.create_connection(("127.0.0.1", served.port), timeout=30) as waiting,
    ):
        assert stream.read(5) == b"event"
        waiting.sendall(b"POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        while len(made.received) < 2:
            time.sleep(0.01)
        served.process.send_signal(signal.SIGINT)
        told = b""
        while piece := waiting.recv(65536):
            told += piece
        assert told.startswith(b"HTTP/1.1 503 ")
        error = json.loads(told.partition(b"\r\n\r\n")[2])["error"]
        assert (error["type"], "was stopped" in error["message"]) == ("api_error", True)
        assert b"\n\nevent: error\ndata: " in stream.read()
        assert served.process.wait(30) == 130


def test_nobody_has_to_read_what_it_prints(pair):
    served, _, switch = pair
    switch.answer = says(json_answer(MESSAGE))
    served.process.stdout.close()
    for _ in range(3):
        client(served).messages.create(**ASKED)
