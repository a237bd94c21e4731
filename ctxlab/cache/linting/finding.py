"""What a linter says, and which rule of which document says it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

RULES: dict[str, tuple[str, str]] = {
    # tool-design: its eight anti-patterns, in its order
    "no-stated-limit": ("tool-design", "no stated hard limit"),
    "metadata-dropped": ("tool-design", "metadata dropped"),
    "truncation-not-told": ("tool-design", "truncation not told"),
    "vague-description": ("tool-design", "vague description"),
    "first-come-cut": ("tool-design", "FIFO under a cap"),
    "unguarded-regex": ("tool-design", "regex without a guard"),
    "volatile-system": ("tool-design", "volatile values in the system prompt"),
    "tools-changed": ("tool-design", "changing the tool set mid-session"),
    # and what its practices add
    "argument-without-description": ("tool-design", "descriptions on every argument"),
    "volatile-tool": ("tool-design", "nothing volatile before the end"),
    "differ-in-name-only": ("tool-design", "descriptions say when to use which"),
    # result-handling: its seven anti-patterns, in its order
    "notice-in-side-channel": ("result-handling", "notice in a side channel"),
    "no-recovery": ("result-handling", "no recovery"),
    "cut-mid-record": ("result-handling", "cutting mid-character or mid-record"),
    "notice-format-changes": ("result-handling", "changing the notice format"),
    "summarised-at-once": ("result-handling", "summarising at once"),
    "recovery-does-not-work": ("result-handling", "recovery that does not work"),
    "over-budget": ("result-handling", "no budget"),
    # prompt-cache: what the API refuses, and what the cache silently does not do
    "invalid-request": ("prompt-cache", "§0, §1, §3, §4: requests that are refused"),
    "no-breakpoint": ("prompt-cache", "§1: without cache_control nothing is cached"),
    "useless-breakpoint": ("prompt-cache", "§1: an entry that no later request finds"),
    "below-minimum": ("prompt-cache", "§1: minimum cacheable tokens"),
    "lookback-exceeded": ("prompt-cache", "§1: at most 20 positions"),
}
"""Rule → its document, and the anti-pattern or section it stands for."""


@dataclass(frozen=True)
class Finding:
    """One thing that a rule found."""

    rule: str
    """A key of `RULES`."""
    place: str
    """JSON pointer in the request, the session or the list of tools."""
    message: str
    """What is there and what would be right, in one line."""
    tool: str | None = None
    """The tool it speaks of."""

    @property
    def document(self) -> str:
        """The document that the rule is from."""
        return RULES[self.rule][0]

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.rule} ({self.document}): {self.message}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON and tables."""
        return {**asdict(self), "document": self.document}
