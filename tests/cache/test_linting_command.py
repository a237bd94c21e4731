from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from ctxlab.cli import app
from tests.cache.requests import base


def lint(*args: str) -> Result:
    return CliRunner().invoke(app, ["lint", *args])


def write(path: Path, value: object) -> str:
    path.write_text(json.dumps(value))
    return str(path)


def test_findings_are_lines_and_exit_code_1(tmp_path: Path):
    done = lint(write(tmp_path / "tools.json", [{"name": "a", "input_schema": {"type": "object"}}]))
    assert done.exit_code == 1
    first, last = done.stdout.splitlines()
    assert first.endswith(
        "tools.json:/tools/0: vague-description (tool-design): no description: "
        "say what it does and when to use it"
    )
    assert last == "1 finding: vague-description 1"


def test_nothing_found_is_exit_code_0(tmp_path: Path):
    done = lint(write(tmp_path / "none.json", []))
    assert (done.exit_code, done.stdout.strip().endswith("none.json: well")) == (0, True)


def test_json(tmp_path: Path):
    done = lint(write(tmp_path / "request.json", base()), "--json")
    rows = json.loads(done.stdout)
    assert set(rows[0]) == {"rule", "place", "message", "tool", "document"}


def test_a_relative_path_counts_from_where_one_stands(tmp_path: Path, monkeypatch):
    write(tmp_path / "none.json", [])
    monkeypatch.chdir(tmp_path)
    assert lint("none.json").exit_code == 0


def test_help_has_an_example():
    assert "ctxlab lint data/cache/toolsets/git.json" in lint("--help").stdout
