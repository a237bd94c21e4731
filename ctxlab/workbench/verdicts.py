"""What a rule says of two values: same, better or worse.

>>> judge(Rule("lower", relative=0.1), ["100"], ["109"]).verdict
'same'
>>> judge(Rule("lower", relative=0.1), ["100"], ["90.5"]).verdict
'same'
>>> judge(Rule("higher"), ["0.5"], ["0.4"]).verdict
'worse'
>>> judge(Rule("exact"), ["5"], ["6"]).verdict
'worse'

The ideas are asv's: a change counts when it leaves the threshold, and where there are enough
repeats of a measured value also only when a rank test tells the two samples apart. With fewer than
MINIMUM_REPEATS a rank test cannot: the threshold stands alone, and the note says so.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ctxlab.workbench.rules import Rule

Verdict = Literal["same", "better", "worse", "new", "missing", "failed", "fixed", "not comparable"]

MINIMUM_REPEATS = 5
SIGNIFICANCE = 0.02
"""Two-sided; five against five that do not overlap at all reach 0.008."""

NOISE = 1e-9
"""A share: two processors may disagree in the last digits of a sum, which is no change."""


class Judgement(NamedTuple):
    """A verdict, with what weakens it."""

    verdict: Verdict
    note: str = ""


def judge(
    rule: Rule, before: Sequence[str], after: Sequence[str], *, measured: bool = False
) -> Judgement:
    """What `rule` says of the cells before and after.

    Each side has one cell, or one for each repeat of a measured value; of several, the medians are
    held against each other. Cells are compared as numbers where both are numbers, else as text,
    and text that differs is better for no rule: `worse`. `measured` are times and the like, which
    no second run repeats: a single one is judged by the threshold alone, and the note says so.
    """
    if rule.better == "none" or list(before) == list(after):
        return Judgement("same")
    old, new = _numbers(before), _numbers(after)
    if old is None or new is None:
        return Judgement("worse")
    first = _median(old)
    difference = _median(new) - first
    if abs(difference) <= rule.absolute + max(rule.relative, NOISE) * abs(first):
        return Judgement("same")
    verdict: Verdict = "worse"
    if rule.better != "exact" and (difference < 0) == (rule.better == "lower"):
        verdict = "better"
    if max(len(old), len(new)) == 1 and not measured:
        return Judgement(verdict)
    return _tested(verdict, old, new)


def summed(cells: Sequence[str]) -> str:
    """One side of a row in words: the cell, or of several their median where they are numbers.

    >>> summed(["5"]), summed(["1", "2", "4"]), summed(["a", ""])
    ('5', 'median 2 of 3', 'a, ')
    """
    if len(cells) == 1:
        return cells[0]
    numbers = _numbers(cells)
    return ", ".join(cells) if numbers is None else f"median {_median(numbers):.6g} of {len(cells)}"


def _median(values: list[float]) -> float:
    return values[0] if len(values) == 1 else statistics.median(values)


def _numbers(cells: Sequence[str]) -> list[float] | None:
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        return None
    return values if values and not any(map(math.isnan, values)) else None


def _tested(verdict: Verdict, old: list[float], new: list[float]) -> Judgement:
    repeats = min(len(old), len(new))
    if repeats < MINIMUM_REPEATS:
        told = "1 repeat is" if repeats == 1 else f"{repeats} repeats are"
        return Judgement(verdict, f"by the threshold alone: {told} too few to test")
    order = {value: rank for rank, value in enumerate(sorted({*old, *new}))}
    p = _rank_test(*(tuple(sorted(order[value] for value in side)) for side in (old, new)))
    if p > SIGNIFICANCE:
        return Judgement("same", f"over the threshold, but within the noise (rank test p={p:.2g})")
    return Judgement(verdict, f"rank test p={p:.2g}")


@lru_cache(maxsize=10_000)
def _rank_test(old: tuple[int, ...], new: tuple[int, ...]) -> float:
    """The p of a two-sided Mann-Whitney test: it sees ranks alone, and few orders come often."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415  half a second, and rarely asked for

    return float(mannwhitneyu(old, new).pvalue)
