"""The forked engine against the ordinary one: the same runs, and the same ends of them."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import nbformat
import psutil
import pytest

from ctxlab.errors import RunFailed
from ctxlab.workbench import forked, run_notebook, warm_parent
from ctxlab.workbench.manifest import read_manifest
from tests.workbench.fixtures import CHART, TABLE, notebook

pytestmark = pytest.mark.skipif(not warm_parent.available(), reason="this machine forks no kernels")

PLANT = """\
import sys, random, numpy, pandas, matplotlib, os, json
matplotlib.rcParams["axes.grid"] = True
pandas.DataFrame.planted = True
json.planted = True
os.environ["PLANTED"] = "1"
random.seed(1); numpy.random.seed(1)
sys.path.insert(0, "/planted")"""
LOOK = """\
import sys, random, numpy, pandas, matplotlib, os, json
print(matplotlib.rcParams["axes.grid"], hasattr(pandas.DataFrame, "planted"))
print(hasattr(json, "planted"), "PLANTED" in os.environ, "/planted" in sys.path)
print(random.random(), numpy.random.random())"""
SURROUNDINGS = """\
import os, sys, matplotlib
print(os.getcwd(), sys.executable, sys.argv[1:2], sys.path[:1], hash("a"), __name__)
print(matplotlib.get_backend(), os.environ["CTXLAB_ROOT"], sys.flags.hash_randomization)
print(sorted(n for n in sys.modules if n.startswith("ctxlab")))"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXLAB_ROOT", str(folder))
        patch.delenv("CTXLAB_RESULTS", raising=False)
        yield folder


@pytest.fixture(scope="module", autouse=True)
def warm(root):
    with warm_parent.WarmParent() as parent:
        yield parent


def run(path, **options):
    return run_notebook(path, engine="forked", timeout=120, force=True, **options)


def printed(outcome):
    executed = nbformat.read(outcome.path / "notebook.ipynb", as_version=4)
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


def test_tables_and_charts_are_those_of_the_ordinary_engine_byte_for_byte(root):
    path = notebook(root / "same.ipynb", TABLE, CHART)
    ordinary, warm = run_notebook(path), run(path)
    assert (ordinary.status, warm.status) == ("succeeded", "succeeded")
    for name in ("seeds.csv", "bars.svg"):
        assert (warm.path / name).read_bytes() == (ordinary.path / name).read_bytes()
    told = [read_manifest(outcome.path) for outcome in (ordinary, warm)]
    assert told[0].inputs_sha256 == told[1].inputs_sha256
    assert told[0].tables == told[1].tables


def test_a_notebook_finds_the_surroundings_of_the_ordinary_engine(root):
    path = notebook(root / "around.ipynb", SURROUNDINGS)
    ordinary, warm = printed(run_notebook(path)), printed(run(path))
    assert warm.splitlines()[:2] == ordinary.splitlines()[:2]
    assert "ctxlab.experiments" not in warm, "the project's code is read anew by each kernel"


def test_nothing_leaks_from_one_notebook_to_the_next(root):
    assert run(notebook(root / "plant.ipynb", PLANT)).status == "succeeded"
    look = notebook(root / "look.ipynb", LOOK)
    first, second = (printed(run(look)).splitlines() for _ in range(2))
    assert first[:2] == second[:2] == ["False False", "False False False"]
    assert first[2] != second[2], "each kernel draws numbers of its own"


def test_a_kernel_that_dies_is_told_with_its_end(root):
    path = notebook(root / "dead.ipynb", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert run(path).reason == "DeadKernelError in In [3]: the kernel died: SIGSEGV"


def test_what_a_kernel_says_below_python_is_in_its_log(root):
    path = notebook(root / "below.ipynb", "import os\nnumber = os.system('echo from below')")
    assert "from below" in (run(path).path / "log.txt").read_text()


def test_kernels_run_side_by_side(root):
    path = notebook(root / "side.ipynb", "import time\ntime.sleep(1)")
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(run, [path] * 4))
    assert {outcome.status for outcome in outcomes} == {"succeeded"}


def test_a_run_over_its_time_is_stopped_with_all_it_started(root, warm):
    path = notebook(
        root / "slow.ipynb",
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])",
    )
    outcome = run_notebook(path, engine="forked", timeout=4)
    assert outcome.error.ename == "TimeoutError"
    assert gone(psutil.Process(warm.pid).children(recursive=True))


def test_closing_the_parent_ends_its_kernels_and_a_run_without_parent_is_told(root, tmp_path):
    parent = warm_parent.WarmParent()
    connection = warm_parent.connect(parent.address)
    kernels = {
        "argv": ["-f", str(tmp_path / "none.json")],
        "env": {},
        "cwd": "/",
        "log": "/dev/null",
    }
    forked._send(connection, kernels)
    pid = forked._receive(connection.makefile("rb"))["pid"]
    kernel = psutil.Process(pid)
    parent.close()
    assert gone([kernel])
    with pytest.raises(RunFailed, match="no warm parent answers at"):
        warm_parent.connect(parent.address)


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_a_runner_that_ends_takes_parent_and_kernels_along(root, tmp_path, end):
    mark = tmp_path / "mark"
    path = notebook(root / "endless.ipynb", f"open({str(mark)!r}, 'w').close()\nwhile True: pass")
    code = (
        "import os; os.environ.pop('CTXLAB_WARM', None)\n"
        "from ctxlab.workbench import run_notebook\n"
        f"run_notebook({str(path)!r}, engine='forked', results={str(tmp_path / 'results')!r})"
    )
    runner = psutil.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    family = runner.children(recursive=True)
    assert len(family) >= 2, "a warm parent and its kernel"
    getattr(runner, end)()
    runner.wait()
    assert gone(family)


def gone(processes):
    _, alive = psutil.wait_procs(processes, timeout=20)
    return not alive
