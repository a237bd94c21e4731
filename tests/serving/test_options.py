from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.serving import Options, serve
from ctxlab.serving.options import read_replies, size
from ctxlab.serving.server import is_itself, listening
from ctxlab.sessions.recording.request_log import append_line, append_nothing


@pytest.mark.parametrize(
    "upstream",
    [
        "ftp://x",
        "http://",
        "http://h/\n",
        "http://a b/",
        "http://h/%zz",
        "http://h/#frag",
        "http://h/?a=1",
        "http://h:0/",
        "http://h:99999/",
        "http://[::1",
        "http://a..b/",
        "http://h/\x7f",
    ],
)
def test_what_is_no_upstream(upstream: str):
    with pytest.raises(UsageError, match="--upstream is an address such as") as error:
        Options(upstream=upstream)
    assert len(str(error.value).splitlines()) == 1


def test_what_is_an_upstream():
    for upstream in (
        "https://api.example.com",
        "http://me:pw@[::1]:81/a%20b/",
        "http://münchen.de",
    ):
        assert Options(upstream=upstream).upstream == upstream


@pytest.mark.parametrize(
    "option",
    [
        {"latency": math.inf},
        {"latency": math.nan},
        {"latency": -1},
        {"timeout": math.nan},
        {"timeout": math.inf},
        {"timeout": 0},
        {"max_body": 0},
        {"max_body": 1024**4},
        {"host": ""},
        {"port": 70_000},
    ],
)
def test_what_cannot_be(option: dict[str, Any]):
    with pytest.raises(UsageError):
        Options(**option)


@pytest.mark.parametrize("text", ["lots", "9" * 20 + "GB", "9" * 5_000, "-1", "1.5MB", ""])
def test_what_is_no_size(text: str):
    with pytest.raises(UsageError) as error:
        size(text)
    assert len(str(error.value)) < 200


def test_a_pipe_is_neither_script_nor_record(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a file"):
        read_replies(pipe)
    with pytest.raises(OSError, match="Not a file"):
        append_nothing(pipe)
    with pytest.raises(OSError, match="Not a file"):
        append_line(pipe, b"{}")


def test_nobody_is_his_own_upstream(tmp_path: Path):
    with listening("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    options = Options(tmp_path / "log", upstream=f"http://localhost:{port}/v1", port=port)
    said: list[str] = []
    with pytest.raises(UsageError, match="address of this server"):
        serve(options, said.append, said.append)
    assert not said
    assert is_itself("http://127.0.0.1:80", ("0.0.0.0", 80))
    assert is_itself("http://127.0.0.1", ("0.0.0.0", 80))
    assert not is_itself("http://192.0.2.1", ("0.0.0.0", 80))
    assert not is_itself("http://host.invalid", ("127.0.0.1", 80))
