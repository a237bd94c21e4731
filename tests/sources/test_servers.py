from __future__ import annotations

import json

import pytest

from ctxlab.loading import list_tools
from ctxlab.sources import fetch, servers, status
from ctxlab.sources.drift import digests, tools_sha256
from tests.loading.stdio_server import ODD
from tests.loading.test_listing import stdio


@pytest.fixture
def toolset(world):
    """Reads a tool list from the cache."""
    return lambda name: json.loads((world.cache / "toolsets" / f"{name}.json").read_text())


def recorded(world, name, mode=""):
    """A server whose list is recorded as it is."""
    world.server(name, mode)
    tools = list_tools(stdio(mode)).tools
    world.rows[f"servers.{name}"] |= {"tools": len(tools), "tools_sha256": tools_sha256(tools)}
    path = world.root / "data" / "tool_digests.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | {name: digests(tools)}))


def test_a_list_is_kept_as_sent_with_what_it_ran_on(world, toolset):
    recorded(world, "small")
    world.write()
    (outcome,) = fetch()
    assert (outcome.state, outcome.tools, outcome.drift) == ("fetched", 2, None)
    document = toolset("small")
    assert json.dumps(document["tools"][0]) == json.dumps(ODD)
    assert document["instructions"] == "Use me well."
    assert document["serverVersion"] == "1.2.3"
    assert document["_meta"] == {"of": "the page"}
    assert document["fetched"]["packages"] == {"small": "1.0"}
    assert document["fetched"]["recipe"]["version"] == "1.0"


def test_a_registry_without_dates_gives_todays_dependencies_and_says_so(world):
    recorded(world, "small")
    world.write()
    pages = world.root.parent / "simple" / "small"
    pages.mkdir(parents=True)
    wheel = next(world.wheels.iterdir())
    (pages / "index.html").write_text(f'<a href="{wheel.as_uri()}">{wheel.name}</a>')
    index = json.dumps(pages.parent.as_uri())
    settings = f"[[index]]\nurl = {index}\ndefault = true\n"
    (world.root.parent / "uv.toml").write_text(settings)
    (outcome,) = fetch()
    assert outcome.state == "fetched"
    assert outcome.reason.startswith("with today's dependencies: the registry does not say")


def test_all_lists_are_joined_in_the_files_order(world, toolset):
    recorded(world, "zeta")
    recorded(world, "alpha", "pages")
    world.write()
    fetch()
    names = [tool["name"] for tool in toolset("registry")]
    assert names == [
        "mcp__zeta__odd",
        "mcp__zeta__two",
        "mcp__alpha__t0",
        "mcp__alpha__t1",
        "mcp__alpha__t2",
    ]
    assert list(toolset("registry")[0]["input_schema"]["properties"]) == ["b", "a"]


def test_what_is_there_is_not_asked_again(world, monkeypatch):
    recorded(world, "small")
    world.write()
    fetch()
    monkeypatch.setattr(servers, "ask", lambda _recipes: pytest.fail("asked again"))
    assert fetch()[0].state == "there"


def test_a_server_that_fails_is_named_and_the_others_are_kept(world, toolset):
    recorded(world, "good")
    world.server("bad", "crash")
    world.server("empty", "no-tools")
    world.write()
    good, bad, empty = fetch()
    assert good.state == "fetched"
    assert bad.state == empty.state == "failed"
    assert "its last words: warming up | KeyError: 'JIRA_URL'" in bad.reason
    assert empty.reason == "it lists no tools (does it need credentials?)"
    assert [tool["name"] for tool in toolset("registry")] == ["mcp__good__odd", "mcp__good__two"]


def test_a_package_that_is_not_there(world):
    recorded(world, "good")
    world.server("gone", version="9")
    world.write()
    good, gone = fetch()
    assert good.state == "fetched"
    assert gone.state == "failed"
    assert "gone==9" in gone.reason


def test_another_list_than_the_recorded_is_drift_and_in_use_where_there_is_no_other(world, toolset):
    recorded(world, "small")
    world.rows["servers.small"]["tools_sha256"] = "0" * 64
    path = world.root / "data" / "tool_digests.json"
    path.write_text(json.dumps({"small": {"gone": "0" * 12, "odd": "0" * 12}}))
    world.write()
    (outcome,) = fetch()
    assert outcome.state == "fetched"
    assert outcome.drift.changes == ("two: added", "gone: removed", "odd: edited")
    beside = world.root / outcome.drift.path
    assert json.loads(beside.read_text()) == toolset("small")
    assert outcome.drift.path.endswith(f"small.{tools_sha256(toolset('small')['tools'])[:12]}.json")
    assert status()[0].drift == outcome.drift, "told again, without asking again"


def test_the_recorded_list_stays_in_use_where_it_is_at_hand(world, toolset):
    recorded(world, "small")
    world.write()
    fetch()
    document = toolset("small")
    document["tools"].pop()
    document["tools"][0]["description"] = "before"
    shorter = tools_sha256(document["tools"])
    document["fetched"]["tools_sha256"] = shorter
    (world.cache / "toolsets" / "small.json").write_text(json.dumps(document))
    world.rows["servers.small"]["tools_sha256"] = shorter
    world.write()
    (outcome,) = fetch(force=True)
    assert toolset("small") == document
    assert outcome.drift.changes == (
        'edited odd /description: "before" → "ünïcode — 🙂"',
        "added two",
    )
    assert len(json.loads((world.root / outcome.drift.path).read_text())["tools"]) == 2


def test_a_damaged_list_or_one_of_an_older_recipe_is_asked_for_again(world, toolset):
    recorded(world, "small")
    world.write()
    fetch()
    file = world.cache / "toolsets" / "small.json"
    file.write_text(file.read_text().replace("ünïcode", "unicode"))
    assert status()[0].state == "missing"
    assert fetch()[0].state == "fetched"
    world.rows["servers.small"]["env"] = {"NEW": "1"}
    world.write()
    assert status()[0].state == "missing"
    assert fetch()[0].state == "fetched"


def test_equal_answers_give_equal_bytes(world):
    recorded(world, "small")
    world.write()
    fetch()
    files = sorted((world.cache / "toolsets").iterdir())
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
    fetch(force=True)
    after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
    assert before == after


def test_recording_writes_the_hashes_down(world):
    world.tree("alpha")
    world.server("small")
    world.server("other", "pages")
    world.write()
    small, other = fetch(record=True)
    assert (small.drift, other.drift) == (None, None)
    text = (world.root / "data" / "sources.toml").read_text()
    assert "# kept" in text
    assert "0" * 64 not in text
    assert "tools = 3\n" in text
    assert all(outcome.drift is None for outcome in status())
    digests = json.loads((world.root / "data" / "tool_digests.json").read_text())
    assert list(digests["other"]) == ["t0", "t1", "t2"]


def test_what_a_server_sees(world, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    world.server("nosy", env={"TOKEN": "dummy"})
    code = (
        "import os, sys\n"
        "def main():\n"
        "    shown = {k: v for k, v in os.environ.items() if k not in ('PATH', 'HOME')}\n"
        "    sys.exit(f'{sorted(shown.items())} {os.listdir(os.environ[\"HOME\"])}')\n"
    )
    from tests.sources.conftest import write_wheel

    write_wheel(world.wheels, "nosy", "1.0", {"nosy_server.py": code}, script="nosy_server:main")
    world.write()
    (outcome,) = fetch()
    assert "('PYTHONHASHSEED', '0')" in outcome.reason
    assert "('TOKEN', 'dummy')" in outcome.reason
    assert "hush" not in outcome.reason
    assert "[]" in outcome.reason, "an empty HOME"
