"""What may not be read. Root may read everything: a child gives its rights away first."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxlab.tools import ripgrep, workspace_tools

NOBODY = 65534


@pytest.fixture
def root() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    for name in ("locked/a.txt", "ok/a.txt", "secret.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("needle\n")
    (folder / "secret.txt").chmod(0)
    (folder / "locked").chmod(0)
    yield folder
    (folder / "locked").chmod(0o755)
    shutil.rmtree(folder)


def answer(root: Path, name: str, arguments: dict[str, str]) -> str:
    """The tool's answer for someone who is not root."""
    ripgrep.executable()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(write, workspace_tools(root).call(name, arguments).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


@pytest.mark.parametrize("path", ["secret.txt", "locked/a.txt", "locked"])
def test_what_may_not_be_read_is_told(root: Path, path: str):
    told = answer(root, "read_file", {"path": path})
    assert told == f"Error: '{path}' cannot be read: permission denied"


def test_a_search_finds_the_rest_and_tells_what_it_could_not_read(root: Path):
    if not os.access(Path(ripgrep.executable()).parent, os.X_OK):
        pytest.skip("ripgrep stands where nobody may look")
    told = answer(root, "grep_search", {"pattern": "needle"})
    assert told == (
        'Found 1 match in 1 file for "needle"\n\nok/a.txt\n1:needle\n\n'
        "Not read: locked: Permission denied, secret.txt: Permission denied."
    )
