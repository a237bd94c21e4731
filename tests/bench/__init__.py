"""`make bench`: speed and memory as ratios against a reference measured in the same run.

Each `bench_<area>.py` beside this file has `figures() -> Iterator[Figure]`. Nothing here is a test:
a bound is printed beside what was measured, `within` or `OVER`, and the exit code stays 0.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure."""

    name: str
    value: float
    """A ratio, or a number in `unit`."""
    bound: float
    """What the value is held against."""
    against: str
    """The reference of the ratio, in words."""
    unit: str = "×"
    at_least: bool = False
    """True where larger is better."""
    detail: str = ""
    """The raw measurements, in words."""

    @property
    def verdict(self) -> str:
        good = self.value >= self.bound if self.at_least else self.value <= self.bound
        return "within" if good else "OVER"


def best(function: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of `repeats` calls: the one that was disturbed least."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def interleaved(
    ours: Callable[[], object], reference: Callable[[], object], repeats: int = 5
) -> tuple[float, float]:
    """Fastest seconds of both, measured turn by turn so that both meet the same machine."""
    pairs = [(best(ours, 1), best(reference, 1)) for _ in range(repeats)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
