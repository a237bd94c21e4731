from __future__ import annotations

import json

import pytest

from ctxlab.errors import InputError
from ctxlab.loading import McpServer, read_servers


@pytest.fixture
def write(tmp_path):
    def write(document):
        path = tmp_path / ".mcp.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return write


def servers(**entries):
    return {"mcpServers": entries}


def test_both_transports_in_the_files_order(write):
    path = write(
        servers(
            web={"type": "http", "url": "https://a.example/mcp", "headers": {"X": "1"}},
            git={"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "b"}, "cwd": "/x"},
            old={"type": "stdio", "command": "x", "disabledTools": ["kept by another client"]},
            bare={"url": "http://127.0.0.1:1/mcp", "alwaysLoad": True},
            long={"type": "streamable-http", "url": "http://127.0.0.1:1/mcp"},
        )
    )
    assert read_servers(path) == [
        McpServer("web", url="https://a.example/mcp", headers={"X": "1"}),
        McpServer("git", command="uvx", args=("mcp-server-git",), env={"A": "b"}, cwd="/x"),
        McpServer("old", command="x"),
        McpServer("bare", url="http://127.0.0.1:1/mcp", always_load=True),
        McpServer("long", url="http://127.0.0.1:1/mcp"),
    ]


def test_variables_are_filled_in_everywhere(write):
    entry = {
        "command": "${BIN}/run",
        "args": ["--level=${LEVEL:-info}", "${EMPTY:-default}", "$BIN", "${not a name}"],
        "env": {"TOKEN": "${TOKEN}"},
    }
    web = {"url": "${URL:-http://127.0.0.1/mcp}", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    env = {"BIN": "/opt", "TOKEN": "${BIN}", "EMPTY": ""}
    small, http = read_servers(write(servers(s=entry, w=web)), env)
    assert small.command == "/opt/run"
    assert small.args == ("--level=info", "default", "$BIN", "${not a name}")
    assert small.env == {"TOKEN": "${BIN}"}, "what a variable holds is not expanded again"
    assert http.url == "http://127.0.0.1/mcp"
    assert http.headers == {"Authorization": "Bearer ${BIN}"}


def test_our_own_environment_fills_them_when_none_is_given(write, monkeypatch):
    monkeypatch.setenv("CTXLAB_TEST_COMMAND", "x")
    assert read_servers(write(servers(s={"command": "${CTXLAB_TEST_COMMAND}"})))[0].command == "x"


def test_a_byte_order_mark_is_no_error(write):
    assert read_servers(write("\ufeff" + json.dumps(servers()))) == []


def test_secrets_are_not_shown(write):
    server = read_servers(write(servers(s={"command": "x", "env": {"TOKEN": "hush"}})))[0]
    assert "hush" not in repr(server)


@pytest.mark.parametrize(
    ("document", "place", "message"),
    [
        ('{"mcpServers": {\n "a": }}', "2:7", "no valid JSON"),
        ([], None, 'expected {"mcpServers"'),
        ({"servers": {}}, None, 'expected {"mcpServers"'),
        ({"mcpServers": []}, None, 'expected {"mcpServers"'),
        (servers(a=[]), "/mcpServers/a", "expected an object"),
        (servers(a={}), "/mcpServers/a/command", "expected a text that is not empty"),
        (servers(a={"command": 3}), "/mcpServers/a/command", "expected a text"),
        (servers(a={"command": "x", "args": "y"}), "/mcpServers/a/args", "expected a list"),
        (servers(a={"command": "x", "args": ["y", 1]}), "/mcpServers/a/args/1", "found 1"),
        (servers(a={"command": "x", "env": ["A=1"]}), "/mcpServers/a/env", "an object of texts"),
        (servers(a={"command": "x", "env": {"A/B": 1}}), "/mcpServers/a/env/A~1B", "a text"),
        (servers(a={"command": "x", "cwd": None}), "/mcpServers/a/cwd", "a text"),
        (servers(a={"type": "sse", "url": "http://x"}), "/mcpServers/a/type", "found 'sse'"),
        (servers(a={"type": ["x"]}), "/mcpServers/a/type", "expected stdio or http"),
        (servers(a={"type": "http"}), "/mcpServers/a/url", "expected a text"),
        (servers(a={"url": "ftp://x"}), "/mcpServers/a/url", "starts with http://"),
        (servers(a={"url": "http://x", "headers": 1}), "/mcpServers/a/headers", "an object"),
        (servers(a={"command": "x", "alwaysLoad": "yes"}), "/mcpServers/a/alwaysLoad", "true or"),
        (servers(a={"command": "${NOPE}"}), "/mcpServers/a/command", "${NOPE} is not set"),
    ],
)
def test_what_is_refused_is_told_with_its_place(write, document, place, message):
    path = write(document)
    with pytest.raises(InputError) as caught:
        read_servers(path, env={})
    assert message in caught.value.message
    assert caught.value.path == path
    assert (caught.value.place or None) == place


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_servers(tmp_path / "no.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_servers(tmp_path / "bytes.json")
