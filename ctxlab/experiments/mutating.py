"""The twelve changes themselves: a tool array in, a changed one out (`tool-registry`).

>>> swap = MUTATIONS["swap_second_third"]
>>> [tool["name"] for tool in swap([{"name": "a"}, {"name": "b"}, {"name": "c"}])]
['a', 'c', 'b']

"The middle" is the tool at n // 2. A new or renamed tool gets a name that no other has. The arrays
are the caller's to give away: tools inside may be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Tool = dict[str, Any]
Tools = list[Tool]


def _rebuilt(value: Any) -> Any:
    """Equal content in new objects, the keys in the opposite order."""
    if isinstance(value, dict):
        return {key: _rebuilt(value[key]) for key in reversed(value)}
    return [_rebuilt(item) for item in value] if isinstance(value, list) else value


def _new_tool(tools: Tools) -> Tool:
    name = _free_name("new_tool", {tool["name"] for tool in tools})
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return {"name": name, "description": f"{name} tool", "input_schema": schema}


def _free_name(wanted: str, taken: Iterable[str]) -> str:
    names = set(taken)
    while wanted in names:
        wanted += "_"
    return wanted


def _inserted(tools: Tools, place: int) -> Tools:
    return [*tools[:place], _new_tool(tools), *tools[place:]]


def _without(tools: Tools, place: int) -> Tools:
    return tools[:place] + tools[place + 1 :]


def _described_anew(tools: Tools, place: int) -> Tools:
    tools[place]["description"] = f"{tools[place].get('description', '')} (edited)".lstrip()
    return tools


def _with_optional(tools: Tools, place: int) -> Tools:
    schema = tools[place].setdefault("input_schema", {"type": "object"})
    properties = schema.setdefault("properties", {})
    properties[_free_name("note", properties)] = {"type": "string"}
    return tools


def _renamed(tools: Tools, place: int) -> Tools:
    names = {tool["name"] for tool in tools}
    tools[place]["name"] = _free_name(f"{tools[place]['name']}_v2", names)
    return tools


def _swapped(tools: Tools) -> Tools:
    return [tools[0], tools[2], tools[1], *tools[3:]]


MUTATIONS: dict[str, Callable[[Tools], Tools]] = {
    "append": lambda t: _inserted(t, len(t)),
    "rebuild": _rebuilt,
    "drop_last": lambda t: _without(t, len(t) - 1),
    "edit_last_description": lambda t: _described_anew(t, -1),
    "add_optional_to_last": lambda t: _with_optional(t, -1),
    "insert_middle": lambda t: _inserted(t, len(t) // 2),
    "drop_middle": lambda t: _without(t, len(t) // 2),
    "rename_middle": lambda t: _renamed(t, len(t) // 2),
    "swap_second_third": _swapped,
    "prepend": lambda t: _inserted(t, 0),
    "drop_first": lambda t: _without(t, 0),
    "edit_first_description": lambda t: _described_anew(t, 0),
}
"""Name → the change; `rebuild` gives the same content with its keys in another order."""
