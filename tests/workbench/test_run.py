"""Real kernels: each costs seconds, so that one run serves many assertions."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pandas as pd
import psutil
import pytest

from ctxlab.errors import InputError, RunFailed, UsageError
from ctxlab.workbench import load_table, run_notebook
from ctxlab.workbench.manifest import Failure, read_manifest
from ctxlab.workbench.results import RUN_ID
from tests.conftest import need_service
from tests.workbench.fixtures import CHART, PARAMETERS, TABLE, notebook

SECRET = "plain-looking-secret-value"
LOOK = f"""\
import os, sys
from pathlib import Path
print(os.getcwd(), sys.executable, os.environ["MPLBACKEND"], hash("a"))
print(Path(corpus).read_text(), os.environ["A_SERVICE_TOKEN"], {SECRET!r})
os.write(2, b"from below " + {SECRET!r}.encode())
pd.DataFrame({{"set": list({{"x", "y", "z"}})}})"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "corpus.txt").write_text("the corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXLAB_ROOT", str(folder))
        patch.delenv("CTXLAB_RESULTS", raising=False)
        patch.setenv("A_SERVICE_TOKEN", SECRET)
        patch.setenv("MPLBACKEND", "agg")
        yield folder


@pytest.fixture(scope="module")
def well(root):
    path = notebook(root / "notebooks" / "01_well.ipynb", TABLE, CHART, LOOK)
    before = path.read_bytes(), sorted(path.parent.iterdir())
    seen = []
    outcome = run_notebook(
        path, {"corpus": Path("corpus.txt"), "seed": 3}, on_cell=lambda *cell: seen.append(cell)
    )
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before
    return outcome, seen


@pytest.fixture(scope="module")
def failed(root):
    path = notebook(root / "notebooks" / "02_failed.ipynb", TABLE, "# then\nraise ValueError(text)")
    return run_notebook(path, {"text": "no: sk-ant-api03-AAAAbbbbCCCCdddd"}, entry="other")


def files(outcome):
    return sorted(path.name for path in outcome.path.iterdir())


def test_a_run_is_whole(root, well):
    outcome, _ = well
    assert outcome.status == "succeeded"
    assert outcome.path.parent == root / "results" / "well"
    assert RUN_ID.fullmatch(outcome.path.name)
    assert {"bars.svg", "log.txt", "manifest.json", "notebook.ipynb", "seeds.csv"} <= {
        *files(outcome)
    }
    assert [path.name for path in outcome.path.parent.iterdir()] == [outcome.path.name]
    assert not [name for name in files(outcome) if name.startswith(".") or "record" in name]


def test_its_manifest_says_what_it_was_made_of(root, well):
    outcome, _ = well
    manifest = read_manifest(outcome.path)
    assert (manifest.entry, manifest.run_id, manifest.status) == (
        "well",
        outcome.path.name,
        "succeeded",
    )
    assert manifest.run_id.endswith(manifest.inputs_sha256[:8])
    assert manifest.parameters == {"corpus": "corpus.txt", "seed": 3, "text": "x", "live": False}
    assert manifest.parameters_passed == {"corpus": "corpus.txt", "seed": 3}
    assert manifest.notebook.path == "notebooks/01_well.ipynb"
    assert [(datum.path, datum.bytes) for datum in manifest.data] == [("corpus.txt", 10)]
    assert manifest.seed == 3
    assert manifest.models == ["m-1"]
    assert manifest.tokenizer == "o200k_base"
    assert manifest.environment.packages["papermill"]
    assert manifest.git.commit is None  # the root is no checkout
    assert manifest.tables["seeds"].rows == 2
    assert manifest.charts["bars"].alt == "Two bars"
    assert manifest.error is None
    assert manifest.api_usage is None
    assert 0 < manifest.seconds <= outcome.seconds


def test_its_notebook_ran_where_it_should(root, well):
    outcome, seen = well
    node = nbformat.read(outcome.path / "notebook.ipynb", as_version=4)
    nbformat.validate(node)
    text = node.cells[-1].outputs[0].text
    cwd, python, backend, hashed = text.split("\n")[0].split()
    assert (cwd, python, backend) == (
        str(root),
        sys.executable,
        "module://matplotlib_inline.backend_inline",
    )
    assert int(hashed) == _hash_without_seed("a")
    injected = next(c for c in node.cells if "injected-parameters" in c.metadata.get("tags", []))
    assert f'output_dir = "results/well/{outcome.path.name}"' in injected.source
    assert seen == [(n, 6) for n in range(6)]


def _hash_without_seed(text):
    code = f"print(hash({text!r}))"
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    return int(subprocess.check_output([sys.executable, "-c", code], env=environment))


@pytest.mark.parametrize("which", ["well", "failed"])
def test_no_secret_is_written(request, which):
    outcome = request.getfixturevalue(which)
    outcome = outcome[0] if isinstance(outcome, tuple) else outcome
    for path in outcome.path.iterdir():
        content = path.read_text()
        assert SECRET not in content, path.name
        assert "sk-ant" not in content, path.name


def test_what_the_kernel_process_says_is_in_the_log(well):
    log = (well[0].path / "log.txt").read_text()
    assert "from below ***" in log
    assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ succeeded in ", log, re.MULTILINE)


def test_its_table_is_loaded(root, well):
    frame = load_table("well", "seeds")
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"name": ["a", "b"], "seed": [3, 4]}))


def test_the_same_inputs_are_skipped_unless_forced_and_then_give_the_same_bytes(root, well):
    path = root / "notebooks" / "01_well.ipynb"
    passed = {"corpus": "corpus.txt", "seed": 3}
    again = run_notebook(path, passed)
    assert (again.status, again.path) == ("skipped", well[0].path)
    forced = run_notebook(path, passed, force=True)
    assert forced.status == "succeeded"
    assert forced.path != well[0].path
    for name in ("seeds.csv", "bars.svg"):
        assert (forced.path / name).read_bytes() == (well[0].path / name).read_bytes()


def test_a_failed_run_is_kept_with_notebook_and_error(failed):
    assert failed.status == "failed"
    assert failed.reason == "ValueError in In [4]: no: ***"
    assert {"log.txt", "manifest.json", "notebook.ipynb", "seeds.csv"} <= {*files(failed)}
    manifest = read_manifest(failed.path)
    assert manifest.status == "failed"
    assert (manifest.error.ename, manifest.error.evalue, manifest.error.cell) == (
        "ValueError",
        "no: ***",
        4,
    )
    assert list(manifest.tables) == ["seeds"]
    assert set(json.loads(manifest.to_json())) == set(type(manifest).__dataclass_fields__)
    node = nbformat.read(failed.path / "notebook.ipynb", as_version=4)
    assert node.cells[4].outputs[-1].ename == "ValueError"
    assert "An Exception was encountered" not in node.cells[0].source
    assert "raise ValueError(text)" in (failed.path / "log.txt").read_text()


def test_a_failed_run_is_run_again(root, failed):
    # The same inputs failed: that is no reason to skip. A time limit ends it before it fails anew.
    path = root / "notebooks" / "02_failed.ipynb"
    again = run_notebook(
        path, {"text": "no: sk-ant-api03-AAAAbbbbCCCCdddd"}, entry="other", timeout=0.01
    )
    assert again.status == "failed"
    assert again.error.ename == "TimeoutError"


def test_a_kernel_that_dies_is_told_with_its_end(root):
    path = notebook(
        root / "dead.ipynb", TABLE, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    )
    outcome = run_notebook(path)
    assert outcome.reason == "DeadKernelError in In [4]: the kernel died: SIGSEGV"
    assert list(read_manifest(outcome.path).tables) == ["seeds"]


def test_a_run_over_its_time_is_stopped_with_all_it_started(root):
    pids = root / "pids"
    path = notebook(
        root / "slow.ipynb",
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(600)",
    )
    outcome = run_notebook(path, timeout=20)  # enough for a start on a busy machine
    assert outcome.reason == "TimeoutError in In [3]: the run took longer than 20 s"
    assert outcome.seconds < 120
    assert _gone([int(pid) for pid in pids.read_text().split()])


def _gone(pids, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.1)
    return False


def _alive(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_a_kernel_that_does_not_start_is_a_failed_run(root, monkeypatch):
    monkeypatch.setattr("ctxlab.workbench.kernel.sys.executable", "/nowhere/python")
    outcome = run_notebook(notebook(root / "nostart.ipynb", "1"))
    assert outcome.status == "failed"
    assert outcome.error.ename == "FileNotFoundError"
    assert outcome.error.cell is None
    assert {"log.txt", "manifest.json", "notebook.ipynb"} <= {*files(outcome)}


def test_a_live_run_is_never_skipped(root):
    path = notebook(root / "live.ipynb", "1")
    outcomes = [run_notebook(path, {"live": True}, timeout=60) for _ in range(2)]
    assert [outcome.status for outcome in outcomes] == ["succeeded", "succeeded"]
    assert outcomes[0].path != outcomes[1].path


@pytest.mark.parametrize(
    ("passed", "options", "told"),
    [
        ({"sede": 1}, {}, "did you mean `seed`"),
        ({"seed": "1"}, {}, "the parameter `seed` is `int`"),
        ({"corpus": "none"}, {}, "nothing is at"),
        ({}, {"entry": "a/b"}, "an entry is named"),
        ({}, {"engine": "warp"}, "no engine 'warp'; there are ordinary"),
        ({}, {"timeout": 0}, "more than 0 seconds"),
        ({}, {"needs": ["nothing"]}, "no successful run of the needed entry"),
    ],
)
def test_what_is_refused_leaves_nothing(root, tmp_path, passed, options, told):
    path = notebook(root / "refused.ipynb", "1")
    with pytest.raises(UsageError, match=told):
        run_notebook(path, passed, results=tmp_path / "results", **options)
    assert not (tmp_path / "results").exists()


def test_an_unknown_kernel_is_refused(root, tmp_path):
    path = notebook(root / "kernel.ipynb", "1", kernelspec={"name": "nope", "display_name": "x"})
    with pytest.raises(UsageError, match="no kernel 'nope' is installed; there are"):
        run_notebook(path, results=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_missing_notebook_is_refused(root):
    with pytest.raises(InputError, match="no notebook is here"):
        run_notebook(root / "none.ipynb")


def test_results_that_cannot_be_written_are_told(root, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        run_notebook(notebook(root / "small.ipynb", "1"), results=tmp_path / "file" / "results")


def test_a_full_disk_leaves_earlier_runs_and_nothing_of_this_one(root, well, monkeypatch):
    real = Path.write_text

    def full(self, *arguments, **options):
        if self.name == "manifest.json":
            raise OSError(28, "No space left on device")
        return real(self, *arguments, **options)

    before = sorted((root / "results" / "well").iterdir())
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(
        RunFailed, match=r"well: the run could not be saved.*No space left on device"
    ):
        run_notebook(root / "notebooks" / "01_well.ipynb", {"corpus": "corpus.txt", "seed": 4})
    assert sorted((root / "results" / "well").iterdir()) == before


@pytest.fixture
def tiny(tmp_path):
    """A disk of 200 KB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder]
    mounted = os.geteuid() == 0 and not subprocess.run(mount, check=False).returncode
    need_service(mounted, "a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_really_full_disk(root, tiny):
    big = "import pandas as pd\nfrom ctxlab.workbench import Record\nRecord(output_dir).table("
    table = notebook(
        root / "table.ipynb", f"{big}'t', pd.DataFrame({{'n': range(100_000)}}), key=['n'])"
    )
    outcome = run_notebook(table, results=tiny)
    assert outcome.reason == "OSError in In [3]: [Errno 28] No space left on device"
    assert read_manifest(outcome.path).tables == {}
    assert "t.csv" not in " ".join(files(outcome))  # half of a table is none
    output = notebook(root / "output.ipynb", "print('x' * 200_000)")
    with pytest.raises(RunFailed, match="No space left on device"):
        run_notebook(output, results=tiny)
    assert list((tiny / "output").iterdir()) == []
    assert read_manifest(outcome.path).status == "failed"  # the earlier one is as it was


def test_an_interrupt_ends_the_kernel_and_leaves_nothing(root, tmp_path):
    pids = tmp_path / "pid"
    path = notebook(
        root / "endless.ipynb",
        f"import os, time\nopen({str(pids)!r}, 'w').write(str(os.getpid()))\nwhile True: pass",
    )
    code = (
        "from ctxlab.workbench import run_notebook\n"
        f"try: run_notebook({str(path)!r}, results={str(tmp_path / 'results')!r})\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for(pids)
    runner.send_signal(signal.SIGINT)
    out, err = runner.communicate(timeout=60)
    assert (out, err) == ("interrupted\n", "")
    assert _gone([int(pids.read_text())])
    assert list((tmp_path / "results" / "endless").iterdir()) == []


def test_a_killed_runner_takes_its_kernel_along(root, tmp_path):
    pids = tmp_path / "pid"
    path = notebook(
        root / "endless.ipynb",
        f"import os, time\nopen({str(pids)!r}, 'w').write(str(os.getpid()))\nwhile True: pass",
    )
    code = (
        "from ctxlab.workbench import run_notebook\n"
        f"run_notebook({str(path)!r}, results={str(tmp_path / 'results')!r})"
    )
    runner = subprocess.Popen([sys.executable, "-c", code])
    _wait_for(pids)
    runner.kill()
    runner.wait()
    assert _gone([int(pids.read_text())])


def _wait_for(file, seconds=60):
    end = time.monotonic() + seconds
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end, f"no {file.name}"
        time.sleep(0.1)


def test_a_parameters_cell_alone_is_a_run(root):
    cell = PARAMETERS.replace('corpus: Path = ""', 'corpus: Path = "corpus.txt"')
    outcome = run_notebook(notebook(root / "alone.ipynb", parameters=cell))
    assert outcome.status == "succeeded"
    assert read_manifest(outcome.path).tables == {}
    assert [datum.path for datum in read_manifest(outcome.path).data] == ["corpus.txt"]


@pytest.mark.parametrize(
    ("cell", "ename"),
    [
        ("import shutil; shutil.rmtree(output_dir)", "FileNotFoundError"),
        ("import shutil; shutil.rmtree(output_dir); Path(output_dir).mkdir()", "FileNotFoundError"),
        ("import shutil; shutil.rmtree(output_dir); Path(output_dir).touch()", "FileNotFoundError"),
        ("import shutil; shutil.rmtree(Path(output_dir).parent); raise KeyError(1)", "KeyError"),
        ("(Path(output_dir) / 'seeds.csv').unlink()", "InputError"),
    ],
)
def test_a_notebook_that_removes_its_own_output_is_a_failed_run(root, cell, ename):
    outcome = run_notebook(notebook(root / "removing.ipynb", TABLE, cell), timeout=60, force=True)
    assert (outcome.status, outcome.error.ename) == ("failed", ename)
    assert read_manifest(outcome.path).tables == {}
    assert {"log.txt", "manifest.json", "notebook.ipynb", "report.html"} <= {*files(outcome)}


def test_half_a_surrogate_pair_loses_no_message(root):
    path = notebook(root / "half.ipynb", "print('a\\ud800b')", "raise ValueError('c\\udfffd')")
    outcome = run_notebook(path, timeout=60)
    assert outcome.error == Failure("ValueError", "c\ufffdd", 4)
    assert read_manifest(outcome.path).error == outcome.error
    assert "a\ufffdb" in (outcome.path / "notebook.ipynb").read_text()
