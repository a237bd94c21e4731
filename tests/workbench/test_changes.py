from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ctxlab import project
from ctxlab.workbench.changes import InputChange, drifted, in_short, input_changes
from ctxlab.workbench.manifest import Datum, Git, Manifest, Source, read_manifest
from tests.workbench.made_runs import made


@pytest.fixture
def manifest(tmp_path) -> Manifest:
    return read_manifest(made(tmp_path))


def short(manifest: Manifest, **parts: Any) -> list[tuple[str, str, str]]:
    return in_short(input_changes(manifest, replace(manifest, **parts)))


def test_equal_runs_differ_in_nothing(manifest):
    assert short(manifest, started="2027-01-01T00:00:00Z", seconds=99, run_id="x", machine={}) == []


def test_parameters_that_came_went_and_moved(manifest):
    parameters = {"toolset": "x.json", "new": [1]}
    assert sorted(short(manifest, parameters=parameters)) == [
        ("new", "none", "[1]"),
        ("seeds", "100", "none"),
        ("toolset", "data/tools/base.json", "x.json"),
    ]


def test_whole_values_are_for_scripts_short_ones_for_people(manifest):
    found = input_changes(manifest, replace(manifest, notebook=Source("p", "12" * 32)))
    assert found == [InputChange("notebook.source_sha256", "ab" * 32, "12" * 32)]
    assert in_short(found) == [("notebook", "abababab", "12121212")]


def test_code_and_its_surroundings(manifest):
    git = Git("f" * 40, "other", dirty=True)
    environment = replace(manifest.environment, python="3.14.0")
    assert short(manifest, git=git, environment=environment) == [
        ("commit", "0123456789abcdef", "ffffffff"),
        ("uncommitted changes", "no", "yes"),
        ("Python", "3.11.7", "3.14.0"),
    ]


def test_packages_are_named_up_to_four_then_counted(manifest):
    packages = {f"p{n}": "1" for n in range(6)} | manifest.environment.packages
    told = short(manifest, environment=replace(manifest.environment, packages=packages))
    assert told[0] == ("p0", "none", "1")
    assert told[4:] == [("2 more packages", "", "")]


def test_data_whose_content_moved(manifest):
    data = [Datum("data/tools/base.json", "00" * 32, 1)]
    assert short(manifest, data=data) == [("data/tools/base.json", "efefefef", "00000000")]


def test_one_line_of_printable_text(manifest):
    ((_, _, after),) = short(manifest, tokenizer="a\nb\x1b[31m" + "x" * 99)
    assert after.isprintable()
    assert len(after) == 60


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/cache/toolsets/registry.json", True),
        ("data/tools/base.json", False),
        ("elsewhere/cache/x.json", False),
    ],
)
def test_only_what_was_fetched_drifts(manifest, path, expected):
    old = replace(manifest, data=[Datum(path, "a" * 64, 1)])
    new = replace(manifest, data=[Datum(path, "b" * 64, 1)])
    assert drifted(old, new) is expected
    assert not drifted(old, old)
    assert not drifted(manifest, new)  # another path: its parameter says so
    absolute = replace(new, data=[Datum(str(project.resolve(path)), "b" * 64, 1)])
    assert not drifted(old, absolute)
