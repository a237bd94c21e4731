r"""Search a long text for a regular expression, with little to read and an end to it.

>>> found = search("id=1 ok\nid=2 failed\nid=3 ok\n", r"id=\d failed$")
>>> found["matches"], found["total_matches"]
([{'offset': 8, 'line': 2, 'text': 'id=2 failed'}], 1)

RE2 does the search: whatever the pattern, it takes time linear in the text (`tool-design` §5). A
text of one long line is shown by a window around each match.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ctxlab.errors import UsageError

SECONDS = 3.0
"""Time that a search has to go through its matches."""

_ROWS = 50
_SHOWN_CHARS = 4_000
_BEFORE, _BEHIND = 60, 140  # characters of a long line
_LONGEST_PATTERN = 1_000
# What RE2 says, and what it means.
_REASONS = {
    "invalid perl operator": "look-around ((?=…), (?!…), (?<=…), (?<!…)) is not supported",
    "invalid escape sequence": "backreferences and this escape are not supported",
    "invalid repetition size": "repetitions may go up to 1,000 in all",
}


def search(text: str, pattern: str, seconds: float = SECONDS) -> dict[str, Any]:
    """The fields of an answer: total_matches, returned_matches, matches; incomplete when stopped.

    Raises:
        UsageError: a pattern that is empty, too long or no regular expression of RE2.
    """
    rows = _Rows(text)
    deadline = time.monotonic() + seconds
    for start in _starts(text, pattern):
        rows.add(start)
        if time.monotonic() > deadline:
            told = (
                f"the search was stopped after {seconds:g} s; a narrower pattern has fewer matches"
            )
            return rows.fields() | {"incomplete": told}
    return rows.fields()


def _starts(text: str, pattern: str) -> Iterator[int]:
    """Where matches begin, without those that match nothing."""
    import re2  # noqa: PLC0415  only a search needs it

    if not isinstance(pattern, str) or not 0 < len(pattern) <= _LONGEST_PATTERN:
        raise UsageError(f"pattern must be a string of 1 to {_LONGEST_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError) as error:
        raise UsageError(f"pattern: {_reason(error)}") from None
    # Lone surrogates are no UTF-8; a question mark in their place leaves all offsets as they are.
    searched = text.encode("utf-8", "replace").decode()
    for match in compiled.finditer(searched):
        if match.end() > match.start():
            yield match.start()


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(error)
    return next((f"{told} ({said})" for words, told in _REASONS.items() if words in said), said)


class _Rows:
    """One row a line, or a window of a long line, until there is enough to read."""

    def __init__(self, text: str) -> None:
        self._text, self._total, self._chars = text, 0, 0
        self._shown: list[dict[str, Any]] = []
        self._line, self._line_start, self._end = 1, 0, 0

    def add(self, start: int) -> None:
        self._total += 1
        if start < self._end or len(self._shown) == _ROWS or self._chars >= _SHOWN_CHARS:
            return
        self._line += self._text.count("\n", self._line_start, start)
        self._line_start = self._text.rfind("\n", 0, start) + 1
        line_end = self._text.find("\n", start)
        line_end = len(self._text) if line_end < 0 else line_end
        first, last = self._line_start, line_end
        if last - first > _BEFORE + _BEHIND:
            first, last = max(first, start - _BEFORE), min(last, start + _BEHIND)
        window = "…" * (first > self._line_start) + self._text[first:last] + "…" * (last < line_end)
        self._shown.append({"offset": start, "line": self._line, "text": window})
        self._chars += len(window)
        self._end = last

    def fields(self) -> dict[str, Any]:
        return {
            "total_matches": self._total,
            "returned_matches": len(self._shown),
            "matches": self._shown,
        }
