"""Writes environment.yml from pyproject.toml and the lock: conda users get the same versions.

`make lock` runs it; tests/test_environment.py holds the committed file to what it would write.
Without hashes, since pip refuses an editable install beside hashes.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
# What uv adds to every line, since the lock is for these two: no news to conda users.
PLATFORMS = re.compile(r" (;|and) \(?sys_platform == 'darwin' or sys_platform == 'linux'\)?$")
HEAD = """\
# Made by `make lock` from pyproject.toml and requirements.lock; do not edit.
#   conda env create -f environment.yml && conda activate ctxlab
name: ctxlab
channels:
  - conda-forge
dependencies:
  - python >={python}
  - pip
  - pip:
"""


def direct_names() -> list[str]:
    """The names that pyproject.toml asks for, the extras too."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    return sorted(
        {re.split(r"[^A-Za-z0-9._-]", name)[0] for name in project["dependencies"] + extras}
    )


def pins() -> dict[str, list[str]]:
    """Name → its lines in the lock (several where the version hangs on the Python version)."""
    found: dict[str, list[str]] = {}
    for line in (REPOSITORY / "requirements.lock").read_text().splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)==([^\\]+?)\s*\\?$", line):
            pin = PLATFORMS.sub("", f"{match[1]}=={match[2]}")
            found.setdefault(match[1].lower(), []).append(pin)
    return found


def environment() -> str:
    """The text of environment.yml."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    python = project["requires-python"].removeprefix(">=")
    locked = pins()
    lines = [line for name in direct_names() for line in locked[name.lower()]]
    quoted = [f'      - "{line}"\n' for line in [*lines, "-e ."]]
    return HEAD.format(python=python) + "".join(quoted)


if __name__ == "__main__":
    (REPOSITORY / "environment.yml").write_text(environment())
