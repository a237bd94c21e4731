"""The agent's tools: grep_search against ripgrep alone, read_file against `wc -l`, token counts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ctxlab import project, tokens
from ctxlab.tools import ripgrep, workspace_tools
from tests.bench import Figure, best, interleaved

DJANGO = project.cache_dir() / "trees" / "django"
PATTERNS = {
    "no match": ("only_load_keys", 1.3),
    "a rare pattern": ("class QuerySet", 1.3),
    "10,000 matches": ("return", 1.5),
}
GIGABYTE = 1 << 30
MEGABYTE = 1 << 20


def figures() -> Iterator[Figure]:
    yield from _grep()
    with tempfile.TemporaryDirectory() as folder:
        log = _log(Path(folder))
        yield _read(log)
        yield _memory(log)
    yield from _counts()


def _grep() -> Iterator[Figure]:
    tools = workspace_tools(DJANGO)
    for name, (pattern, bound) in PATTERNS.items():
        ours, alone = interleaved(
            lambda pattern=pattern: tools.call("grep_search", {"pattern": pattern}),
            lambda pattern=pattern: _rg(pattern),
            repeats=15,
        )
        matches = _rg(pattern).count(b"\n")
        told = f"{matches:,} lines, {ours * 1000:.0f} against {alone * 1000:.0f} ms"
        yield Figure(f"grep_search, {name}", ours / alone, bound, "rg to a pipe", detail=told)
    walk = best(lambda: _walk(PATTERNS["a rare pattern"][0]), 3)
    ours = best(lambda: tools.call("grep_search", {"pattern": PATTERNS["a rare pattern"][0]}), 9)
    told = f"{walk * 1000:.0f} against {ours * 1000:.0f} ms"
    yield Figure(
        "a Python `re` walk, a rare pattern",
        walk / ours,
        3,
        "grep_search",
        at_least=True,
        detail=told,
    )


def _rg(pattern: str) -> bytes:
    command = [ripgrep.executable(), "--line-number", *ripgrep.selection(), "-e", pattern, "./"]
    done = subprocess.run(
        command, cwd=DJANGO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
    )
    return done.stdout


def _walk(pattern: str) -> int:
    """What a tool without ripgrep would do: every file, every line."""
    regex, found = re.compile(pattern.encode()), 0
    for path in DJANGO.rglob("*"):
        if path.is_file() and b"\0" not in (data := path.read_bytes()):
            found += sum(1 for line in data.split(b"\n") if regex.search(line))
    return found


def _log(folder: Path) -> Path:
    lines = [
        b"2026-11-30T12:%02d:%02d INFO worker %d handled /api/items/%d in %d ms\n"
        % (n // 60 % 60, n % 60, n % 7, n * 7919 % 100_000, n % 300)
        for n in range(14_000)
    ]
    block, path = b"".join(lines), folder / "big.log"
    with path.open("wb") as file:
        while file.tell() < GIGABYTE:
            file.write(block)
    return path


def _read(log: Path) -> Figure:
    tools, wc = workspace_tools(log.parent), shutil.which("wc") or "wc"
    ours, alone = interleaved(
        lambda: tools.call("read_file", {"path": log.name}),
        lambda: subprocess.run([wc, "-l", log], stdout=subprocess.DEVNULL, check=True),
        repeats=5,
    )
    told = f"{ours:.2f} against {alone:.2f} s"
    return Figure("read_file, lines 1-2000 of a 1 GB log", ours / alone, 4, "wc -l", detail=told)


def _memory(log: Path) -> Figure:
    """What a process grows by when it reads: its peak, less what it had after its imports."""
    program = (
        "import sys, threading, time, psutil\n"
        "from ctxlab.tools import workspace_tools\n"
        "tools, me = workspace_tools(sys.argv[1]), psutil.Process()\n"
        "seen = [me.memory_info().rss]\n"
        "read = threading.Thread(target=tools.call, args=('read_file', {'path': 'big.log'}))\n"
        "read.start()\n"
        "while read.is_alive():\n"
        "    seen.append(me.memory_info().rss)\n"
        "    time.sleep(0.002)\n"
        "print(max(seen) - seen[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, log.parent], capture_output=True, check=True, text=True
    )
    megabytes = int(done.stdout) / MEGABYTE
    return Figure(
        "read_file of a 1 GB log, memory", megabytes, 64, "the imports before it", unit="MB"
    )


def _counts() -> Iterator[Figure]:
    minified = DJANGO / "django/contrib/admin/static/admin/js/vendor"
    script = "".join(path.read_text() for path in sorted(minified.rglob("*.min.js")))
    texts = {
        "one repeated letter": "a" * MEGABYTE,
        "spaces": " " * MEGABYTE,
        "line ends": "\n" * MEGABYTE,
        "CJK": "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(MEGABYTE // 3)),
        "minified JavaScript": (script * (MEGABYTE // len(script) + 1))[:MEGABYTE],
    }
    tokens.count("")
    for name, text in texts.items():
        seconds = best(lambda text=text: tokens.count(text), 3)
        yield Figure(f"counting 1 MB of {name}", seconds, 2, "itself", unit="s")
