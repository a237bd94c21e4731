"""A job through Jupyter Scheduler's REST API, as JupyterLab's menu makes it."""

import json
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from ctxlab.workbench import results
from ctxlab.workbench.manifest import read_manifest
from tests.workbench.fixtures import TABLE, notebook

pytest.importorskip("jupyter_scheduler", reason="the extra `scheduler` is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    notebook(root / "notebooks" / "01_good.ipynb", TABLE)
    notebook(root / "notebooks" / "02_bad.ipynb", "raise ValueError('as it should')")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **{name: str(root / name.lower()) for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")},
        "HOME": str(root / "home"),
        "PATH": "/usr/bin:/bin",
        "CTXLAB_ROOT": str(root),
    }
    command = [
        sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser",
        f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
        f"--ServerApp.root_dir={root}", "--ServerApp.disable_check_xsrf=True",
        "--ServerApp.jpserver_extensions={'jupyter_scheduler': True}",
        "--Scheduler.execution_manager_class=ctxlab.workbench.jupyter_jobs.RunnerJobs",
        f"--SchedulerApp.db_url=sqlite:///{root}/jobs.sqlite",
    ]  # fmt: skip
    log = (root / "server.log").open("wb")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=root)
    yield root, f"http://127.0.0.1:{port}/scheduler"
    process.terminate()
    process.wait()


def ask(address, body=None, *, seconds=60):
    request = urllib.request.Request(address, json.dumps(body).encode() if body else None)
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read())
        except OSError:  # it is not up yet
            if time.monotonic() > end:
                raise
            time.sleep(0.3)


def finished(address, notebook, parameters):
    made = ask(f"{address}/jobs", {
        "name": "a job", "input_uri": f"notebooks/{notebook}", "parameters": parameters,
        "runtime_environment_name": "python3", "output_formats": ["ipynb", "html"],
        "package_input_folder": False,
    })  # fmt: skip
    end = time.monotonic() + 120
    while time.monotonic() < end:
        job = ask(f"{address}/jobs/{made['job_id']}")
        if job["status"] in ("COMPLETED", "FAILED"):
            return job
        time.sleep(0.3)
    raise AssertionError(job)


def test_a_job_is_a_run_of_ours_with_its_parameters_and_a_report(server):
    root, address = server
    job = finished(address, "01_good.ipynb", {"seed": 41})
    assert job["status"] == "COMPLETED", (root / "server.log").read_text()
    run = results.newest("good", root / "results")
    manifest = read_manifest(run.path)
    assert manifest.parameters_passed == {"seed": 41}
    assert manifest.notebook.path == "notebooks/01_good.ipynb"
    assert (run.path / "report.html").is_file()
    staged = list((root / "jupyter_data_dir").rglob("*.html"))
    assert [path.read_bytes() for path in staged] == [(run.path / "report.html").read_bytes()]
    assert sorted(path.name for path in (root / "notebooks").iterdir()) == [
        "01_good.ipynb",
        "02_bad.ipynb",
    ]


@pytest.mark.parametrize(
    ("notebook", "parameters", "told"),
    [
        ("02_bad.ipynb", {}, "ValueError in In [3]: as it should; report: "),
        ("01_good.ipynb", {"sede": 1}, "did you mean `seed`"),
    ],
)
def test_a_job_that_fails_or_is_refused_says_why(server, notebook, parameters, told):
    job = finished(server[1], notebook, parameters)
    assert job["status"] == "FAILED"
    assert told in job["status_message"]
