"""JupyterLab itself, as `make lab` starts it: a notebook opened, edited, run and saved."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest

from tests.conftest import REPOSITORY, need_service

FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
TOKEN = "a-token-of-the-test"
NOTEBOOK = "01_tool_mutations.ipynb"
BEFORE, AFTER = "breakpoints: list = [-1]", "breakpoints: list = [0, 2]"
SETTINGS = {  # all cells are drawn, seen or not; no news, no question about them
    "notebook-extension/tracker": '{"windowingMode": "none"}',
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
}
PATIENT = 120_000  # milliseconds; the machine may be busy

pytestmark = [pytest.mark.services, pytest.mark.data]


@pytest.fixture
def checkout(tmp_path):
    """A copy of what a notebook needs of the checkout."""
    folder = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "notebooks", folder / "notebooks")
    shutil.copytree(REPOSITORY / "data", folder / "data", ignore=shutil.ignore_patterns("cache"))
    shutil.copyfile(REPOSITORY / "requirements.lock", folder / "requirements.lock")
    (folder / "results").mkdir()
    (folder / "data" / "cache").symlink_to((REPOSITORY / "data" / "cache").resolve())
    return folder


@pytest.fixture
def server(checkout, tmp_path):
    """Its address, with settings and files of the user's own out of the way."""
    need_service(shutil.which("make"), "there is no make")
    need_service((REPOSITORY / ".venv" / ".ready").exists(), "there is no .venv of `make`")
    for name, text in SETTINGS.items():
        file = tmp_path / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = (
        f"--no-browser --allow-root --port={port} --ServerApp.port_retries=0 --ip=127.0.0.1 "
        f"--IdentityProvider.token={TOKEN} --LabApp.user_settings_dir={tmp_path}/settings "
        f"--LabApp.workspaces_dir={tmp_path}/workspaces --SchedulerApp.db_url=sqlite://"
    )
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "HOME")
    process = subprocess.Popen(
        ["make", "lab", f"LAB_ROOT={checkout}", f"LAB_ARGS={arguments}"],
        cwd=REPOSITORY,
        env=os.environ
        | {name: str(tmp_path / name.lower()) for name in places}
        | {"CTXLAB_ROOT": str(checkout), "MAKEFLAGS": ""},
        stdout=subprocess.DEVNULL,
        stderr=(tmp_path / "server.log").open("wb"),
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, process, tmp_path / "server.log")
        yield address
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def wait_for(address, process, log):
    end = time.monotonic() + PATIENT / 1000
    while True:
        try:
            with urllib.request.urlopen(f"{address}/api/status?token={TOKEN}"):
                return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)


@pytest.fixture
def page(server):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    need_service(chromium, "no chromium is installed (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=FLAGS.split())
        opened = browser.new_page(viewport={"width": 1400, "height": 1000})
        opened.set_default_timeout(PATIENT)
        yield opened
        browser.close()


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def choose(page, menu, item):
    page.locator(".lm-MenuBar-itemLabel").get_by_text(menu, exact=True).click()
    page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()


def test_nothing_is_saved_that_nobody_saved(server):
    plugin = "@jupyterlab/docmanager-extension:plugin"
    with urllib.request.urlopen(f"{server}/lab/api/settings/{plugin}?token={TOKEN}") as answer:
        properties = json.load(answer)["schema"]["properties"]
    assert properties["autosave"]["default"] is False


def test_a_notebook_is_opened_edited_run_and_saved(page, server, checkout):
    notebooks = checkout / "notebooks"
    before, wrong = contents(notebooks), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    page.goto(f"{server}/lab/tree/notebooks/{NOTEBOOK}?token={TOKEN}")
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()

    page.locator(".cm-line", has_text=BEFORE).click()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+End")
    page.keyboard.insert_text(AFTER)
    choose(page, "Run", "Run All Cells")

    chart = page.locator(".jp-OutputArea-output svg[role=img]").first
    chart.wait_for()
    code = [cell for cell in nbformat.reads(before[NOTEBOOK], 4).cells if cell.cell_type == "code"]
    last = page.locator(".jp-InputPrompt").get_by_text(f"[{len(code)}]:", exact=True)
    last.wait_for()
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box["width"] > 300
    assert box["height"] > 150
    assert page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() == 0
    told = page.locator(".jp-RenderedMarkdown", has_text="there is nothing to compare")
    assert told.count() == 1  # it ran with what was edited
    assert contents(notebooks) == before  # it was run, not saved

    choose(page, "File", "Save Notebook")
    page.locator(".jp-mod-dirty").wait_for(state="hidden")
    after = contents(notebooks)
    assert {name for name in after if after[name] != before.get(name)} == {NOTEBOOK}
    assert set(after) == set(before)
    saved = nbformat.reads(after[NOTEBOOK], 4)
    assert AFTER in "".join(cell.source for cell in saved.cells)
    assert not [said for said in wrong if not re.match("Failed to load resource", said)]
