"""What a tool search refuses before it searches; in the API these are errors inside a 200."""

from __future__ import annotations

from ctxlab.errors import SearchError

DEFAULT_RESULTS = 5
"""Tools that a search returns at most, unless it is asked for more or fewer."""


def check_query(query: object, most: int, what: str) -> str:
    """The query, when it is a text of 1 to `most` characters.

    Raises:
        SearchError: it is not; the code is `invalid_tool_input`.
    """
    if not isinstance(query, str):
        raise SearchError(f"{what} is a string, found {type(query).__name__}")
    if not query.strip():
        raise SearchError(f"{what} is empty; say what to look for")
    if len(query) > most:
        raise SearchError(f"{what} has {len(query)} characters; it takes {most} at most")
    return query


def check_limit(limit: object) -> int:
    """The number of results, when it is one.

    Raises:
        SearchError: it is not a whole number from 1; the code is `invalid_tool_input`.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise SearchError(f"limit is a whole number from 1, found {limit!r}")
    return limit
