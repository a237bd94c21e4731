import json
from dataclasses import replace

import pytest

from ctxlab.errors import InputError
from ctxlab.workbench.manifest import (
    Chart,
    Datum,
    Environment,
    Failure,
    Git,
    Manifest,
    Source,
    Table,
    read_manifest,
)
from ctxlab.workbench.rules import Rule
from tests.workbench.runs import write_run

MANIFEST = Manifest(
    entry="e",
    run_id="20261130T142200Z-3fa9c1d2",
    status="succeeded",
    error=None,
    started="2026-11-30T14:22:00Z",
    seconds=1.5,
    parameters={"b": 1, "a": "é"},
    parameters_passed={},
    notebook=Source("notebooks/e.ipynb", "0" * 64),
    git=Git(None, None, None),
    environment=Environment("3.11.7", None, {"pandas": "3.1.1"}),
    data=[Datum("data/x", "1" * 64, 3)],
    seed=7,
    models=[],
    tokenizer=None,
    machine={"cpus": 2},
    tables={
        "t": Table(
            "t.csv", "2" * 64, 2, ["k"], {"k": "str", "n": "int"}, {"n": Rule("lower")}, False
        )
    },
    charts={"c": Chart("c.svg", "3" * 64, "alt")},
    inputs_sha256="3fa9c1d2" * 8,
    api_usage=None,
)
FAILED = replace(MANIFEST, status="failed", error=Failure("E", "x", None), tables={}, charts={})


@pytest.mark.parametrize("manifest", [MANIFEST, FAILED])
def test_what_is_written_is_read(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest.to_json())
    assert read_manifest(tmp_path) == manifest
    assert read_manifest(tmp_path / "manifest.json") == manifest


@pytest.mark.parametrize("manifest", [MANIFEST, FAILED])
def test_keys_are_sorted_and_always_there(manifest):
    content = json.loads(manifest.to_json())
    assert list(content) == sorted(Manifest.__dataclass_fields__)
    assert content["schema"] == 1
    assert list(content["parameters"]) == ["a", "b"]


def test_keys_of_a_later_version_are_let_be(tmp_path):
    content = json.loads(MANIFEST.to_json())
    content["later"] = content["git"]["later"] = 1
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    assert read_manifest(tmp_path) == MANIFEST


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no manifest"),
        ("[]", "no manifest"),
        ('{"schema": 2}', "schema 2; this ctxlab reads schema 1"),
        ('{"schema": 1}', "no manifest: KeyError"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path, text, told):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=told):
        read_manifest(tmp_path)


def test_no_file_is_no_manifest(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        {"seconds": "abc"},
        {"started": 3},
        {"parameters": [1]},
        {"tables": {"t": {"path": "../../secret", "sha256": "", "rows": 1}}},
        {"tables": {"t": 3}},
        {"charts": {"c": {"path": 3}}},
        "[" * 50_000,
    ],
)
def test_a_damaged_manifest_is_no_manifest(tmp_path, damage):
    run = write_run(tmp_path, days=0)
    file = run / "manifest.json"
    text = damage
    if isinstance(damage, dict):
        text = json.dumps(json.loads(file.read_text()) | damage)
    file.write_text(text)
    with pytest.raises(InputError, match="no manifest"):
        read_manifest(run)
