"""Tool arrays that several tests here use."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.conftest import shared

Tool = dict[str, Any]


def tool(name: str, **properties: str) -> Tool:
    """A tool as `tool-registry` writes them: every property required, `required` sorted."""
    return {
        "name": name,
        "description": f"{name} tool",
        "input_schema": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": sorted(properties),
        },
    }


def base_array() -> list[Tool]:
    """The five tools of `tool-registry`."""
    return [
        tool("search_docs", query="string", top_k="integer"),
        tool("read_file", path="string"),
        tool("write_file", path="string", body="string"),
        tool("run_tests", suite="string"),
        tool("post_report", channel="string", text="string"),
    ]


REAL = (
    *("chrome-devtools", "fetch", "git", "github-toolsnaps"),
    *("kubernetes-full", "notion", "playwright", "time"),
)


def real_tools(*names: str) -> list[Tool]:
    """Tool lists of real MCP servers, names prefixed as when several are joined."""
    return [
        {**found, "name": f"mcp__{name}__{found['name']}"}
        for name in names or REAL
        for found in json.loads(shared("toolsets", f"{name}.json").read_bytes())
    ]


def reversed_keys(value: Any) -> Any:
    """The same value with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


def changed(value: Any, *path: str | int, to: Any) -> Any:
    """A deep copy with the value at `path` replaced, or put there."""
    copied = copy.deepcopy(value)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return copied


json_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | json_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(json_text, inner, max_size=3),
    max_leaves=12,
)
