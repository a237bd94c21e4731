"""`ctxlab serve` as a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Served:
    process: subprocess.Popen[str]
    url: str
    record: Path
    told: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def next_line(self) -> str:
        """The next line that it prints, behind the two first ones."""
        assert self.process.stdout
        self.told.append(self.process.stdout.readline().rstrip("\n"))
        return self.told[-1]

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.record.read_bytes().splitlines()]


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Served]:
    record = folder / "record.jsonl"
    command = [sys.executable, "-m", "ctxlab.cli", "serve", "--port", "0", "--record", str(record)]
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        # Its modules are kept compiled: dozens of these are started.
        env={**os.environ, "NO_PROXY": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": ""},
    )
    try:
        assert process.stdout
        first = process.stdout.readline().strip()
        if not first:
            raise AssertionError(process.communicate()[1])
        assert first.startswith("export ANTHROPIC_BASE_URL=http://"), first
        process.stdout.readline()
        yield Served(process, first.partition("=")[2], record)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
