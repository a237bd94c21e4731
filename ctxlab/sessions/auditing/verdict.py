"""Why a request read less than the one before it left: the answer, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cause = Literal[
    "",
    "tools",
    "system",
    "messages",
    "model",
    "TTL expired",
    "compaction",
    "below minimum",
    "lookback",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The cause of one break."""

    cause: Cause
    tool: str = ""
    """The tool at the first change, where it is one."""
    pointer: str = ""
    """JSON pointer in the request body of the first change."""
    inferred: bool = True
    """Concluded from usage and times; False where bodies or the log itself say it."""
    note: str = ""
    """In words, what else there is to know."""
    advice: str = ""
    """What to do about it, where more particular than the cause's own advice."""


UNBROKEN = Verdict("", inferred=False)
