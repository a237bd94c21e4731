r"""The tools that give back what was cut: pages of a resource, and a search in it.

>>> from ctxlab.truncation.storages import MemoryStorage
>>> from ctxlab.truncation.store import ResourceStore
>>> store = ResourceStore(MemoryStorage())
>>> resource = store.save("alpha\nbeta\ngamma\n")
>>> tools = LookupTools(store)
>>> json.loads(tools.lookup_full_content(resource, offset=6, limit=4))["content"]
'beta'
>>> json.loads(tools.search_full_content(resource, "m+"))["matches"]
[{'offset': 13, 'line': 3, 'text': 'gamma'}]
>>> json.loads(tools.lookup_full_content("feedbeef"))
{'error': "no resource 'feedbeef'; its id stands in the notice as resource_id"}

Their docstrings are written for the model. Whatever it sends, it gets a JSON object; what is wrong
stands under the key `error` (source: `result-handling`, recovery).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from ctxlab.errors import CtxlabError
from ctxlab.truncation.searching import search
from ctxlab.truncation.store import PAGE, ResourceStore, checked_id

MOST = 100_000
"""Characters that one page has at most, whatever is asked for."""

_Tool = TypeVar("_Tool", bound=Callable[..., str])


def error_answer(error: str) -> str:
    """What these tools answer when something is wrong."""
    return answer({"error": error})


def answer(fields: Mapping[str, Any]) -> str:
    """A JSON object on one line, which always encodes as UTF-8 and gives every character back."""
    text = json.dumps(fields, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair stands in it: escaped, it is JSON too
        return json.dumps(fields)
    return text


def _refused_as_json(tool: _Tool) -> _Tool:
    """Have a toolset answer wrong arguments in the tool's own form."""
    vars(tool)["refused"] = error_answer
    return tool


class LookupTools:
    """The tools over one store."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store

    @_refused_as_json
    def lookup_full_content(
        self,
        resource_id: str,
        offset: Annotated[int, {"minimum": 0}] = 0,
        limit: Annotated[int, {"minimum": 1}] = PAGE,
    ) -> str:
        """Read a page of a tool result that was truncated.

        Use it when a result ends in a TRUNCATION NOTICE and what you need is missing: the notice
        names the call. The answer is a JSON object with resource_id, offset, returned_chars,
        total_chars, has_more and content. While has_more is true, the next page begins at
        offset + returned_chars. To find one place in a large result, search_full_content is
        cheaper.

        Args:
            resource_id: The id of 8 hex digits that the notice gives.
            offset: How many characters of the full result to skip, from 0.
            limit: How many characters to read, at most 100000.
        """
        try:
            return answer(dict(self._store.get(resource_id, offset, min(limit, MOST))))
        except (CtxlabError, TypeError) as error:
            return error_answer(str(error))

    @_refused_as_json
    def search_full_content(self, resource_id: str, pattern: str) -> str:
        r"""Search a tool result that was truncated for a regular expression.

        Use it before you page through a large result: it finds the places, and the offset of each
        is what lookup_full_content takes. The answer is a JSON object with total_matches and
        matches, each with its offset in characters, its line (from 1) and the text around it.
        Each line is shown with its first match; `^` and `$` match at line ends.

        Args:
            resource_id: The id of 8 hex digits that the notice gives.
            pattern: A regular expression in RE2's syntax: `a|b`, `\bword\b`, `id=\d+`; no
                look-around and no backreferences. Case counts unless it begins with `(?i)`.
        """
        try:
            found = search(self._store.text(resource_id), pattern)
            key = checked_id(resource_id)
        except CtxlabError as error:
            return error_answer(str(error))
        return answer({"resource_id": key, "pattern": pattern, **found})


def lookup_tools(store: ResourceStore) -> list[Callable[..., str]]:
    """`lookup_full_content` and `search_full_content` over one store, for a toolset."""
    tools = LookupTools(store)
    return [tools.lookup_full_content, tools.search_full_content]
