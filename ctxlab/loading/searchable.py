"""What a tool search reads of a tool: its name, its description, its arguments.

>>> tool = {"name": "now", "description": "The time.", "input_schema": {"type": "object",
...         "properties": {"zone": {"type": "string", "description": "IANA name"}}}}
>>> searchable(tool).texts
('now', 'The time.', 'zone', 'IANA name')

Descriptions are cut at 2 KB for search; what stands behind is not found (source: `tool-search`,
facts `prompt-cache` §4). Arguments are the schema's own properties: not handled are those inside
nested objects, of which no source says that they are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ctxlab.errors import InputError, InvalidRequest
from ctxlab.prefix.convert import json_kind, request_tool
from ctxlab.prefix.naming import tool_name

CUT = 2_048
"""Bytes of a description, and of a server's instructions, that search and context see."""

MAXIMUM_DEFERRED = 10_000
"""Tools that one request may defer (facts `prompt-cache` §4)."""

_BAD_SCHEMA = "the API would refuse it: JSON schema is invalid, it must match draft 2020-12"
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


@dataclass(frozen=True)
class Searchable:
    """The texts of one tool, the description cut."""

    name: str
    description: str
    arguments: tuple[str, ...]
    argument_descriptions: tuple[str, ...]

    @property
    def fields(self) -> tuple[tuple[str, ...], ...]:
        """The texts by kind: name, description, argument names, argument descriptions."""
        return (self.name,), (self.description,), self.arguments, self.argument_descriptions

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that is not empty, in that order."""
        return tuple(text for field in self.fields for text in field if text)


def searchable(tool: Mapping[str, Any], place: str = "tool") -> Searchable:
    """The texts of a tool in the form of the Messages API, MCP or OpenAI.

    Raises:
        InputError: no tool, or a schema that is no JSON Schema; `place` says where.
    """
    found = tool if _is_plain(tool) else _converted(tool, place)
    properties = _properties(found.get("input_schema", {}), f"{place}.input_schema")
    told = [schema.get("description", "") for schema in properties.values() if schema]
    return Searchable(
        found["name"] if "name" in found else tool_name(dict(found), place),
        cut(found.get("description", "")),
        tuple(properties),
        tuple(text for text in told if text),
    )


def read_catalogue(tools: Iterable[Mapping[str, Any]]) -> list[Searchable]:
    """The texts of all tools, in order.

    Raises:
        InputError: one is no tool, or a name is used twice.
        InvalidRequest: more tools than may be deferred.
    """
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
        raise InputError(f"tools are a list of tool dicts, found a {type(tools).__name__}")
    known: dict[str, str] = {}
    catalogue = []
    for number, tool in enumerate(tools):
        place = f"tools[{number}]"
        found = searchable(tool, place)
        if found.name in known:
            message = f"{found.name!r} is the name of {known[found.name]} already"
            raise InputError(message, place=place)
        known[found.name] = place
        catalogue.append(found)
    if len(catalogue) > MAXIMUM_DEFERRED:
        told = f"at most {MAXIMUM_DEFERRED:,} tools may be deferred, found {len(catalogue):,}"
        raise InvalidRequest(f"tools: {told}")
    return catalogue


def cut(text: str, limit: int = CUT) -> str:
    """The first `limit` bytes of a text in UTF-8, no character torn.

    >>> cut("é" * 3, limit=5)
    'éé'
    """
    if len(text) * 4 <= limit:
        return text
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _is_plain(tool: Any) -> bool:
    """Whether a tool is in the Messages API's form already: the common case, and a fast one."""
    return (
        isinstance(tool, dict)
        and isinstance(tool.get("name"), str)
        and bool(_NAME.fullmatch(tool["name"]))
        and isinstance(tool.get("input_schema"), dict)
        and isinstance(tool.get("description", ""), str)
    )


def _converted(tool: Any, place: str) -> dict[str, Any]:
    return request_tool(dict(tool) if isinstance(tool, Mapping) else tool, place)


def _properties(schema: dict[str, Any], place: str) -> dict[str, dict[str, Any]]:
    """The schema's properties, `true` and `false` (which are schemas) without a word to say."""
    if not _is_type(schema.get("type", "object")):
        raise InputError(f"{schema['type']!r} is no type; {_BAD_SCHEMA}", place=f"{place}.type")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        message = f"properties are an object, found {json_kind(properties)}; {_BAD_SCHEMA}"
        raise InputError(message, place=f"{place}.properties")
    for name, value in properties.items():
        _check_property(value, f"{place}.properties.{name}")
    return {name: value if isinstance(value, dict) else {} for name, value in properties.items()}


def _check_property(value: Any, place: str) -> None:
    if not isinstance(value, dict | bool):
        message = f"a schema is an object or a boolean, found {json_kind(value)}; {_BAD_SCHEMA}"
        raise InputError(message, place=place)
    if isinstance(value, bool):
        return
    if "description" in value and not isinstance(value["description"], str):
        message = f"a description is a string, found {json_kind(value['description'])}"
        raise InputError(f"{message}; {_BAD_SCHEMA}", place=f"{place}.description")
    if "type" in value and not _is_type(value["type"]):
        raise InputError(f"{value['type']!r} is no type; {_BAD_SCHEMA}", place=f"{place}.type")


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(kind, str) and kind in _TYPES for kind in value)
