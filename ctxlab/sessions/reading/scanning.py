"""Files scanned part by part: in this process where they are small, else over several processes.

Parts are cut by size alone, so the answer is the same whatever the number of processes. A process
of ours is a plain `python -c …` on a pipe: it starts nothing of the caller's program again (as
multiprocessing's `spawn` does), works inside a notebook's kernel, and ends when its pipe closes,
which it does when the caller is killed.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

from ctxlab.errors import RunFailed
from ctxlab.sessions.model import Kind
from ctxlab.sessions.reading import requests, transcripts
from ctxlab.sessions.reading.found import Part, packed, unpacked
from ctxlab.sessions.reading.lines import rows

PART = 32 << 20
SMALL = 48 << 20  # to start the processes takes as long as to read this
_AHEAD = 2  # tasks that a process holds: one at work, one waiting
_PROGRAM = "from ctxlab.sessions.reading.scanning import serve; serve({})"

Told = Callable[[int, int], object]
"""Called with the bytes that are read and the bytes that there are."""


class Task(NamedTuple):
    """A part of a file."""

    path: Path
    kind: Kind
    start: int
    end: int
    session: str = ""
    agent: str = ""


def tasks(path: Path, kind: Kind, size: int, session: str = "", agent: str = "") -> list[Task]:
    """A file cut into parts; the last one goes on to where the file ends by then."""
    starts = range(0, max(size, 1), PART)
    ends = [*starts[1:], sys.maxsize]
    return [
        Task(path, kind, start, end, session, agent)
        for start, end in zip(starts, ends, strict=True)
    ]


def scanned(work: list[Task], processes: int, sizes: list[int], tell: Told) -> list[Part]:
    """What each task found, in their order.

    Raises:
        RunFailed: a process died.
    """
    done, total, parts = 0, sum(sizes), [Part()] * len(work)
    tell(done, total)
    alone = processes < 2 or total < SMALL  # noqa: PLR2004  one process is this one
    for index, part in _here(work) if alone else _there(work, processes):
        parts[index] = part
        done += sizes[index]
        tell(done, total)
    return parts


def scan(task: Task) -> Part:
    """What one part of a file tells; a file that cannot be read tells why."""
    found = rows(task.path, task.start, task.end)
    try:
        if task.kind == "requests":
            return requests.scan(found)
        return transcripts.scan(found, task.session, task.agent)
    except OSError as error:
        return Part(failed=f"cannot be read: {error.strerror or type(error).__name__}")


def serve(descriptor: int) -> None:
    """The other end: scan whatever comes down the pipe until it closes."""
    gc.disable()  # rows have no cycles
    with Connection(descriptor) as pipe:
        try:
            while True:
                pipe.send_bytes(packed(scan(pipe.recv())))
        except (EOFError, OSError):
            return


def _here(work: list[Task]) -> Iterator[tuple[int, Part]]:
    return ((index, scan(task)) for index, task in enumerate(work))


def _there(work: list[Task], processes: int) -> Iterator[tuple[int, Part]]:
    waiting = deque(enumerate(work))
    held: dict[Connection, deque[int]] = {}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(min(processes, len(work))):
            pipe, process = _start()
            started.append(process)
            held[pipe] = deque()
            for _ in range(_AHEAD):
                _give(pipe, held, waiting)
        while any(held.values()):
            ready = wait([pipe for pipe, indices in held.items() if indices])
            for pipe in [each for each in held if each in ready]:
                index = held[pipe].popleft()
                try:
                    part = unpacked(pipe.recv_bytes())
                    _give(pipe, held, waiting)
                except (EOFError, OSError) as error:
                    raise RunFailed(f"the process that read {work[index].path} died") from error
                yield index, part
    finally:
        for pipe in held:
            pipe.close()
        for process in started:
            process.kill()
            process.wait()


def _give(
    pipe: Connection, held: dict[Connection, deque[int]], waiting: deque[tuple[int, Task]]
) -> None:
    if waiting:
        index, task = waiting.popleft()
        held[pipe].append(index)
        pipe.send(task)


def _start() -> tuple[Connection, subprocess.Popen[bytes]]:
    """A process of our own session: the terminal's Ctrl-C reaches the caller, who ends it."""
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            # -P: what lies in the folder that is audited is data, never a module.
            [sys.executable, "-P", "-c", _PROGRAM.format(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # whoever calls tells that it died
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_module_paths())},
            start_new_session=True,
        )
    return ours, process


def _module_paths() -> list[str]:
    """Where this process finds modules, without the current folder, unless we stand there."""
    own, here = Path(__file__).resolve().parents[3], Path.cwd()
    paths = (Path(path) for path in sys.path if path)
    return [str(path) for path in paths if path == own or path.resolve() != here]
