"""What a cut costs, and whether the store loses anything under load."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ctxlab import tokens
from ctxlab.truncation import truncate
from tests.bench import Figure, interleaved
from tests.truncation.strategies import log, markdown, records

SIZE = 250_000
LIMIT = 2_000
LARGE = 100_000_000
PROCESSES = 4
RESULTS = 10_000
RESULT = 50_000
KILLS = 20


def figures() -> Iterator[Figure]:
    yield from cuts()
    yield from large_json()
    with tempfile.TemporaryDirectory() as folder:
        yield from shared_store(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield killed_writers(Path(folder))


def cuts() -> Iterator[Figure]:
    texts = {
        "JSON array": json.dumps(records(3_000))[:SIZE].rpartition("}, {")[0] + "}]",
        "log": log(5_000, errors=(2_000, 3_000))[:SIZE],
        "Markdown": markdown(800)[:SIZE],
    }
    for name, text in texts.items():
        truncate(text, LIMIT, "tokens")
        ours, whole = interleaved(
            lambda text=text: truncate(text, LIMIT, "tokens"),
            lambda text=text: tokens.count(text),
            repeats=15,
        )
        yield Figure(
            f"{name}, {len(text) // 1000} KB into {LIMIT:,} tokens",
            ours * 1e3,
            30,
            "milliseconds",
            unit="ms",
            detail=f"{ours / whole:.2f}× of counting the whole text, {whole * 1e3:.0f} ms",
        )


def large_json() -> Iterator[Figure]:
    item = json.dumps(records(500))[1:-1]
    small, large = (f"[{', '.join([item] * (n // len(item)))}]" for n in (LARGE // 4, LARGE))
    ours, reference = interleaved(
        lambda: truncate(large, 4_000), lambda: json.loads(large), repeats=2
    )
    size = f"{len(large) / 1e6:.0f} MB JSON array"
    detail = f"{ours:.1f} s against {reference:.1f} s"
    yield Figure(f"{size} into 4,000 characters", ours / reference, 2, "json.loads", detail=detail)
    whole, quarter = interleaved(
        lambda: truncate(large, 4_000), lambda: truncate(small, 4_000), repeats=3
    )
    yield Figure(f"{size}, four times the size", whole / quarter, 4 * 1.25, "a quarter of it")


WRITER = """
import sys, random, hashlib
from ctxlab.truncation import ResourceStore, SqliteStorage
path, seed, count, size = sys.argv[1], *map(int, sys.argv[2:])
store, draw = ResourceStore(SqliteStorage(path)), random.Random(seed)
for n in range(count):
    content = draw.randbytes(size // 2).hex()
    digest = hashlib.sha256(content.encode()).hexdigest()
    print(store.save(content, {"seed": seed, "n": n}), digest, flush=True)
"""
READER = """
import sys, hashlib
from ctxlab.truncation import ResourceStore, SqliteStorage
store, wrong = ResourceStore(SqliteStorage(sys.argv[1])), 0
for line in sys.stdin:
    key, digest = line.split()
    try:
        wrong += hashlib.sha256(store.text(key).encode()).hexdigest() != digest
    except Exception:
        wrong += 1
print(wrong)
"""


def shared_store(folder: Path) -> Iterator[Figure]:
    """Four processes save, then four others read what they were told."""
    path, each = str(folder / "store.sqlite"), RESULTS // PROCESSES
    start = time.perf_counter()
    jobs = [started(WRITER, path, seed, each, RESULT) for seed in range(PROCESSES)]
    told = [job.communicate()[0] for job in jobs]
    saving = time.perf_counter() - start
    readers = [started(READER, path) for _ in range(PROCESSES)]
    # Each reader gets what another process was told, and all of them at once.
    for reader, lines in zip(readers, told[1:] + told[:1], strict=True):
        assert reader.stdin
        reader.stdin.write(lines)
        reader.stdin.close()
    wrong = sum(int(reader.stdout.read()) for reader in readers if reader.stdout)
    for reader in readers:
        reader.wait()
    keys = {line.split()[0] for lines in told for line in lines.splitlines()}
    lost = RESULTS - len(keys) + wrong
    size = f"{RESULTS:,} results of {RESULT // 1000} KB"
    yield Figure(f"{size} from {PROCESSES} processes, lost or mixed", lost, 0, "none", unit="")
    plain = plain_writes(folder)
    yield Figure(
        f"{size} saved by {PROCESSES} processes",
        saving / plain,
        10,
        "SHA-256 and a file each, one process",
        detail=f"{saving:.1f} s against {plain:.1f} s",
    )


def plain_writes(folder: Path) -> float:
    draw, start = random.Random(0), time.perf_counter()
    for n in range(RESULTS):
        content = draw.randbytes(RESULT // 2).hex().encode()
        hashlib.sha256(content).hexdigest()
        (folder / str(n)).write_bytes(content)
    return time.perf_counter() - start


def killed_writers(folder: Path) -> Figure:
    """A writer is killed at a random moment; every id that it handed out has to be readable."""
    path, draw, told = str(folder / "store.sqlite"), random.Random(3), ""
    for seed in range(KILLS):
        job = started(WRITER, path, seed, 1_000_000, RESULT)
        assert job.stdout
        told += job.stdout.readline()
        time.sleep(draw.random() * 0.3)
        os.kill(job.pid, signal.SIGKILL)
        rest, _ = job.communicate()
        told += rest[: rest.rfind("\n") + 1]
    reader = started(READER, path)
    wrong = int(reader.communicate(told)[0])
    keys = told.count("\n")
    name = f"{KILLS} × kill -9 while writing, ids handed out and unreadable"
    return Figure(name, wrong, 0, "none", unit="", detail=f"of {keys:,} ids")


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    command: list[str] = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
