from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ctxlab.cache import MessagesHandler, PromptCache
from ctxlab.errors import InputError, RunFailed, UsageError
from ctxlab.experiments import live_calibration
from ctxlab.experiments.calibration_pairs import pairs
from ctxlab.workbench import run_notebook
from ctxlab.workbench.manifest import read_manifest
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.data  # token counts

MODEL, OTHER = "claude-opus-5", "claude-sonnet-4-6"
NOTEBOOK = REPOSITORY / "notebooks" / "08_live_calibration.ipynb"

# Facts §7 as which share of the second request is read: all, nothing, tools, tools and system.
READ = {
    "0 identical": (100, ""),
    "1 tools turned round": (0, "tools_changed"),
    "1 keys swapped in a schema": (0, "tools_changed"),
    "2 timestamp in system": (50, "system_changed"),
    "2 the same, one marker": (0, "system_changed"),
    "3 a server's tools move": (0, "tools_changed"),
    "4 nine calls in sequence": (100, ""),
    "4 ten calls in sequence": (0, ""),
    "5 forced tool_choice": (87, "unavailable"),
    "6 model switch": (0, "model_changed"),
    "7 below the minimum": (0, ""),
    "11 after 400 s": (0, ""),
    "11 after 400 s, 1h": (87, ""),
    "12 deferred tool appended": (100, ""),
    "13 date marked": (0, "system_changed"),
    "13 stable block marked": (71, "system_changed"),
    "14 user block edited": (87, "messages_changed"),
    "open: tool behind a marked core": (42, "tools_changed"),
}
REFUSED = {
    "8 five markers",
    "9 marker on empty text",
    "10 1h behind 5m",
    "12 deferred and marked",
}


@pytest.fixture(scope="module")
def predicted():
    return live_calibration.ask(live_calibration.simulated(), pairs(MODEL, OTHER, "test"))


@pytest.fixture
def api():
    """An HTTP server that answers as the API does, from a cache of its own rules."""
    servers = []

    def serve(cache=None, status=0):
        server = ThreadingHTTPServer(("127.0.0.1", 0), door(MessagesHandler(cache), status))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def door(handler, status):
    class Door(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = handler.answer("POST", self.path, dict(self.headers), body)
            sent = b"".join(answer.chunks)
            self.send_response(status or answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    return Door


def test_predictions_are_those_of_the_facts(predicted):
    second = predicted[predicted["request"] == "second"].set_index("pair")
    shares = live_calibration.shares(predicted).set_index("pair")["read"]
    assert set(second.index[second["status"] == 400]) == REFUSED
    assert set(shares.index) == set(READ)
    for pair, (share, diagnosis) in READ.items():
        assert shares[pair] == pytest.approx(share, abs=4), pair
        assert second.loc[pair, "diagnosis"] == diagnosis, pair


def test_every_model_gets_the_pairs_that_it_takes():
    names = {pair.name for pair in pairs("claude-sonnet-5-5", OTHER, "test")}
    assert "5 forced tool_choice" not in names
    assert "12 deferred tool appended" in names
    assert not [pair for pair in pairs(MODEL, OTHER, "test", slow=False) if pair.wait]


def test_without_live_nothing_is_asked():
    assert live_calibration.answers([], live=False) is None


def test_live_without_a_key_is_one_clear_error(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        live_calibration.answers([], live=True)


def test_the_same_code_asks_a_server(monkeypatch, api, predicted):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    quick = pairs(MODEL, OTHER, "test", slow=False)
    answered = live_calibration.answers(quick, live=True, base_url=api())
    table = live_calibration.compared(predicted, answered, 1.0)
    assert len(table) == len(answered)
    assert table["agrees"].all()
    told = live_calibration.conclusion(predicted, table, "a test")
    assert f"**{len(table)} of {len(table)}** answers (a test)" in told


def test_a_server_of_another_mind_is_told_pair_by_pair(monkeypatch, api, predicted):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    other = PromptCache({"tool_entries_survive_later_changes": False})
    quick = pairs(MODEL, OTHER, "test", slow=False)
    answered = live_calibration.answers(quick, live=True, base_url=api(other))
    table = live_calibration.compared(predicted, answered, 1.0)
    differing = set(table[~table["agrees"]]["pair"])
    assert differing == {"open: tool behind a marked core"}
    assert "*open: tool behind a marked core*" in live_calibration.conclusion(
        predicted, table, "a test"
    )


def test_what_is_no_answer_fails_in_one_line(monkeypatch, api):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    with pytest.raises(RunFailed, match="0 identical, first request"):
        live_calibration.answers(
            pairs(MODEL, OTHER, "test")[:1], live=True, base_url=api(status=401)
        )


def test_kept_answers_are_read_without_a_key(tmp_path, predicted):
    file = tmp_path / "responses.csv"
    predicted.to_csv(file, index=False)
    kept = live_calibration.answers([], live=False, responses=file)
    assert live_calibration.compared(predicted, kept, 0)["agrees"].all()


def test_what_is_no_table_of_answers_is_refused(tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="expected the column 'pair'"):
        live_calibration.load(file)
    with pytest.raises(InputError, match="cannot be read"):
        live_calibration.load(tmp_path / "missing.csv")


def test_live_and_kept_at_once_are_refused(tmp_path):
    with pytest.raises(UsageError, match="give one"):
        live_calibration.answers([], live=True, responses=tmp_path / "responses.csv")


def test_the_notebook_asks_keeps_and_reads_again(monkeypatch, api, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
    asked = {"live": True, "slow": False, "base_url": api()}
    first = run_notebook(NOTEBOOK, asked, results=tmp_path)
    assert first.status == "succeeded", first.error
    manifest = read_manifest(first.path / "manifest.json")
    assert manifest.api_usage[MODEL]["cache_read_input_tokens"] > 0
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    kept = {"responses": str(first.path / "responses.csv"), "slow": False}
    again = run_notebook(NOTEBOOK, kept, results=tmp_path)
    assert again.status == "succeeded", again.error
    assert (again.path / "compared.csv").read_bytes() == (first.path / "compared.csv").read_bytes()
    for file in first.path.iterdir():
        assert b"test-key-of-nobody" not in file.read_bytes(), file.name
