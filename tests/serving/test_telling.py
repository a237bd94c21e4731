from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from ctxlab.serving import telling
from ctxlab.serving.door import Asked
from ctxlab.serving.telling import Streams, Teller, printable
from ctxlab.sessions.recording.exchange import Recording, Sent
from ctxlab.sessions.recording.request_log import RequestLog

SECRET = "sk-ant-api03-abcdefghijklmnop"
DEEP = '{"a":' * 300 + "1" + "}" * 300
TOLD = {"type": "message", "model": "m", "usage": {"input_tokens": 7, "output_tokens": 1}}


def ended(folder: Path, body: str, answer: Any, path: str = "/v1/messages"):
    asked = Asked("POST", path, path.encode(), [], body.encode())
    recording = Recording(RequestLog(folder / "log.jsonl"), Sent(path, {}, asked.body))
    recording.begins(200, {"content-type": "application/json"})
    recording.saw(json.dumps(answer).encode())
    recording.finish(ended=True)
    return asked, recording


def said(text: str) -> str:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})


def test_no_request_silences_those_that_follow(tmp_path: Path):
    block = {"type": "tool_use", "id": "t", "name": "n", "input": "DEEP"}
    asked = {"model": "m", "messages": [{"role": "user", "content": [block]}]}
    deep = json.dumps(asked).replace('"DEEP"', DEEP)
    lines: list[str] = []
    teller = Teller(lines.append)
    teller.ended(*ended(tmp_path, deep, TOLD))
    teller.ended(*ended(tmp_path, "{}", {"input_tokens": [1]}, "/v1/messages/count_tokens"))
    teller.ended(*ended(tmp_path, said("hi"), {**TOLD, "usage": {"input_tokens": ["x"]}}))
    teller.ended(*ended(tmp_path, said("hi"), TOLD))
    teller.ended(*ended(tmp_path, said("hi"), {"type": "x"}, f"/{SECRET}"))
    teller.close()
    assert len(lines) == 5
    assert "m  read 0  written 0  uncached 7  output 1" in lines[3]
    assert lines[4].endswith("POST /***  200")


def test_who_reads_slowly_is_told_how_many_were_left_out(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(telling, "_MOST", 3 * telling._ITEM)
    lines: list[str] = []
    first, go_on = threading.Event(), threading.Event()

    def tell(line: str) -> None:
        lines.append(line)
        first.set()
        assert go_on.wait(30)

    teller = Teller(tell)
    exchange = ended(tmp_path, said("hi"), TOLD)
    teller.ended(*exchange)
    assert first.wait(30)
    for _ in range(20):
        teller.ended(*exchange)
    go_on.set()
    teller.close()
    assert len(lines) == 6
    assert lines[1] == "16 more requests were not told of; the log has them"


def test_a_switched_model_is_a_stream_that_follows_and_back_again_goes_on():
    streams = Streams()
    body = {"messages": [{"role": "user", "content": "hello"}]}
    assert streams.of(body, "opus") == ("main/opus", "")
    assert streams.of(body, "sonnet") == ("main/sonnet", "main/opus")
    assert streams.of(body, "opus") == ("main/opus", "main/sonnet")
    assert streams.of(body, "opus") == ("main/opus", "")


def test_two_conversations_are_told_apart():
    streams = Streams()
    one, two = ({"messages": [{"role": "user", "content": said}]} for said in ("one", "two"))
    assert [streams.of(body, "m")[0] for body in (one, two, one)] == [
        "main/m",
        "conversation-2/m",
        "main/m",
    ]


def test_what_could_steer_a_terminal_is_not_printed():
    assert printable("grep\x1b[2J\r\n") == "grep�[2J��"
