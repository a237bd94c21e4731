"""How a table's column is compared with another run's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ctxlab.errors import UsageError


@dataclass(frozen=True)
class Rule:
    """What is better, and what is no change.

    Values whose difference is within `absolute` or within `relative` × the earlier value are the
    same. `exact` allows no difference beyond that, `none` is not compared.

    >>> Rule(better="lower", relative=0.05)
    Rule(better='lower', absolute=0, relative=0.05)
    """

    better: Literal["exact", "lower", "higher", "none"] = "exact"
    absolute: float = 0
    """In the column's own unit."""
    relative: float = 0
    """A share: 0.05 is five percent."""

    def __post_init__(self) -> None:
        if self.better not in ("exact", "lower", "higher", "none"):
            raise UsageError(f"better is exact, lower, higher or none, not {self.better!r}")
        for name in ("absolute", "relative"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
                raise UsageError(f"{name} is a number of 0 or more, not {value!r}")
