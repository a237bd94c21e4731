from __future__ import annotations

import asyncio
import gc
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

import ctxlab
from ctxlab.cache import MessagesHandler, PromptCache
from ctxlab.cache.transport import AsyncSimulatedTransport, SimulatedTransport
from ctxlab.errors import UsageError
from ctxlab.sessions import AsyncRecorder, Recorder
from ctxlab.sessions.recording.request_log import RequestLog, append_line
from tests.cache.requests import base, simulator
from tests.serving.upstream import (
    MESSAGE,
    STREAM_HEAD,
    chunk,
    event,
    gzipped,
    json_answer,
    says,
    stream_events,
    streamed,
    upstream,
)

SECRET = "sk-ant-api03-secret-0123456789"
ASKED = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def client(path: Path, **more: Any) -> anthropic.Anthropic:
    transport = SimulatedTransport(MessagesHandler(simulator(), **more))
    recorded = httpx2.Client(transport=Recorder(path, transport))
    return anthropic.Anthropic(api_key=SECRET, base_url="http://x.invalid", http_client=recorded)


def network(path: Path, url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key=SECRET,
        base_url=url,
        http_client=httpx2.Client(transport=Recorder(path)),
        max_retries=0,
    )


def test_an_exchange_is_a_line(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    before = time.time()
    answer = client(log).messages.create(**base())
    (line,) = lines(log)
    assert line["schema"] == 1
    assert before - 1 <= line["time"] <= time.time()
    assert 0 <= line["seconds"] < 60
    assert (line["path"], line["status"]) == ("/v1/messages", 200)
    assert line["request"] == base()
    assert line["response"]["id"] == answer.id
    assert line["response"]["usage"]["cache_creation_input_tokens"] == 800
    assert line["response"]["stop_reason"] == "end_turn"
    assert "content" not in line["response"]
    assert line["request_id"] == answer._request_id
    assert not {"error", "complete", "agent"} & set(line)


def test_the_fingerprint_is_that_of_the_tools_without_their_markers(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    client(log).messages.create(**base())
    tools = [{k: v for k, v in tool.items() if k != "cache_control"} for tool in base()["tools"]]
    text = "".join(ctxlab.canonical(ctxlab.canonical_tool(tool)) for tool in tools)
    assert lines(log)[0]["tools_fingerprint"] == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert lines(log)[0]["tools_fingerprint"] == ctxlab.ToolSegments(tools).core_fingerprint


def test_no_key_is_written_wherever_it_stands(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    refusal = {
        "type": "error",
        "error": {"type": "authentication_error", "message": f"no {SECRET}"},
    }
    with upstream(says(json_answer(refusal, "401 Unauthorized"))) as made:
        asking = network(log, f"{made.url}/proxy")
        with pytest.raises(anthropic.AuthenticationError):
            asking.messages.create(
                model="claude-opus-5",
                max_tokens=9,
                messages=[{"role": "user", "content": f"is {SECRET} a key?"}],
                extra_query={"api_key": "querysecret"},
                extra_headers={"X-Other": "headersecret"},
                extra_body={"mcp_servers": [{"name": "m", "authorization_token": "oauth-token"}]},
            )
        assert SECRET in made.received[0].body.decode()
        assert "oauth-token" in made.received[0].body.decode()
    text = log.read_text()
    for secret in (SECRET, "querysecret", "headersecret", "oauth-token", "uthorization:"):
        assert secret not in text
    (line,) = lines(log)
    assert line["path"] == "/proxy/v1/messages"
    assert line["error"] == {"type": "authentication_error", "message": "no ***"}
    assert line["request"]["messages"][0]["content"] == "is *** a key?"


def test_a_placeholder_for_a_key_masks_nothing(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    asking = client(log).with_options(api_key="messages")
    asking.messages.create(**base())
    assert lines(log)[0]["request"] == base()


@pytest.mark.parametrize("key", ["12345678", "claude-opus-5", "abcdefghijklmnop"])
def test_a_key_never_spoils_a_line(tmp_path: Path, key: str):
    log, asked = tmp_path / "log.jsonl", {**ASKED, "max_tokens": 1234567890}
    with upstream(says(json_answer({**MESSAGE, "id": "msg_1234567890"}))) as made:
        network(log, made.url).with_options(api_key=key).messages.create(**asked, timeout=30)
    (line,) = lines(log)
    assert line["request"] == asked
    assert line["response"]["model"] == MESSAGE["model"]


def test_what_an_upstream_says_is_masked_too(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    told = {**MESSAGE, "id": f"msg {SECRET}", "stop_reason": SECRET}
    with upstream(says(json_answer(told, **{"request-id": f"/{SECRET}"}))) as made:
        network(log, made.url).messages.create(**ASKED)
    error = {"type": f"a {SECRET}", "message": "x" * 985 + f" {SECRET}"}
    refusal = {"type": "error", "error": error}
    with (
        upstream(says(json_answer(refusal, "400 Bad Request"))) as made,
        pytest.raises(anthropic.BadRequestError),
    ):
        network(log, f"{made.url}/{SECRET}").messages.create(**ASKED)
    assert "sk-ant" not in log.read_text()
    assert [line["path"] for line in lines(log)] == ["/v1/messages", "/***/v1/messages"]


DEEP = '{"a":' * 300 + "1" + "}" * 300


@pytest.mark.parametrize(
    ("place", "fingerprint"),
    [
        ('"tools":[{"name":"n","input_schema":%s}]', False),
        ('"messages":[{"role":"user","content":[{"type":"tool_use","input":%s}]}]', True),
    ],
)
def test_what_is_nested_deep_is_recorded(tmp_path: Path, place: str, fingerprint: bool, capsys):
    log = tmp_path / "log.jsonl"
    body = ('{"model": "m",\n' + place % DEEP + "}").encode()
    deep = b'{"type":"message","diagnostics":%s,"usage":{"input_tokens":7}}' % DEEP.encode()
    answer = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "application/json"}, content=deep)
    )
    with httpx2.Client(transport=Recorder(log, answer)) as asking:
        asking.post("http://x/v1/messages", content=body)
    (line,) = lines(log)
    assert line["request"] == json.loads(body)
    assert line["response"] == {"type": "message", "usage": {"input_tokens": 7}}
    assert bool(line["tools_fingerprint"]) is fingerprint
    assert not capsys.readouterr().err


def test_an_answer_too_long_to_hold_is_recorded_as_incomplete(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    piece = b"x" * 1_000_000

    def pieces():
        yield b'{"text":"'
        yield from [piece] * 20
        yield b'"}'

    answer = httpx2.MockTransport(
        lambda _: httpx2.Response(
            200, headers={"content-type": "application/json"}, content=pieces()
        )
    )
    with httpx2.Client(transport=Recorder(log, answer)) as asking:
        assert len(asking.post("http://x/v1/messages", json=ASKED).content) > 20_000_000
    (line,) = lines(log)
    assert (line["complete"], line["response"]) == (False, None)
    assert "error" not in line


def test_a_stream_passes_untouched_and_its_usage_is_picked_up(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    with upstream(says(*streamed())) as made:
        recorded = httpx2.Client(transport=Recorder(log))
        with recorded.stream("POST", f"{made.url}/v1/messages", json=ASKED) as answer:
            body = b"".join(answer.iter_raw())
    assert body == b"".join(stream_events())
    (line,) = lines(log)
    assert line["response"]["usage"] == {**MESSAGE["usage"], "output_tokens": 7}
    assert line["response"]["stop_reason"] == "end_turn"
    assert line["request_id"] == "req_made"
    assert "complete" not in line


def test_compressed_bytes_reach_the_caller_as_they_are(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    with upstream(says(gzipped(MESSAGE))) as made:
        recorded = httpx2.Client(transport=Recorder(log))
        with recorded.stream("POST", f"{made.url}/v1/messages", json=ASKED) as answer:
            raw = b"".join(answer.iter_raw())
    assert json.loads(gzip.decompress(raw)) == MESSAGE
    assert lines(log)[0]["response"]["usage"] == MESSAGE["usage"]


def test_an_encoding_that_is_not_known_is_passed_on_all_the_same(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    body = b"\x8b\x03\x80{}\x03"
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: {len(body)}\r\n\r\n"
    with upstream(says(head.encode() + body)) as made:
        recorded = httpx2.Client(transport=Recorder(log))
        with recorded.stream("POST", f"{made.url}/v1/messages", json=ASKED) as answer:
            assert b"".join(answer.iter_raw()) == body
    assert lines(log)[0]["status"] == 200


def test_an_abandoned_stream_is_recorded_with_what_was_seen(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    with client(log).messages.stream(**base()) as stream:
        next(iter(stream))
    (line,) = lines(log)
    assert line["complete"] is False
    assert line["response"]["usage"]["cache_creation_input_tokens"] == 800
    assert "stop_reason" not in line["response"]


def test_a_stream_that_breaks_is_recorded_with_what_was_seen(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    broken = [STREAM_HEAD, *map(chunk, stream_events()[:3])]
    with upstream(says(*broken)) as made, pytest.raises(httpx2.RemoteProtocolError):
        list(network(log, made.url).messages.create(**ASKED, stream=True))
    (line,) = lines(log)
    assert (line["complete"], line["error"]["type"]) == (False, "RemoteProtocolError")
    assert line["response"]["usage"] == MESSAGE["usage"]


def test_a_stream_that_ends_without_its_last_event_is_incomplete(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    with upstream(says(*streamed(stream_events()[:3]))) as made:
        httpx2.Client(transport=Recorder(log)).post(f"{made.url}/v1/messages", json=ASKED)
    assert lines(log)[0]["complete"] is False


def test_an_error_event_is_the_errors_place_in_a_stream(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    told = event("error", error={"type": "overloaded_error", "message": "m"})
    with upstream(says(*streamed([*stream_events()[:2], told]))) as made:
        httpx2.Client(transport=Recorder(log)).post(f"{made.url}/v1/messages", json=ASKED)
    (line,) = lines(log)
    assert line["error"] == {"type": "overloaded_error", "message": "m"}
    assert line["complete"] is False


def test_a_response_thrown_away_unread_is_recorded_later(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    transport = Recorder(log, SimulatedTransport(MessagesHandler(simulator())))
    sent = httpx2.Request("POST", "http://x/v1/messages", json=base())
    transport.handle_request(sent)
    gc.collect()
    transport.close()
    assert [line["complete"] for line in lines(log)] == [False]


def test_what_fails_before_an_answer_is_recorded_and_raised(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    with pytest.raises(anthropic.APIConnectionError):
        network(log, "http://127.0.0.1:9").messages.create(**ASKED)  # type: ignore[call-overload]
    (line,) = lines(log)
    assert (line["status"], line["response"]) == (None, None)
    assert line["error"]["type"] == "ConnectError"


def test_refusals_are_recorded_with_the_apis_error(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    with pytest.raises(anthropic.BadRequestError):
        client(log).messages.create(**base(), extra_body={"temperature": 1.0})
    (line,) = lines(log)
    assert (line["status"], line["error"]["type"]) == (400, "invalid_request_error")


def test_openai_answers_keep_their_usage(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    usage = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}
    events = [
        b'data: {"id":"c","choices":[]}\n\n',
        b'data: {"id":"c","usage":%s}\n\n',
        b"data: [DONE]\n\n",
    ]
    events[1] %= json.dumps(usage).encode()
    with upstream(says(*streamed(events))) as made:
        httpx2.Client(transport=Recorder(log)).post(f"{made.url}/v1/chat/completions", json=ASKED)
    (line,) = lines(log)
    assert line["response"] == {"id": "c", "usage": usage}
    assert "complete" not in line


def test_bodies_that_are_no_json_objects_are_left_out(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    recorded = httpx2.Client(
        transport=Recorder(log, SimulatedTransport(MessagesHandler(simulator())))
    )
    for body in (b"{", b"[1]", b"\xff", b""):
        recorded.post("http://x/v1/messages", content=body)
    recorded.get("http://x/v1/models")
    assert [(line["request"], line["status"]) for line in lines(log)] == [(None, 400)] * 4
    assert {line["tools_fingerprint"] for line in lines(log)} == {""}


def test_a_body_over_several_lines_is_one_line_of_the_log(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    recorded = httpx2.Client(
        transport=Recorder(log, SimulatedTransport(MessagesHandler(simulator())))
    )
    recorded.post("http://x/v1/messages", content=json.dumps(base(), indent=2).encode())
    assert [line["request"] for line in lines(log)] == [base()]


def test_an_agent_can_be_named(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    transport = Recorder(log, SimulatedTransport(MessagesHandler(simulator())), agent="reviewer")
    httpx2.Client(transport=transport).post("http://x/v1/messages", json=base())
    assert lines(log)[0]["agent"] == "reviewer"


def test_the_clock_of_a_simulated_cache_tells_when_it_was_sent(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    transport = SimulatedTransport(MessagesHandler(simulator()))
    recorder = Recorder(log, transport, clock=lambda: 1_796_050_800.0)
    httpx2.Client(transport=recorder).post("http://x.invalid/v1/messages", json=ASKED)
    assert lines(log)[0]["time"] == 1_796_050_800.0


def test_requests_of_async_code(tmp_path: Path):
    log = tmp_path / "log.jsonl"

    async def session() -> None:
        transport = AsyncSimulatedTransport(MessagesHandler(simulator()))
        recorded = httpx2.AsyncClient(transport=AsyncRecorder(log, transport))
        async with anthropic.AsyncAnthropic(
            api_key=SECRET, base_url="http://x.invalid", http_client=recorded
        ) as asking:
            await asyncio.gather(*(asking.messages.create(**base()) for _ in range(20)))
            async with asking.messages.stream(**base()) as stream:
                await stream.get_final_message()
            async with asking.messages.stream(**base()) as stream:
                await anext(aiter(stream))

    asyncio.run(session())
    recorded = lines(log)
    assert len({line["response"]["id"] for line in recorded}) == 22
    assert [line.get("complete", True) for line in recorded] == [True] * 21 + [False]
    assert SECRET not in log.read_text()


def test_one_recorder_serves_both_kinds_of_client(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    recorder = Recorder(log)

    async def ask(url: str) -> None:
        async with httpx2.AsyncClient(transport=recorder) as asking:
            await asking.post(f"{url}/v1/messages", json=ASKED)

    with upstream(says(json_answer(MESSAGE))) as made:
        asyncio.run(ask(made.url))
        with httpx2.Client(transport=recorder) as asking:
            asking.post(f"{made.url}/v1/messages", json=ASKED)
    assert [line["response"]["id"] for line in lines(log)] == ["msg_made"] * 2


def test_the_wrong_kind_of_client_is_told_which_one_is_right(tmp_path: Path):
    handler, log = MessagesHandler(simulator()), tmp_path / "log.jsonl"

    async def ask() -> None:
        transport = Recorder(log, SimulatedTransport(handler))
        await httpx2.AsyncClient(transport=transport).post("http://x/v1/messages", json=ASKED)

    with pytest.raises(UsageError, match=r"SimulatedTransport serves httpx2\.Client, not Async"):
        asyncio.run(ask())
    recorder = Recorder(log, AsyncSimulatedTransport(handler))
    with pytest.raises(UsageError, match=r"serves httpx2\.AsyncClient, not Client"):
        httpx2.Client(transport=recorder).post("http://x/v1/messages", json=ASKED)


def test_the_other_library_is_told_which_one_is_needed(tmp_path: Path):
    httpx = pytest.importorskip("httpx")
    recorder = Recorder(tmp_path / "log.jsonl")
    with pytest.raises(UsageError, match=r"transport of httpx2, not of httpx: .*httpx2\.Client"):
        httpx.Client(transport=recorder).post("http://x/v1/messages", json=ASKED)
    with pytest.raises(UsageError, match=r"one of httpx2, not a httpx\.HTTPTransport"):
        Recorder(tmp_path / "log.jsonl", httpx.HTTPTransport())


def test_a_cancelled_request_is_recorded(tmp_path: Path):
    log = tmp_path / "log.jsonl"

    class Hangs(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await asyncio.sleep(60)
            raise AssertionError(request)

    async def session() -> None:
        transport = AsyncRecorder(log, Hangs())
        sent = httpx2.Request("POST", "http://x/v1/messages", json=base())
        await asyncio.wait_for(transport.handle_async_request(sent), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(session())
    assert lines(log)[0]["error"]["type"] == "CancelledError"


@pytest.mark.parametrize("path", ["/dev/full", "/nowhere/at/all/log.jsonl", "/"])
def test_what_cannot_be_recorded_is_told_once_and_requests_go_on(path: str, capsys):
    asking = client(Path(path))
    for _ in range(3):
        assert asking.messages.create(**base()).stop_reason == "end_turn"
    told = capsys.readouterr().err
    assert told.count("requests go on, but are not recorded in") == 1


def test_a_log_is_for_its_owners_eyes(tmp_path: Path):
    append_line(tmp_path / "log.jsonl", b"{}")
    assert (tmp_path / "log.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_half_written_line_does_not_spoil_the_next(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"schema":1,"ti')
    RequestLog(log).append(b'{"schema":1}')
    RequestLog(log).append(b'{"schema":1}')
    assert log.read_bytes() == b'{"schema":1,"ti\n{"schema":1}\n{"schema":1}\n'


WRITER = """
import sys, threading, httpx2
from ctxlab.sessions import Recorder
path, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
answer = lambda request: httpx2.Response(200, json={"id": "msg", "usage": {}})
recorded = httpx2.Client(transport=Recorder(path, httpx2.MockTransport(answer)))
def ask(thread):
    for number in range(count):
        body = {"who": f"{who}-{thread}-{number}", "text": who * 9000}
        recorded.post("http://x/v1/messages", json=body)
threads = [threading.Thread(target=ask, args=(n,)) for n in range(5)]
[t.start() for t in threads]; [t.join() for t in threads]
"""


def writer(path: Path, who: str, count: int) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", WRITER, str(path), who, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_four_processes_of_five_threads_lose_and_mix_nothing(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    writers = [writer(log, who, 10) for who in "abcd"]
    assert [each.wait(120) for each in writers] == [0] * 4
    recorded = lines(log)
    names = {line["request"]["who"] for line in recorded}
    assert (len(recorded), len(names)) == (200, 200)
    for line in recorded:
        assert line["request"]["text"] == line["request"]["who"][0] * 9000


def test_a_killed_process_leaves_a_readable_log(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    killed = writer(log, "k", 100_000)
    while not log.exists() or log.stat().st_size < 300_000:
        assert killed.poll() is None
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    with client(log) as asking:
        asking.messages.create(**base())
    *before, last = log.read_bytes().split(b"\n")[:-1]
    assert json.loads(last)["status"] == 200
    readable = [json.loads(line) for line in before[:-1]]  # at most the last one was cut
    assert len(readable) >= 20


def test_the_simulated_cache_and_the_log_agree_over_a_session(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    handler = MessagesHandler(PromptCache({"minimum_tokens": 1}))
    recorded = httpx2.Client(transport=Recorder(log, SimulatedTransport(handler)))
    asking = anthropic.Anthropic(api_key="k", base_url="http://x.invalid", http_client=recorded)
    said: list[Any] = []
    for turn in range(4):
        said.append({"role": "user", "content": f"question {turn}"})
        marked = {"cache_control": {"type": "ephemeral"}}
        answer = asking.messages.create(
            model="claude-opus-5", max_tokens=64, messages=said, **marked
        )
        said.append({"role": "assistant", "content": answer.content[0].text})
    usages = [line["response"]["usage"] for line in lines(log)]
    for before, after in pairwise(usages):
        kept = before["cache_read_input_tokens"] + before["cache_creation_input_tokens"]
        assert after["cache_read_input_tokens"] == kept
