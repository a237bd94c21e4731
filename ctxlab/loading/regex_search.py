r"""Tool search by a regular expression, as Python's `re.search` reads it, case ignored.

>>> tools = [{"name": "get_events", "description": "Reads a calendar.", "input_schema": {}},
...          {"name": "send_mail", "description": "Sends a message.", "input_schema": {}}]
>>> RegexToolSearch(tools).search("^send_|message")
['send_mail']

A pattern from a model must not be able to stop us. RE2 is linear but refuses look-around and reads
`\w` as ASCII; the API speaks of `re.search`. So `re` says what is valid, and the `regex` module,
which can be stopped, does the search within one time limit for all tools. Where the two modules
read a pattern differently (`{e}` is a fuzzy match in one and itself in the other), the pattern is
rewritten to what `re` means.

The order of results is not published. Ours: tools whose name matches, then by description,
argument names, argument descriptions; in array order among equals.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ctxlab.errors import SearchError
from ctxlab.loading.query import DEFAULT_RESULTS, check_limit, check_query
from ctxlab.loading.searchable import read_catalogue

if TYPE_CHECKING:
    import regex

PATTERN_LIMIT = 200
"""Characters of a pattern (facts `prompt-cache` §4)."""

TIME_LIMIT = 1.0
"""Seconds that one search may take over all tools."""

ORDERS = ("fields", "array")

# An escape, a brace that opens no quantifier, a bracket that looks like a POSIX class.
_READ_DIFFERENTLY = re.compile(r"\\.|\{(?!\d+(?:,\d*)?\}|,\d*\})|\[:", re.DOTALL)

# Without repeats and groups a pattern cannot explode, and the clock costs more than the search.
_NO_REPEATS = re.compile(r"[^*+?{(\\]*")


class RegexToolSearch:
    """A search over the tools' names, descriptions (cut at 2 KB), argument names and descriptions.

    Each of these texts is searched by itself: `^` is where one begins.

    Args:
        tools: tool dicts of the Messages API (or MCP); none is a catalogue that holds nothing.
        time_limit: seconds for one search.
        order: `fields` (name matches first) or `array` (as the tools stand).

    Raises:
        InputError: one is no tool, its schema no JSON Schema, or a name is used twice.
        InvalidRequest: more than 10,000.
        SearchError: no such order.
    """

    def __init__(
        self,
        tools: Iterable[Mapping[str, Any]],
        *,
        time_limit: float = TIME_LIMIT,
        order: str = "fields",
    ) -> None:
        """Read all tools once."""
        if order not in ORDERS:
            raise SearchError(f"order is one of {', '.join(ORDERS)}, found {order!r}")
        self._catalogue = read_catalogue(tools)
        self._time_limit = time_limit
        self._by_fields = order == "fields"

    def search(self, query: str, limit: int = DEFAULT_RESULTS) -> list[str]:
        """Names of the tools that match.

        Args:
            query: a pattern of 1 to 200 characters.
            limit: results at most, from 1.

        Raises:
            SearchError: with the API's `invalid_tool_input` (no valid pattern, too long) or
                `execution_time_exceeded`.
        """
        most, found = check_limit(limit), self.matches(query)
        if self._by_fields:
            found = sorted(found, key=lambda match: match[0])
        return [name for _, name in found[:most]]

    def matches(self, query: str) -> list[tuple[int, str]]:
        """Every tool that matches, in array order, each behind the kind of text that does.

        The kinds: 0 name, 1 description, 2 an argument's name, 3 its description.

        Raises:
            SearchError: as `search`.
        """
        asked = check_query(query, PATTERN_LIMIT, "pattern")
        pattern = _compiled(asked)
        deadline = None if _NO_REPEATS.fullmatch(asked) else time.monotonic() + self._time_limit
        ranked = ((self._rank(pattern, t.fields, deadline), t.name) for t in self._catalogue)
        return [(rank, name) for rank, name in ranked if rank is not None]

    def _rank(
        self,
        pattern: regex.Pattern[str],
        fields: tuple[tuple[str, ...], ...],
        deadline: float | None,
    ) -> int | None:
        """The first kind of text that matches, or None."""
        for rank, texts in enumerate(fields):
            if any(self._matches(pattern, text, deadline) for text in texts):
                return rank
        return None

    def _matches(self, pattern: regex.Pattern[str], text: str, deadline: float | None) -> bool:
        if deadline is None:
            return pattern.search(text) is not None
        try:
            left = max(deadline - time.monotonic(), 1e-6)
            return pattern.search(text, timeout=left) is not None
        except TimeoutError:
            message = f"the pattern took longer than {self._time_limit:g} s; make it simpler"
            raise SearchError(message, "execution_time_exceeded") from None


def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # noqa: PLC0415  only who searches needs it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # FutureWarning: possible nested set
            re.compile(pattern)
        return regex.compile(_READ_DIFFERENTLY.sub(_as_re, pattern), regex.IGNORECASE | regex.V0)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        raise SearchError(f"pattern is no regular expression: {error}") from None


def _as_re(match: re.Match[str]) -> str:
    return {"{": r"\{", "[:": r"[\:"}.get(match[0], match[0])
