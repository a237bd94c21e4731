"""Recorded sessions: a generated tree of transcripts against reading it with orjson alone.

`SESSIONS_MB=64 make bench BENCH_ARGS=sessions` makes a quick run of it; 1,024 MB is the default.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import psutil

from ctxlab.sessions import read_sessions
from tests.bench import Figure, interleaved

MEGABYTE = 1 << 20
SIZE = int(os.environ.get("SESSIONS_MB", "1024")) * MEGABYTE
PROCESSES = 2
REPEATS = 3
FILE = 24 * MEGABYTE
# One process each for every second file of a tree: what a reader cannot do without.
ALONE = """
import sys, orjson
for path in sys.argv[1:]:
    with open(path, "rb", buffering=1 << 20) as file:
        for line in file:
            orjson.loads(line)
"""
OURS = "import sys; from ctxlab import read_sessions; read_sessions(sys.argv[1], processes=2)"


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        requests = generate(tree, SIZE)
        paths = sorted(tree.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
        found = sum(len(each.exchanges) for each in read_sessions(tree, processes=PROCESSES))
        assert found == requests, f"{found:,} requests read, {requests:,} written"
        told = f"{SIZE >> 20:,} MB, {len(paths)} files, {requests:,} requests"
        ours, one = interleaved(
            lambda: read_sessions(tree, processes=PROCESSES),
            lambda: _alone(paths, 1),
            repeats=REPEATS,
        )
        detail = f"{told}, {ours:.2f} against {one:.2f} s"
        yield Figure("read_sessions on two cores", ours / one, 2, "orjson alone", detail=detail)
        # The strict reading: joining the requests is one process's work, whatever the cores.
        both = min(_seconds(lambda: _alone(paths, PROCESSES)) for _ in range(REPEATS))
        yield Figure(
            "read_sessions on two cores", ours / both, 3, "orjson alone, on two cores as well",
            detail=f"{ours:.2f} against {both:.2f} s",
        )  # fmt: skip
        megabytes = _peak([sys.executable, "-c", OURS, str(tree)]) / MEGABYTE
        yield Figure(
            "read_sessions, peak memory of all its processes",
            megabytes,
            512,
            "zero: interpreters and imports included",
            unit="MB",
            detail=f"{megabytes * MEGABYTE / requests:,.0f} bytes a request",
        )


def generate(tree: Path, size: int) -> int:
    """Sessions of different sizes, each with an agent; how many requests they hold."""
    draw, written, requests, session = random.Random(1), 0, 0, 0
    while written < size:
        session += 1
        name = f"{draw.getrandbits(128):032x}"
        goal = min(draw.choice((FILE // 24, FILE // 6, FILE, FILE * 3)), size - written)
        for path, share in (
            (tree / f"project-{session % 7}/{name}.jsonl", goal * 3 // 4),
            (tree / f"project-{session % 7}/{name}/subagents/agent-{session}.jsonl", goal // 4),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                while file.tell() < share:
                    file.write(_turn(draw, name, str(session), requests))
                    requests += 1
                written += file.tell()
    return requests


def _turn(draw: random.Random, session: str, agent: str, number: int) -> bytes:
    """One response over as many rows as it has blocks, and the results of its calls."""
    common = {
        "parentUuid": f"{draw.getrandbits(128):032x}",
        "isSidechain": False,
        "agentId": agent,
        "cwd": "/home/someone/project",
        "sessionId": session,
        "version": "2.1.0",
        "timestamp": f"2026-11-30T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:"
        f"{number % 60:02d}.000Z",
    }
    lines = []
    for output in (1, 1, 412)[: draw.choice((1, 2, 2, 3))]:
        call = {"id": f"toolu_{number}_{len(lines)}", "name": "Bash", "type": "tool_use"}
        block = {**call, "input": {"command": _text(draw, 200)}}
        message = {
            "id": f"msg_{number:08d}",
            "role": "assistant",
            "model": "claude-opus-5",
            "content": [block],
            "usage": {
                "input_tokens": 4,
                "cache_creation_input_tokens": 900,
                "cache_read_input_tokens": 30_000 + number,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 900,
                    "ephemeral_1h_input_tokens": 0,
                },
                "output_tokens": output,
                "service_tier": "standard",
            },
        }
        lines.append({
            **common, "type": "assistant", "message": message, "requestId": f"req_{number:08d}",
            "uuid": f"{draw.getrandbits(128):032x}",
        })  # fmt: skip
        told = _text(draw, draw.choice((300, 1_000, 3_000, 12_000)))
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": told}
        message = {"role": "user", "content": [result]}
        lines.append({**common, "type": "user", "message": message, "toolUseResult": told[:900]})
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


_WORDS = [f"{word}{end}" for word in ("def run", "return", '"quoted"', "größer") for end in " \n,"]
_PROSE = "".join(random.Random(2).choices(_WORDS, k=10_000))


def _text(draw: random.Random, length: int) -> str:
    start = draw.randrange(len(_PROSE) - length)
    return _PROSE[start : start + length]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _alone(paths: list[Path], processes: int) -> None:
    shares = [paths[first::processes] for first in range(processes)]
    started = [subprocess.Popen([sys.executable, "-c", ALONE, *share]) for share in shares]
    assert not any(process.wait() for process in started)


def _peak(command: list[str]) -> int:
    """The most that a command and its children hold at one moment, in bytes."""
    process, most = psutil.Popen(command), 0
    while process.poll() is None:
        held = 0
        for each in (process, *_children(process)):
            try:
                held += each.memory_full_info().uss
            except psutil.Error:
                continue
        most = max(most, held)
        time.sleep(0.02)
    assert process.returncode == 0
    return most


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []
