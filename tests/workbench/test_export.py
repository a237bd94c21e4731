import zipfile

import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.export import export
from ctxlab.workbench.rules import Rule
from tests.workbench.runs import write_run

TABLE = {"t": ([{"k": "a", "v": 1}], ["k"], {"v": Rule()})}


def made(tmp_path, entry="entry", days=0):
    run = write_run(tmp_path / "results", entry, days=days, tables=TABLE)
    (run / "report.html").write_text("<p>a report</p>")
    return run


def test_whole_runs_and_an_index_of_just_them_go_into_one_file(tmp_path):
    run, other = made(tmp_path), made(tmp_path, "other")
    made(tmp_path, "left_out")
    path = export([run, other, run], tmp_path / "report.zip")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        index = archive.read("results/index.html").decode()
    assert f"results/entry/{run.name}/report.html" in names
    assert f"results/other/{other.name}/t.csv" in names
    assert len(names) == 7
    assert f"entry/{run.name}/report.html" in index
    assert "left_out" not in index
    assert sorted(each.name for each in tmp_path.iterdir()) == ["report.zip", "results"]


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path):
    run = made(tmp_path)
    path = export([run], tmp_path / "report.zip")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="--force replaces it"):
        export([run], path)
    assert path.read_bytes() == before
    export([run], path, force=True)


def test_what_is_no_run_leaves_no_file(tmp_path):
    with pytest.raises(InputError):
        export([made(tmp_path), tmp_path / "none"], tmp_path / "report.zip")
    with pytest.raises(UsageError, match="name the runs"):
        export([], tmp_path / "report.zip")
    assert not (tmp_path / "report.zip").exists()
