"""In which order a batch starts its steps: what the end waits for longest goes first.

>>> from pathlib import Path
>>> steps = [Step("a", Path()), Step("b", Path()), Step("c", Path(), needs=("a",))]
>>> by_urgency(steps, {"a": 1.0, "b": 3.0, "c": 5.0})
['a', 'c', 'b']

`a` is short, but `c` waits for it. Longest first is no optimum: its end is at most 4/3 of the best
possible where nothing needs anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ctxlab.workbench.plan import Step

_UNKNOWN = 60.0  # seconds of a run that never was, where nothing is known: it may be long


def by_urgency(steps: Sequence[Step], seconds: Mapping[str, float]) -> list[str]:
    """The entries by the time from their start to the end of the last one that waits for them.

    `seconds` are those of earlier runs. An entry without one is taken for as long as the longest
    known. Equal ones keep the plan's order. Whether its needs are met is for the caller to see.
    """
    unknown = max(seconds.values(), default=_UNKNOWN)
    waiting: dict[str, list[str]] = {step.entry: [] for step in steps}
    for step in steps:
        for need in step.needs:
            waiting[need].append(step.entry)

    @cache
    def to_the_end(entry: str) -> float:
        return seconds.get(entry, unknown) + max(map(to_the_end, waiting[entry]), default=0.0)

    return sorted(waiting, key=to_the_end, reverse=True)
