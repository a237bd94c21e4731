"""What a run ran on: Python and packages, checkout, machine. No host name, no variable's value."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.workbench.manifest import Environment, Git

_DISTRIBUTION = re.compile(r"(.+)-([^-]+)\.(?:dist|egg)-info")
_GIT_SECONDS = 20


def environment() -> Environment:
    """Python, lock and packages of this process, which are the kernel's."""
    return Environment(platform.python_version(), lock_sha256(), packages())


def lock_sha256() -> str | None:
    """Of requirements.lock; None where there is none."""
    try:
        return hashlib.sha256((project.root() / "requirements.lock").read_bytes()).hexdigest()
    except OSError:
        return None


def packages() -> dict[str, str]:
    """Installed distributions and versions, by the names of their directories.

    importlib.metadata would open a file for each of some 250 distributions.
    """
    found: dict[str, str] = {}
    for folder in reversed([path for path in sys.path if os.path.isdir(path)]):  # noqa: PTH112  sys.path holds text
        for name in os.listdir(folder):  # noqa: PTH208
            if match := _DISTRIBUTION.fullmatch(name):
                found[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2]
    return dict(sorted(found.items()))


def git(folder: Path) -> Git:
    """Commit, branch and dirt of the checkout that `folder`, the project, is in.

    What changed in its `results/` is no dirt: results are no input, accepted ones neither.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return Git(None, None, None)
    changes = _git(folder, "status", "--porcelain", "--", ":/", ":(exclude)results")
    branch = _git(folder, "symbolic-ref", "--short", "-q", "HEAD")
    return Git(commit, branch or None, None if changes is None else bool(changes))


def _git(folder: Path, *arguments: str) -> str | None:
    # A hook's GIT_DIR would name another repository; runs beside each other want no index lock.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=clean | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=_GIT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """What measured times depend on."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cpus": cpus(),
        "memory_bytes": _memory(),
    }


def cpus() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str | None:
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or None
    model = re.search(r"^model name\s*: (.+)$", info, re.MULTILINE)
    return model[1] if model else platform.processor() or None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
