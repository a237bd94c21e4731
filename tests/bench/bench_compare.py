"""Two runs of 100,000 rows held against each other: computed figures, and repeats of times."""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ctxlab.workbench.compare import compare_runs
from ctxlab.workbench.rules import Rule
from tests.bench import Figure, interleaved
from tests.workbench.runs import write_run

ROWS, REPEATS = 100_000, 5
COMPUTED = {"tokens": Rule("lower", relative=0.01), "safe": Rule(), "usd": Rule("lower")}
TIMES = {"seconds": Rule("lower", relative=0.05)}


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _compared("computed", Path(folder), _computed, (["case", "turn"], COMPUTED))
        yield from _compared("5 repeats", Path(folder), _times, (["case", "repeat"], TIMES))


def _computed(seed: int) -> list[dict[str, Any]]:
    """A tenth of the rows moves from one seed to the next."""
    drawn = random.Random(seed)
    return [
        {
            "case": f"case {at % 500}",
            "turn": at // 500,
            "tokens": 1000 + at % 77 + 50 * (drawn.random() < 0.1),
            "safe": "safe",
            "usd": at / 3000,
        }
        for at in range(ROWS)
    ]


def _times(seed: int) -> list[dict[str, Any]]:
    """Times that are a fifth longer with each seed, with noise."""
    drawn = random.Random(seed)
    return [
        {"case": f"case {at // REPEATS}", "repeat": at % REPEATS, "seconds": drawn.gauss(1, 0.1)}
        | ({} if seed == 1 else {"seconds": drawn.gauss(1.2, 0.1)})
        for at in range(ROWS)
    ]


def _compared(name: str, folder: Path, rows: Any, rule: Any) -> Iterator[Figure]:
    runs = [
        write_run(folder, name, days=seed, tables={"t": (rows(seed), *rule)}) for seed in (1, 2)
    ]

    def parse() -> None:
        for run in runs:
            with (run / "t.csv").open(encoding="utf-8", newline="") as file:
                list(csv.reader(file))

    ours, reference = interleaved(lambda: compare_runs(*runs), parse, repeats=3)
    named, told = f"compare of two runs with {ROWS:,} rows, {name}", "csv.reader over both files"
    detail = f"{ours:.2f} s and {reference:.2f} s"
    yield Figure(named, ours / reference, 8, told, detail=detail)
    yield Figure(named, ours, 2, "by the clock", unit="s")
