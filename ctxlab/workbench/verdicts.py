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
from typing import Literal, NamedTuple

from ctxlab.workbench.rules import Rule

Verdict = Literal["same", "better", "worse", "new", "missing", "failed", "fixed", "not comparable"]

MINIMUM_REPEATS = 5
SIGNIFICANCE = 0.02
"""Two-sided; five against five that do not overlap at all reach 0.008."""


class Judgement(NamedTuple):
    """A verdict, with what weakens it."""

    verdict: Verdict
    note: str = ""


def judge(rule: Rule, before: Sequence[str], after: Sequence[str]) -> Judgement:
    """What `rule` says of the cells before and after.

    Each side has one cell, or one for each repeat of a measured value; of several, the medians are
    held against each other. Cells are compared as numbers where both are numbers, else as text,
    and text that differs is better for no rule: `worse`.
    """
    if rule.better == "none" or list(before) == list(after):
        return Judgement("same")
    old, new = _numbers(before), _numbers(after)
    if old is None or new is None:
        return Judgement("worse")
    difference = statistics.median(new) - statistics.median(old)
    allowed = rule.absolute + rule.relative * abs(statistics.median(old))
    if abs(difference) <= allowed:
        return Judgement("same")
    verdict: Verdict = "worse"
    if rule.better != "exact" and (difference < 0) == (rule.better == "lower"):
        verdict = "better"
    return _tested(verdict, old, new)


def _numbers(cells: Sequence[str]) -> list[float] | None:
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        return None
    return values if values and not any(map(math.isnan, values)) else None


def _tested(verdict: Verdict, old: list[float], new: list[float]) -> Judgement:
    repeats = min(len(old), len(new))
    if max(len(old), len(new)) == 1:
        return Judgement(verdict)
    if repeats < MINIMUM_REPEATS:
        return Judgement(verdict, f"by the threshold alone: {repeats} repeats are too few to test")
    from scipy.stats import mannwhitneyu  # noqa: PLC0415  half a second, and rarely asked for

    p = float(mannwhitneyu(old, new).pvalue)
    if p > SIGNIFICANCE:
        return Judgement("same", f"over the threshold, but within the noise (rank test p={p:.2g})")
    return Judgement(verdict, f"rank test p={p:.2g}")
