"""Results at a URL: in memory in this process, and a real place that several processes see."""

import json
import zipfile
from pathlib import Path

import fsspec
import pytest

from ctxlab.errors import Locked, RunFailed, UsageError
from ctxlab.workbench import (
    baseline,
    chosen,
    comparing,
    load_table,
    results,
    run_batch,
    run_notebook,
    stores,
)
from ctxlab.workbench.export import export
from ctxlab.workbench.index import rebuild
from ctxlab.workbench.lock import batch_lock
from ctxlab.workbench.prune import prune
from ctxlab.workbench.rules import Rule
from tests.workbench.fixtures import CHART, TABLE, notebook
from tests.workbench.runs import write_run
from tests.workbench.test_batch_processes import READ, ctxlab

RULES = {"t": ([{"k": "a", "v": 1}], ["k"], {"v": Rule()})}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CTXLAB_RESULTS", raising=False)
    stores._remote.cache_clear()
    stores._opened.clear()
    yield tmp_path
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def url():
    return "memory://bucket/results"


def there(url):
    """Every file at the URL, relative to it."""
    files, folder = fsspec.core.url_to_fs(url)
    return sorted(path.removeprefix(folder).lstrip("/") for path in files.find(folder))


def put(url, run):
    """Carry a made run over, as another machine would have."""
    files, folder = fsspec.core.url_to_fs(url)
    place = "/".join(run.parts[-2:])
    files.makedirs(f"{folder}/{place}", exist_ok=True)
    for file in run.iterdir():
        files.pipe_file(f"{folder}/{place}/{file.name}", file.read_bytes())
    return place


def test_a_run_is_carried_over_whole_skipped_the_next_time_and_read(root, url, monkeypatch):
    path = notebook(root / "01_first.ipynb", TABLE, CHART)
    outcome = run_notebook(path, results=url, timeout=90)
    assert outcome.status == "succeeded"
    place = f"first/{outcome.path.name}"
    names = "bars.svg log.txt manifest.json notebook.ipynb report.html seeds.csv"
    assert there(url) == [f"{place}/{name}" for name in names.split()]
    assert outcome.to_json()["report"] == f"{url}/{place}/report.html"
    assert not (root / "results").exists()
    assert run_notebook(path, results=url).status == "skipped"
    monkeypatch.setenv("CTXLAB_RESULTS", url)
    assert list(load_table("first", "seeds")["seed"]) == [7, 8]


def test_what_others_put_there_or_took_away_is_seen(root, url):
    run = write_run(root / "elsewhere", "entry", tables=RULES)
    place = put(url, run)
    store = stores.at(url).refresh()
    (found,) = results.runs("entry", store.folder)
    assert found.succeeded
    assert [each.name for each in found.path.iterdir()] == ["manifest.json"]
    assert (store.fetch(found.path) / "t.csv").read_bytes() == (run / "t.csv").read_bytes()
    fsspec.filesystem("memory").rm_file(f"/bucket/results/{place}/manifest.json")
    assert results.entries(store.refresh().folder) == []  # without a manifest it is absent


def test_the_manifest_is_written_last_and_half_a_run_is_none(root, url, monkeypatch):
    store = stores.at(url)
    written, failing, real = [], {}, store._files.put_file

    def put_file(local, remote, **_):
        written.append(Path(remote).name)
        if len(written) in failing:
            raise failing[len(written)]
        real(local, remote)

    monkeypatch.setattr(store._files, "put_file", put_file, raising=False)
    path = notebook(root / "a.ipynb", "1")
    for nth, error in ((2, PermissionError("not yours")), (3, KeyboardInterrupt())):
        written.clear()
        failing = {nth: error}
        with pytest.raises((RunFailed, KeyboardInterrupt)):
            run_notebook(path, results=url, timeout=90)
        assert there(url) == []
        assert results.entries(store.folder) == []
    written.clear()
    failing = {}
    assert run_notebook(path, results=url, timeout=90).well
    assert written[-1] == "manifest.json"


def test_comparing_accepting_and_pruning_work_there(root, url):
    for days, value in ((0, 1), (1, 1), (2, 2)):
        tables = {"t": ([{"k": "a", "v": value}], ["k"], {"v": Rule("lower")})}
        put(url, write_run(root / "elsewhere", "entry", days=days, tables=tables))
    first, *_ = results.runs("entry", stores.at(url).refresh().folder)
    (found,) = comparing.compare(chosen.pairs([f"entry/{first.run_id}", "entry"], url))
    assert found.bad
    assert found.before == f"{url}/entry/{first.run_id}"
    (accepted,) = baseline.accept_newest([], url)
    assert {name for name in there(url) if name.startswith("baseline")} == {
        "baseline/entry/manifest.json",
        "baseline/entry/t.csv",
    }
    (against,) = comparing.compare(chosen.pairs([], url, baseline=True))
    assert not against.bad
    gone = prune(1, None, url)
    assert len(gone) == 2
    assert {name.split("/")[0] for name in there(url)} == {"baseline", "entry", "index.html"}
    assert len([name for name in there(url) if name.endswith("manifest.json")]) == 2
    assert accepted.is_dir()


def test_a_moved_baseline_is_seen_by_another_machine(root, url, monkeypatch):
    for days in (0, 1):
        put(url, write_run(root / "elsewhere", "entry", days=days, tables=RULES))
        baseline.accept_newest([], url)
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "other"))
        stores._remote.cache_clear()
        store = stores.at(url).refresh()
        run = baseline.baseline("entry", store.folder)
        assert run.run_id == results.newest("entry", store.folder).run_id
        assert (store.fetch(run.path) / "t.csv").is_file()
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        stores._remote.cache_clear()


def test_the_index_and_an_export_are_made_of_it(root, url):
    for days in range(3):
        run = write_run(root / "elsewhere", "entry", days=days, tables=RULES)
        (run / "report.html").write_text("<title>A report</title>")
        put(url, run)
    assert rebuild(stores.at(url)) == f"{url}/index.html"
    page = fsspec.filesystem("memory").cat("/bucket/results/index.html").decode()
    assert "A report" in page
    for run in results.runs("entry", stores.at(url).folder):
        assert f"entry/{run.run_id}/report.html" in page
    path = export(chosen.run_directories(["entry"], url), root / "report.zip")
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 4


def test_a_batch_locks_by_the_url(root, url):
    store = stores.at(url)
    (root / "plan.toml").write_text('[[run]]\nnotebook = "a.ipynb"\n')
    notebook(root / "a.ipynb", "1")
    told = "another batch is running over memory://bucket/results "
    with batch_lock(store.folder, str(store)), pytest.raises(Locked, match=told):
        run_batch(root / "plan.toml", results=url)
    with pytest.raises(UsageError, match="seen by one process alone"):
        run_batch(root / "plan.toml", results=url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("warp://x", "the results at warp://x: Protocol not known: warp"),
        ("s3://user:hidden@bucket/x", "the results at s3://bucket/x: Install s3fs"),
        ("file:///proc/none", "the results at file:///proc/none cannot be used: "),
    ],
)
def test_what_cannot_be_used_is_one_line(root, url, told):
    path = notebook(root / "a.ipynb", "1")
    with pytest.raises(UsageError) as refused:
        run_notebook(path, results=url)
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_the_command_and_its_workers_use_a_place_that_all_see(root, monkeypatch):
    """`dir::file://` stands for an object store: other processes, no rename of directories."""
    place = root / "bucket"
    url = f"file://{place}"
    notebooks = root / "notebooks"
    notebook(notebooks / "01_first.ipynb", TABLE, CHART)
    notebook(notebooks / "02_second.ipynb", READ)
    (notebooks / "plan.toml").write_text(
        '[[run]]\nnotebook = "02_second.ipynb"\nneeds = ["first"]\n'
        '[[run]]\nnotebook = "01_first.ipynb"\n'
    )
    done = ctxlab(root, "batch", "--results", url, "--json")
    assert done.returncode == 0, done.stderr
    told = {each["entry"]: each for each in json.loads(done.stdout)}
    for entry in ("first", "second"):
        report = told[entry]["report"]
        assert report.startswith(f"{url}/{entry}/")
        assert Path(report.removeprefix("file://")).is_file()
    assert (place / "index.html").is_file()
    listed = ctxlab(root, "list", "--results", url)
    assert f"{url}/second/" in listed.stdout
    again = ctxlab(root, "batch", "--results", url)
    assert "2 skipped" in again.stdout, again.stderr
    assert not (root / "results").exists()
    assert list(place.rglob(".*")) == []
    refused = ctxlab(root, "list", "--results", "warp://x")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
