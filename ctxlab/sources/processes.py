"""Other programs: several at once, with what they print, and none outlives the call."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int | None
    """Its exit code; None when its time was over."""
    output: str
    """What it printed, stderr among it."""


def run_all(
    commands: Sequence[Sequence[str]],
    seconds: float | None = None,
    env: Mapping[str, str] | None = None,
) -> list[Ended]:
    """Run commands at once; `env` is added to our environment.

    When `seconds` are over, or we are interrupted, those that still run are killed and waited for:
    afterwards nobody writes into a directory that is being cleared.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        files = [Path(folder) / str(number) for number in range(len(commands))]
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for command, file in zip(commands, files, strict=True):
                processes.append(_start(command, file, {**os.environ, **(env or {})}))
            codes = _wait(processes, seconds)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        outputs = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return [Ended(code, output) for code, output in zip(codes, outputs, strict=True)]


def _start(command: Sequence[str], file: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with file.open("wb") as output:
        return subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _wait(processes: list[subprocess.Popen[bytes]], seconds: float | None) -> list[int | None]:
    deadline = None if seconds is None else time.monotonic() + seconds
    codes: list[int | None] = []
    for process in processes:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            codes.append(process.wait(left))
        except subprocess.TimeoutExpired:
            codes.append(None)
    return codes
