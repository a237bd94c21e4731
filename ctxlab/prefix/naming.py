"""What a tool of a request is called: by its `name`, or by its type where the API has no name.

>>> tool_name({"type": "mcp_toolset", "mcp_server_name": "github"})
'mcp_toolset:github'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ctxlab.errors import InputError


def tool_name(tool: Any, at: str = "") -> str:
    """The tool's name; `at` is the place to name in an error.

    An entry such as `mcp_toolset` or `browser_toolset_20260801` has no name by its nature: it is
    called by its type, and by its server where it names one.

    Raises:
        InputError: not a dict, or its name is missing, empty or not a string.
    """
    if not isinstance(tool, dict):
        raise InputError(f"a tool is a dict, this is of type {type(tool).__name__}", place=at)
    if "name" not in tool and is_toolset(tool):
        server = tool.get("mcp_server_name")
        return f"{tool['type']}:{server}" if server else str(tool["type"])
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        told = f"is {name!r}" if "name" in tool else "is missing"
        raise InputError(f"a tool has a name, a string of its own; it {told}", place=f"{at}/name")
    return name


def is_toolset(tool: dict[str, Any]) -> bool:
    """Whether this entry of `tools` stands for a whole set, and so has no name of its own."""
    kind = tool.get("type")
    return isinstance(kind, str) and "toolset" in kind


def unique_names(placed_tools: Iterable[tuple[str, Any]]) -> list[str]:
    """The names of (place, tool) pairs, in order.

    Raises:
        InputError: `tool_name` refuses one, or two tools have the same name.
    """
    places: dict[str, str] = {}
    for at, tool in placed_tools:
        name = tool_name(tool, at)
        if name in places:
            message = f"the name {name!r} is used already, by {places[name]}"
            raise InputError(message, place=f"{at}/name")
        places[name] = at
    return list(places)
