import json
from dataclasses import replace

import pandas as pd
import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.manifest import Failure, tables_from_json
from ctxlab.workbench.record import SIDECAR, Record
from ctxlab.workbench.results import (
    NEEDS_VARIABLE,
    entries,
    load_table,
    newest,
    newest_successful,
    newest_tables,
    runs,
    succeeded_before,
)
from tests.workbench.test_manifest import MANIFEST

FRAME = pd.DataFrame({"n": [1, 2], "k": ["007", "b"]})  # not in the manifest's sorted order


def make_run(results, entry, day, sha="3fa9c1d2" * 8, **changes):
    run_id = f"202611{day:02}T000000Z-{sha[:8]}"
    folder = results / entry / run_id
    Record(folder).table("t", FRAME.assign(n=FRAME.n + day), key=["k"])
    tables = tables_from_json(json.loads((folder / SIDECAR).read_text())["tables"])
    manifest = replace(
        MANIFEST, entry=entry, run_id=run_id, inputs_sha256=sha, tables=tables, **changes
    )
    (folder / "manifest.json").write_text(manifest.to_json())
    return folder


FAILED = {"status": "failed", "error": Failure("E", "x", 1)}


@pytest.fixture
def results(tmp_path, monkeypatch):
    folder = tmp_path / "results"
    monkeypatch.setenv("CTXLAB_RESULTS", str(folder))
    monkeypatch.delenv(NEEDS_VARIABLE, raising=False)
    make_run(folder, "a", 1)
    make_run(folder, "a", 3, **FAILED)
    make_run(folder, "a", 2)
    make_run(folder, "b", 1, **FAILED)
    make_run(folder, "baseline", 1)
    (folder / "empty").mkdir()
    (folder / "a" / ".20261104T000000Z-3fa9c1d2.tmp").mkdir()
    (folder / "a" / "20261105T000000Z-3fa9c1d2").mkdir()  # absent: no manifest
    (folder / "a" / "notes").mkdir()
    (folder / "index.html").touch()
    return folder


def test_entries_and_their_runs_oldest_first(results):
    assert entries() == ["a", "b"]
    assert [run.run_id[:8] for run in runs("a")] == ["20261101", "20261102", "20261103"]
    assert runs("nothing") == []
    assert newest("a").run_id[:8] == "20261103"
    assert newest("nothing") is None
    assert newest_successful("a").run_id[:8] == "20261102"
    assert newest_successful("b") is None


def test_no_results_are_no_entries(tmp_path):
    assert entries(tmp_path / "none") == []


def test_a_run_with_the_same_inputs_is_found(results):
    assert succeeded_before("a", "3fa9c1d2" * 8).run_id[:8] == "20261102"
    assert succeeded_before("a", "3fa9c1d2" + "0" * 56) is None
    assert succeeded_before("b", "3fa9c1d2" * 8) is None


def test_a_manifest_that_cannot_be_read_is_no_success(results):
    (runs("a")[1].path / "manifest.json").write_text("{")
    assert newest_successful("a").run_id[:8] == "20261101"


def test_a_table_of_the_newest_successful_run_is_loaded(results):
    pd.testing.assert_frame_equal(load_table("a", "t"), FRAME.assign(n=FRAME.n + 2))
    with pytest.raises(InputError, match="no table 'u'; there are t"):
        load_table("a", "u")
    with pytest.raises(InputError, match="no successful run of the entry 'b'; there are runs of a"):
        load_table("b", "t")


def test_a_kernel_of_ours_reads_what_its_run_needs(results, monkeypatch):
    monkeypatch.setenv(NEEDS_VARIABLE, json.dumps({"a": str(runs("a")[0].path)}))
    assert load_table("a", "t")["n"].tolist() == [2, 3]
    with pytest.raises(UsageError, match=r"'b' is not among what this run needs \(a\)"):
        load_table("b", "t")
    assert newest_tables(["a", "b"])["a"]["t"]["n"].tolist() == [2, 3]


def test_all_tables_of_several_entries_are_read_those_without_a_run_are_left_out(results):
    assert newest_tables(["b"]) == {}
    (tables,) = newest_tables(["b", "a"]).values()
    pd.testing.assert_frame_equal(tables["t"], load_table("a", "t"))
