"""One tool in the form of the Messages API, MCP or OpenAI, brought into the first.

>>> request_tool({"name": "now", "title": "Now", "inputSchema": {"type": "object"}}, "[0]")
{'name': 'now', 'input_schema': {'type': 'object'}}
"""

from __future__ import annotations

import re
from typing import Any

from ctxlab.errors import InputError
from ctxlab.prefix.canonical import encode_tool
from ctxlab.prefix.naming import is_toolset

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_KEPT = ("name", "description", "strict")


def request_tool(element: Any, place: str) -> dict[str, Any]:
    """The Messages API's form of one element of a list of tools.

    Raises:
        InputError: no form of a tool; its place is `place` and the field.
    """
    if not isinstance(element, dict):
        raise InputError(f"a tool is an object, found {json_kind(element)}", place=place)
    if "inputSchema" in element:
        return _checked(_renamed(element, "inputSchema"), place, place, "inputSchema")
    if element.get("type") == "function":
        inner, at = element, place
        if "function" in element:
            inner, at = element["function"], f"{place}.function"
        if not isinstance(inner, dict):
            raise InputError(f"a function is an object, found {json_kind(inner)}", place=at)
        # OpenAI leaves `parameters` out of a function that takes none.
        filled = {"parameters": {"type": "object", "properties": {}}, **inner}
        return _checked(_renamed(filled, "parameters"), place, at, "parameters")
    return _checked(element, place, place, "input_schema")


def _renamed(tool: dict[str, Any], schema_field: str) -> dict[str, Any]:
    """The fields that the Messages API has too; null stands for absent in the other forms."""
    renamed = {field: tool[field] for field in _KEPT if tool.get(field) is not None}
    renamed["input_schema"] = tool[schema_field]
    return renamed


def _checked(tool: dict[str, Any], place: str, at: str, schema_field: str) -> dict[str, Any]:
    if "name" in tool or not is_toolset(tool):
        _check_name(tool, f"{at}.name")
    if not isinstance(tool.get("description", ""), str):
        message = f"a description is a string, found {json_kind(tool['description'])}"
        raise InputError(message, place=f"{at}.description")
    _check_schema(tool, f"{at}.{schema_field}")
    encode_tool(tool, place)
    return tool


def _check_name(tool: dict[str, Any], place: str) -> None:
    if "name" not in tool:
        raise InputError("missing; every tool has a name", place=place)
    name = tool["name"]
    if not isinstance(name, str):
        raise InputError(f"a name is a string, found {json_kind(name)}", place=place)
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name[:200]!r} is no name the API takes: 1 to 128 letters, digits, _ and -",
            place=place,
        )


def _check_schema(tool: dict[str, Any], place: str) -> None:
    """Only the API's own tools (`web_search_…`, toolsets) come without a schema."""
    if "input_schema" not in tool:
        if tool.get("type", "custom") in ("custom", None):
            raise InputError("missing; it is the JSON Schema of the arguments", place=place)
    elif not isinstance(tool["input_schema"], dict):
        message = f"a schema is an object, found {json_kind(tool['input_schema'])}"
        raise InputError(message, place=place)


def json_kind(value: Any) -> str:
    """What JSON calls this value, with its article."""
    if value is None:
        return "null"
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")
