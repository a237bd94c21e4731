from __future__ import annotations

from typing import Any

from ctxlab.workbench.changes import Change, input_changes, table_changes
from tests.workbench.made_runs import MANIFEST


def changed(**parts: Any) -> list[Change]:
    return input_changes(MANIFEST, MANIFEST | parts)


def test_equal_runs_differ_in_nothing() -> None:
    assert changed(started="2027-01-01T00:00:00Z", seconds=99, run_id="other", machine={}) == []


def test_parameters_that_came_went_and_moved() -> None:
    assert changed(parameters={"toolset": "x.json", "new": [1]}) == [
        Change("toolset", "data/tools/base.json", "x.json"),
        Change("seeds", "100", ""),
        Change("new", "", "[1]"),
    ]


def test_code_and_its_surroundings() -> None:
    git = {"commit": "f" * 40, "branch": "other", "dirty": True}
    notebook = {"path": "p", "source_sha256": "12" * 32}
    environment = MANIFEST["environment"] | {"python": "3.14.0"}
    assert changed(git=git, notebook=notebook, environment=environment) == [
        Change("commit", "0123456789abcdef", "ffffffff"),
        Change("uncommitted changes", "no", "yes"),
        Change("notebook", "abababab", "12121212"),
        Change("Python", "3.11.7", "3.14.0"),
    ]


def test_packages_are_named_up_to_four_then_counted() -> None:
    packages = {f"p{n}": "1" for n in range(6)} | MANIFEST["environment"]["packages"]
    told = changed(environment=MANIFEST["environment"] | {"packages": packages})
    assert told[:1] == [Change("p0", "", "1")]
    assert told[4:] == [Change("2 more packages", "", "")]


def test_data_whose_content_moved() -> None:
    data = [{"path": "data/tools/base.json", "sha256": "00" * 32, "bytes": 1}]
    assert changed(data=data) == [Change("data/tools/base.json", "efefefef", "00000000")]
    assert changed(data=[data[0] | {"path": "elsewhere.json"}]) == []  # its parameter says so


def test_foreign_manifests_are_survived() -> None:
    for wrong in ({}, {"parameters": 3, "git": [], "data": {"a": 1}, "environment": None}):
        input_changes(wrong, MANIFEST)
        input_changes(MANIFEST, wrong)
        table_changes(wrong, {"tables": {"a": 3, "b": {}}})


def test_tables_by_their_bytes() -> None:
    before = {"a": {"sha256": "1"}, "b": {"sha256": "1"}, "c": {"sha256": "1"}}
    after = {"a": {"sha256": "1"}, "b": {"sha256": "2"}, "d": {"sha256": "1"}}
    times = {"t": {"sha256": "9", "measured": True}}
    assert table_changes({"tables": before | times}, {"tables": after}) == {
        "a": "same",
        "b": "differs",
        "c": "gone",
        "d": "new",
    }
