from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxlab.errors import DataError
from ctxlab.loading import McpServer, list_many, list_tools
from tests.loading.stdio_server import ODD

HERE = Path(__file__).parent
SCRIPT = str(HERE / "stdio_server.py")
ASK = f"""
import sys
from ctxlab.loading import McpServer, list_many
print("asking", flush=True)
list_many([McpServer("s", command=sys.executable, args=({SCRIPT!r}, sys.argv[1]))], timeout=2)
"""


def stdio(mode="", *args, name="small", **fields):
    return McpServer(name, command=sys.executable, args=(SCRIPT, mode, *map(str, args)), **fields)


@pytest.fixture
def http():
    """Starts an HTTP server in a mode; gives how to reach it."""
    started = []

    def start(mode="", **fields):
        process = subprocess.Popen(
            [sys.executable, HERE / "http_server.py", *([mode] if mode else [])],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        port = process.stdout.readline().strip()
        return McpServer("web", url=f"http://127.0.0.1:{port}/mcp", **fields)

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_tools_arrive_as_they_were_sent():
    answer = list_tools(stdio())
    assert json.dumps(answer.tools[0]) == json.dumps(ODD)
    assert [tool["name"] for tool in answer.tools] == ["odd", "two"]
    assert (answer.name, answer.version, answer.instructions) == ("small", "1.2.3", "Use me well.")
    assert answer.answer == {"_meta": {"of": "the page"}}


def test_all_pages_are_followed():
    assert [tool["name"] for tool in list_tools(stdio("pages")).tools] == ["t0", "t1", "t2"]


def test_a_cursor_that_comes_again_ends_the_list():
    assert [tool["name"] for tool in list_tools(stdio("same-cursor")).tools] == ["t0", "t1"]


def test_a_list_without_end_is_refused():
    with pytest.raises(DataError, match=r"does not end: 1,000 pages, 1,000 tools"):
        list_tools(stdio("endless"))


def test_a_large_answer_on_one_line():
    answer = list_tools(stdio("huge"))
    assert len(answer.tools) == 1000
    assert sum(len(tool["description"]) for tool in answer.tools) == 10_000_000


def test_a_server_without_tools_has_none():
    answer = list_tools(stdio("no-tools"))
    assert answer.tools == ()
    assert answer.instructions == "Use me well."


def test_text_on_stdout_before_the_first_message_is_passed_over():
    assert len(list_tools(stdio("chatty")).tools) == 2


def test_a_schema_is_kept_as_sent_even_where_it_is_no_json_schema():
    assert list_tools(stdio("strange-schema")).tools[0]["inputSchema"]["items"] == 1


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("crash", r"it ended before it answered; .*warming up \| KeyError: 'JIRA_URL'"),
        ("bad-schema", r"its answer is no tool list: /tools/1/inputSchema: .*dictionary"),
        ("no-name", r"its answer is no tool list: /tools/0/name: Field required"),
        ("no-list", r"its answer is no tool list: /tools: .*list"),
        ("refuses", r"it answered with an error: log in first"),
    ],
)
def test_a_failure_has_its_reason_in_one_line(mode, told):
    with pytest.raises(DataError, match=f"MCP server small: {told}") as caught:
        list_tools(stdio(mode))
    assert "\n" not in str(caught.value)


def test_the_time_limit_holds():
    with pytest.raises(DataError, match=r"no answer within 0\.5 s$"):
        list_tools(stdio("silent"), timeout=0.5)


def test_nonsense_on_stdout_is_counted():
    with pytest.raises(DataError, match="no answer within 4 s; 2 messages on stdout were no JSON"):
        list_tools(stdio("garbage"), timeout=4)


def test_nonsense_on_stdout_prints_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", ASK, "garbage"], capture_output=True, text=True, check=True
    )
    assert done.stdout + done.stderr == "asking\n"


def test_a_command_that_is_not_there():
    with pytest.raises(DataError, match="no-such-program: No such file or directory"):
        list_tools(McpServer("gone", command="no-such-program"))


def test_a_folder_that_is_not_there():
    with pytest.raises(DataError, match=r"MCP server small: .*No such file or directory"):
        list_tools(stdio(cwd="/no/such/folder"))


def test_no_process_is_left_behind(tmp_path):
    pid_file = tmp_path / "pid"
    with pytest.raises(DataError, match="no answer within 4 s"):
        list_tools(stdio("stubborn", pid_file), timeout=4)
    assert gone(int(pid_file.read_text()))


def gone(pid, within=5.0):
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_its_environment_is_what_the_entry_says(monkeypatch):
    monkeypatch.setenv("MY_SECRET", "not for servers")
    show = "import os,sys; sys.exit(f\"{os.environ.get('MY_SECRET')} {os.environ.get('TOKEN')}\")"
    server = McpServer("env", command=sys.executable, args=("-c", show), env={"TOKEN": "t"})
    with pytest.raises(DataError, match="its last words: None t"):
        list_tools(server)


def test_all_are_asked_at_once(tmp_path):
    listing = list_many([stdio("meet", tmp_path, name=name) for name in "ab"])
    assert [server.name for server in listing.servers] == ["a", "b"]


def test_the_failed_are_named_and_the_others_count():
    modes = {"a": "", "b": "crash", "c": "no-list", "d": "pages"}
    listing = list_many([stdio(mode, name=name) for name, mode in modes.items()])
    assert [server.name for server in listing.servers] == ["a", "d"]
    assert [failure.name for failure in listing.failed] == ["b", "c"]


def test_a_server_that_ends_at_the_newer_handshake_is_asked_with_the_older():
    answer = list_tools(stdio("strict"))
    assert len(answer.tools) == 2
    assert answer.protocol < "2026"


def test_nobody_to_ask():
    assert list_many([]).servers == ()


def test_it_works_where_a_loop_runs_already():
    import asyncio

    async def notebook():
        return list_tools(stdio())

    assert len(asyncio.run(notebook()).tools) == 2


def test_what_is_always_loaded():
    assert list_tools(stdio("always")).always_loaded() == ["b"]
    assert list_tools(stdio("always", always_load=True)).always_loaded() == ["a", "b"]


def test_ctrl_c_ends_the_question():
    process = subprocess.Popen(
        [sys.executable, "-c", ASK, "silent"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert stderr.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


def test_over_http(http):
    answer = list_tools(http())
    assert [tool["name"] for tool in answer.tools] == ["now"]
    assert (answer.version, answer.instructions) == ("9", "Over HTTP.")


def test_pages_over_http(http):
    assert [tool["name"] for tool in list_tools(http("pages")).tools] == ["t0", "t1", "t2"]


def test_a_large_answer_over_http(http):
    assert len(list_tools(http("huge")).tools[0]["description"]) == 3_000_000


def test_headers_are_sent(http):
    server = http("guarded", headers={"Authorization": "Bearer secret"})
    assert len(list_tools(server).tools) == 1


def test_a_closed_door_is_an_error(http):
    with pytest.raises(DataError, match=r"MCP server web: .*(401|Unauthorized|refused)"):
        list_tools(http("guarded"))


def test_nobody_listens():
    server = McpServer("web", url="http://127.0.0.1:9/mcp")
    with pytest.raises(DataError, match="MCP server web: cannot be reached at its url"):
        list_tools(server)


def test_the_sdk_is_not_imported_before_it_is_needed():
    code = "import sys, ctxlab.loading; print('mcp' in sys.modules, 'anyio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
