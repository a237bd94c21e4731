"""Tool search as the API runs it: a `server_tool_use` block in, its result block out.

>>> tools = [{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
...          {"name": "get_events", "description": "Reads a calendar.", "input_schema": {},
...           "defer_loading": True}]
>>> asked = {"id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "calendar"}}
>>> answer_search({"tools": tools}, asked)["content"]["tool_references"]
[{'type': 'tool_reference', 'tool_name': 'get_events'}]

Deferred tools are searched, by `ctxlab.loading`. What goes wrong is an error block inside a 200
(facts `prompt-cache` §4): `invalid_tool_input` for a query that is refused,
`execution_time_exceeded`, and `unavailable` where the request has no such search tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from ctxlab.cache.wire import encode
from ctxlab.errors import SearchError
from ctxlab.loading import Bm25ToolSearch, RegexToolSearch
from ctxlab.loading.query import DEFAULT_RESULTS

RESULT = "tool_search_tool_result"
_Search = Callable[[str, int], list[str]]
_KINDS: dict[str, tuple[type[RegexToolSearch | Bm25ToolSearch], str]] = {
    "tool_search_tool_regex": (RegexToolSearch, "pattern"),
    "tool_search_tool_bm25": (Bm25ToolSearch, "query"),
}


def is_search(block: Mapping[str, Any]) -> bool:
    """Whether a content block calls one of the API's search tools."""
    return block.get("type") == "server_tool_use" and block.get("name") in _KINDS


def answer_search(request: Mapping[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    """The `tool_search_tool_result` block for one call of a search tool.

    Args:
        request: the body of the request that is answered; its deferred tools are searched.
        block: the `server_tool_use` block, with its id.

    Raises:
        InputError: a deferred tool's schema is no JSON Schema.
    """
    try:
        content: dict[str, Any] = {
            "type": "tool_search_tool_search_result",
            "tool_references": [
                {"type": "tool_reference", "tool_name": name} for name in _found(request, block)
            ],
        }
    except SearchError as error:
        content = {
            "type": "tool_search_tool_result_error",
            "error_code": error.code,
            "error_message": str(error),
        }
    return {"type": RESULT, "tool_use_id": block["id"], "content": content}


def _found(request: Mapping[str, Any], block: Mapping[str, Any]) -> list[str]:
    tools = request.get("tools") or ()
    name = str(block["name"])
    if not any(_is_entry(tool) and tool.get("name") == name for tool in tools):
        raise SearchError(f"the request has no search tool {name}", "unavailable")
    given = block.get("input")
    if not isinstance(given, Mapping):
        raise SearchError("input is an object")
    argument = _KINDS[name][1]
    unknown = sorted(set(given) - {argument, "limit"})
    if unknown:
        raise SearchError(f"{name} takes {argument} and limit, found {', '.join(unknown)}")
    limit = given.get("limit")
    deferred = [tool for tool in tools if tool.get("defer_loading") and not _is_entry(tool)]
    search = _index(name, encode({"tools": deferred}, ("tools",)))
    return search(given.get(argument), DEFAULT_RESULTS if limit is None else limit)  # type: ignore[arg-type]  # the search itself checks


def _is_entry(tool: Mapping[str, Any]) -> bool:
    return str(tool.get("type", "")).startswith(tuple(_KINDS))


@lru_cache(maxsize=4)
def _index(name: str, deferred: bytes) -> _Search:
    """One index for a session: its tools stay the same from request to request."""
    return _KINDS[name][0](orjson.loads(deferred)["tools"]).search
