from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ctxlab.cli import app
from ctxlab.errors import DataError
from ctxlab.sources import raise_failures, status
from ctxlab.sources.answers import toolsets
from ctxlab.sources.drift import tools_sha256


def run(*args):
    return CliRunner().invoke(app, ["data", *args])


def test_a_row_an_input_and_then_one_line(world):
    world.tree("alpha")
    world.tree("beta")
    world.write()
    first, second = run(), run()
    assert first.stdout.splitlines() == ["alpha  1.0  fetched", "beta   1.0  fetched"]
    assert first.stderr == "downloading alpha==1.0, beta==1.0\n"
    assert (second.stdout, second.stderr) == ("2 inputs are there\n", "")


def test_list_looks_and_fetches_nothing(world):
    world.tree("alpha")
    world.write()
    looked = run("--list")
    assert looked.stdout == "alpha  1.0  missing  not fetched\n"
    assert looked.exit_code == 0
    assert not world.cache.exists()


def test_json_has_every_field(world):
    world.tree("alpha")
    world.write()
    (row,) = json.loads(run("--json").stdout)
    assert row == {
        "name": "alpha",
        "kind": "tree",
        "version": "1.0",
        "path": "data/cache/trees/alpha",
        "state": "fetched",
        "reason": "",
        "tools": 0,
        "drift": None,
    }


def test_a_server_that_fails_is_exit_code_1(world):
    world.tree("alpha")
    world.server("bad", "crash")
    world.write()
    done = run()
    assert done.exit_code == 1
    assert "bad    1.0  failed  it ended before it answered" in done.stdout


def test_a_tree_that_fails_is_an_error(world):
    world.tree("alpha", sha256="a" * 64)
    world.tree("beta", sha256="b" * 64)
    world.write()
    done = run()
    assert isinstance(done.exception, DataError)
    assert done.exception.exit_code == 2
    assert "alpha: alpha-1.0-py3-none-any.whl has sha256" in str(done.exception)
    assert "; beta: beta-1.0" in str(done.exception)


def test_drift_is_told_tool_by_tool_once_and_then_in_short(world):
    world.server("small")
    world.write()
    (world.root / "data" / "tool_digests.json").write_text('{"small": {"odd": "0"}}')
    first, second, listed = run(), run(), run("--list")
    lines = first.stdout.splitlines()
    assert lines[1].startswith("drift: small gives another list than the recorded one (data/cache/")
    assert lines[2:] == ["  two: added", "  odd: edited"]
    assert first.exit_code == 0
    assert second.stdout.splitlines()[1].endswith("`ctxlab data --list` tells the changes")
    assert listed.stdout.splitlines()[2:] == ["  two: added", "  odd: edited"]


@pytest.mark.data
def test_the_real_inputs_are_there_and_joined():
    raise_failures(status())
    outcomes = [outcome for outcome in status() if outcome.state != "there"]
    assert outcomes == []
    registry = json.loads((toolsets() / "registry.json").read_text())
    assert len(registry) == sum(outcome.tools for outcome in status())
    assert len({tool["name"] for tool in registry}) == len(registry)
    for outcome in status():
        if outcome.kind == "server":
            document = json.loads((toolsets() / f"{outcome.name}.json").read_text())
            assert document["fetched"]["tools_sha256"] == tools_sha256(document["tools"])
