"""The endpoint over the simulated cache, by the SDK and by clients that we did not write."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from uv import find_uv_bin

from ctxlab.errors import InputError
from ctxlab.serving import read_replies
from tests.cache.requests import MARK
from tests.conftest import need_service
from tests.serving.processes import Served, serving

KEY = "sk-ant-secret-0123456789abcdef"
LONG = "The rules of this house are many. " * 200


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("serve")) as process:
        yield process


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as process:
        yield process


def client(served: Served, **more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=KEY, base_url=served.url, max_retries=0, **more)


def asked(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {
        "model": "claude-opus-5",
        "max_tokens": 64,
        "system": [{"type": "text", "text": LONG, "cache_control": MARK}],
        "messages": [{"role": "user", "content": text}],
        **more,
    }


def post(served: Served, body: bytes, path: str = "/v1/messages", method: str = "POST", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


def raw(served: Served, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(data)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_a_session_reads_what_it_wrote_and_is_told_why_not(own: Served):
    asking = client(own)
    asking.messages.create(**asked())
    assert "read 0  written 1,601" in own.next_line()
    again = asking.messages.create(**asked())
    assert again.usage.cache_read_input_tokens == 1_601
    line = own.next_line()
    assert "claude-opus-5  read 1,601" in line
    assert "simulated" in line
    assert "$0.00" in line
    assert "cache broke" not in line
    system = [{"type": "text", "text": LONG + " It is 10:42.", "cache_control": MARK}]
    asking.messages.create(**asked(system=system))
    line = own.next_line()
    assert "cache broke: system at /system/0/text" in line
    assert "tokens not read again" in line
    assert [each["status"] for each in own.lines()] == [200] * 3
    assert all(each["simulated"] for each in own.lines())


def test_a_tool_that_changed_is_named(own: Served):
    asking = client(own)
    schema = {"type": "object", "properties": {}}
    tools = [
        {"name": name, "description": f"{name}: {LONG}", "input_schema": schema}
        for name in ("read", "grep")
    ]
    asking.messages.create(**asked(tools=tools))
    own.next_line()
    tools[1] = {**tools[1], "description": "another"}
    asking.messages.create(**asked(tools=tools))
    assert "cache broke: tools grep at /tools/1/description" in own.next_line()


def test_streaming_counting_and_the_text(served: Served):
    asking = client(served)
    with asking.messages.stream(**asked("say this")) as stream:
        assert "".join(stream.text_stream) == "say this"
    assert asking.messages.count_tokens(
        model="claude-opus-5", messages=[{"role": "user", "content": "hello"}]
    ).input_tokens
    lines = {line["path"]: line for line in served.lines()}
    assert lines["/v1/messages/count_tokens"]["response"]["input_tokens"] > 0


def test_async_code_and_two_hundred_requests_at_once(own: Served):
    async def everything() -> list[Any]:
        async with anthropic.AsyncAnthropic(
            api_key=KEY, base_url=own.url, max_retries=0, timeout=120
        ) as asking:
            sent = [asking.messages.create(**asked(f"number {number}")) for number in range(200)]
            return await asyncio.gather(*sent)

    answers = asyncio.run(everything())
    said = {answer.id: answer.content[0].text for answer in answers}
    recorded = {
        line["response"]["id"]: line["request"]["messages"][0]["content"] for line in own.lines()
    }
    assert said == recorded
    assert len(said) == 200
    assert KEY not in own.record.read_text()


def test_requests_that_overlap_all_write(tmp_path: Path):
    with serving(tmp_path, "--latency", "0.5") as own:
        usages: list[Any] = []
        threads = [
            threading.Thread(
                target=lambda: usages.append(client(own).messages.create(**asked()).usage)
            )
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [usage.cache_read_input_tokens for usage in usages] == [0, 0, 0]
        assert client(own).messages.create(**asked()).usage.cache_read_input_tokens > 1_000


def test_errors_are_the_sdks_own(served: Served):
    asking = client(served)
    with pytest.raises(anthropic.BadRequestError, match="temperature"):
        asking.messages.create(**asked(), extra_body={"temperature": 1})
    with pytest.raises(anthropic.NotFoundError, match="near names"):
        asking.messages.create(**asked(model="claude-opus-55"))
    with pytest.raises(anthropic.BadRequestError, match="not valid JSON"):
        asking.post("/v1/messages", cast_to=object, content=b"{")


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/v1/messages", 405, "invalid_request_error"),
        ("POST", "/v1/nothing", 404, "not_found_error"),
        ("DELETE", "/", 404, "not_found_error"),
        ("GET", "/v1/models/nobody", 404, "not_found_error"),
    ],
)
def test_other_methods_and_paths(served: Served, method, path, status, kind):
    told = post(served, b"{}", path, method)
    assert (told[0], told[1]["type"], told[1]["error"]["type"]) == (status, "error", kind)


def test_what_agents_look_at_first(served: Served):
    assert post(served, b"", "/", "HEAD") == (200, None)
    assert post(served, b"", "/", "GET")[1]["simulated"] is True
    models = client(served).models.list(limit=100)
    assert "claude-opus-5" in [model.id for model in models]
    assert client(served).models.retrieve("claude-opus-5").id == "claude-opus-5"


def test_a_body_over_the_limit(tmp_path: Path):
    with serving(tmp_path, "--max-body", "10KB") as own:
        with pytest.raises(anthropic.RequestTooLargeError):
            client(own).messages.create(**asked("x" * 20_000))
        assert "413  request_too_large" in own.next_line()
        assert (own.lines()[0]["status"], own.lines()[0]["request"]) == (413, None)
        assert post(own, b"x" * 1_000_000)[1]["error"]["type"] == "request_too_large"
        pieces = (b"x" * 1_000 for _ in range(30))
        assert post(own, pieces)[0] == 413  # type: ignore[arg-type]  # chunked
        assert post(own, json.dumps(asked("x", system="x")).encode())[0] == 200
        head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n"
        with socket.create_connection(("127.0.0.1", own.port), timeout=30) as connection:
            connection.sendall(head + b"Expect: 100-continue\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")  # no 100 before it


def test_without_file_descriptors_it_says_so_once_and_goes_on(tmp_path: Path):
    with serving(tmp_path) as own:
        assert post(own, json.dumps(asked("x")).encode())[0] == 200
        held = len(list(Path(f"/proc/{own.process.pid}/fd").iterdir()))
        resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE, (held + 5, held + 5))
        connections = [socket.create_connection(("127.0.0.1", own.port)) for _ in range(20)]
        time.sleep(2.5)  # it tries again each second
        for connection in connections:
            connection.close()
        time.sleep(1.5)
        assert post(own, json.dumps(asked("x")).encode())[0] == 200
        own.process.terminate()
        err = own.process.communicate(timeout=30)[1]
    assert err.count("ctxlab: warning: Too many open files: ") == 1
    assert len(err.splitlines()) <= 2  # the log may not have been written meanwhile


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_in_the_apis_form(served: Served, data: bytes):
    head, body = raw(served, data).split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["type"] == "invalid_request_error"
    assert post(served, b"", "/", "GET")[0] == 200


def test_a_chunked_request_is_read_whole(served: Served):
    body = json.dumps(asked("in pieces")).encode()
    pieces = (body[start : start + 1_000] for start in range(0, len(body), 1_000))
    status, answer = post(served, pieces)  # type: ignore[arg-type]
    assert (status, answer["content"][0]["text"]) == (200, "in pieces")


def test_a_client_that_hangs_up_is_recorded_as_incomplete(tmp_path: Path):
    with serving(tmp_path, "--latency", "1") as own:
        body = json.dumps(asked(stream=True)).encode()
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", own.port)) as connection:
            connection.sendall(head.encode() + body)
        assert "no answer" in own.next_line()
        assert own.lines()[0]["error"]["type"] == "abandoned"
        assert post(own, b"", "/", "GET")[0] == 200


def test_replies_from_a_file(tmp_path: Path):
    call = {"type": "tool_use", "name": "read", "input": {"path": "a"}}
    script = tmp_path / "replies.jsonl"
    script.write_text(f'"First."\n{json.dumps([call])}\n{{"content": "Third."}}\n')
    with serving(tmp_path, "--replies", str(script)) as own:
        asking = client(own)
        assert asking.messages.create(**asked()).content[0].text == "First."
        assert asking.messages.create(**asked()).content[0].input == {"path": "a"}
        assert asking.messages.create(**asked()).content[0].text == "Third."
        with pytest.raises(anthropic.BadRequestError, match="all were given"):
            asking.messages.create(**asked())


def test_what_follows_the_last_reply(tmp_path: Path):
    script = tmp_path / "replies.jsonl"
    script.write_text('[{"type": "text", "text": "Once."}]\n')
    for then, told in (("echo", "hello"), ("repeat", "Once.")):
        with serving(tmp_path, "--replies", str(script), "--then", then) as own:
            asking = client(own)
            answers = [asking.messages.create(**asked()).content[0].text for _ in range(2)]
        assert answers == ["Once.", told]


def test_a_model_may_have_any_name_where_a_minimum_is_given(served: Served, tmp_path: Path):
    with pytest.raises(anthropic.NotFoundError, match="--minimum-tokens with ctxlab serve"):
        client(served).messages.create(**asked(model="my-model"))
    with serving(tmp_path, "--minimum-tokens", "1") as own:
        marked = asked(model="my-model", cache_control={"type": "ephemeral"})
        usage = [client(own).messages.create(**marked).usage for _ in range(2)]
    assert usage[0].cache_creation_input_tokens == usage[1].cache_read_input_tokens > 0


def test_ids_of_two_servers_are_told_apart(tmp_path: Path):
    ids = []
    for _ in range(2):
        with serving(tmp_path) as own:
            ids.append(client(own).messages.create(**asked()).id)
    assert ids[0] != ids[1]
    assert all(each.startswith("msg_simulated_") for each in ids)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("r.json", '["fine", {"content": 3}]', "r.json:[1].content: a reply is"),
        ("r.json", '[["fine"]]', "r.json:[0][0]: no content block"),
        ("r.json", '[{"type": "text", "text": "x"}]', "put the block into a list"),
        ("r.json", '{"text": "x"}', "r.json: a reply is"),
        ("r.jsonl", '"fine"\n\n[{"type": "text"}]', "r.jsonl:3[0]: no content block"),
        ("r.jsonl", '"fine"\n{', "r.jsonl:2: no JSON"),
        ("r.jsonl", "", "r.jsonl: there is no reply in it"),
    ],
)
def test_a_wrong_reply_is_told_with_its_place(tmp_path: Path, name: str, text: str, told: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        read_replies(tmp_path / name)
    assert told in str(refused.value)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_signals_end_it_cleanly(tmp_path: Path, number: int, code: int):
    body = json.dumps(asked()).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with serving(tmp_path, "--latency", "2") as own:
        with socket.create_connection(("127.0.0.1", own.port), timeout=30) as connection:
            connection.sendall(head.encode() + body)
            time.sleep(1)
            own.process.send_signal(number)
            answer = b""
            while piece := connection.recv(65536):  # the server hangs up behind it
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200 OK")
            assert b'"text":"hello"' in answer
        out, err = own.process.communicate(timeout=30)
        assert own.process.returncode == code
        assert "Traceback" not in err
        assert len(own.lines()) == 1
        assert "claude-opus-5" in out


def test_killed_in_the_middle_the_record_stays_readable(own: Served):
    def ask() -> None:
        try:
            for number in range(1_000):
                client(own).messages.create(**asked(f"{number} {LONG}"))
        except anthropic.APIError:
            pass

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    while len(own.record.read_bytes().splitlines()) < 10:
        pass
    own.process.kill()
    for thread in threads:
        thread.join()
    *before, _ = own.record.read_bytes().split(b"\n")
    assert all(json.loads(line)["status"] == 200 for line in before)


# Its plugin still sends `temperature`, which the SDK of our environment no longer takes: an
# environment of its own brings an SDK that does.
LLM = ["--from", "llm==0.36", "--with", "llm-anthropic==0.26", "--with", "anthropic==0.97.0", "llm"]


def test_the_llm_command_with_its_plugin(served: Served, tmp_path: Path):
    environment = {
        **os.environ,
        "LLM_USER_PATH": str(tmp_path),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": served.url,
        "NO_PROXY": "127.0.0.1",
        "PYTHONDONTWRITEBYTECODE": "",  # its environment is kept: the next run is faster
    }

    def llm(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [find_uv_bin(), "tool", "run", "--python", sys.executable, *LLM, *arguments]
        return subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    need_service(llm("--version").returncode == 0, "llm with its plugin cannot be installed")
    before = len(served.lines())
    for options in ([], ["--no-stream", "-o", "max_tokens", "99"]):
        done = llm("-m", "claude-opus-4.5", "-s", "Be brief.", *options, "six times seven")
        assert (done.returncode, done.stdout.strip()) == (0, "six times seven"), done.stderr
    recorded = served.lines()[before:]
    assert [line["request"].get("stream", False) for line in recorded] == [True, False]
    assert [line["request"]["system"] for line in recorded] == ["Be brief."] * 2
    assert KEY not in served.record.read_text()


def test_it_refuses_what_it_cannot_do(tmp_path: Path):
    script = tmp_path / "replies.json"
    script.write_text('["fine", 7]')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for options, told in (
            (["--port", str(port)], "cannot listen on 127.0.0.1 port"),
            (["--replies", str(script)], "replies.json:[1]: a reply is a text, a list"),
            (["--upstream", "ftp://x"], "--upstream is an address such as"),
            (["--max-body", "lots"], "a size is a number of bytes"),
            (["--record", str(tmp_path)], "Is a directory"),
        ):
            command = [sys.executable, "-m", "ctxlab.cli", "serve", *options]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=tmp_path
            )
            assert done.returncode == 2
            assert told in done.stderr
            assert len(done.stderr.splitlines()) == 1


def test_listening_for_other_machines_is_warned_of(tmp_path: Path):
    with serving(tmp_path, "--host", "0.0.0.0") as own:
        own.process.terminate()
        warned = own.process.communicate(timeout=30)[1]
    assert "0.0.0.0 can be reached from other machines" in warned
