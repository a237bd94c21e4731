"""Where JSON Schemas stand inside a tool, and so which `required` is a set of names.

A property *named* `required` is no such set, nor is anything inside `enum`, `const`, `default`,
`examples`, `input_examples` or a keyword we do not know: that is data, and its order is kept.

>>> sort_required({"input_schema": {"required": ["b", "a"], "default": {"required": ["b", "a"]}}})
{'input_schema': {'required': ['a', 'b'], 'default': {'required': ['b', 'a']}}}
"""

from __future__ import annotations

from typing import Any, Literal

Role = Literal["tool", "schema", "map", "names"]
"""What a value is: a tool, a schema (or a list of them), a map from names to schemas, a `required`
array. Everything else is data, written as None."""

_SCHEMA_FIELDS = ("input_schema", "inputSchema", "outputSchema")
_NAMED_SCHEMAS = (
    *("properties", "patternProperties", "$defs", "definitions"),
    *("dependentSchemas", "dependencies"),
)
_SCHEMAS = (
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema"),
)
_TOOL: dict[str, Role] = dict.fromkeys(_SCHEMA_FIELDS, "schema")
_SCHEMA: dict[str, Role] = {
    "required": "names",
    **dict.fromkeys(_NAMED_SCHEMAS, "map"),
    **dict.fromkeys(_SCHEMAS, "schema"),
}


def below(role: Role | None, key: str) -> Role | None:
    """What the member `key` of an object in this role is.

    >>> below("schema", "required"), below("map", "required"), below("schema", "default")
    ('names', 'schema', None)
    """
    if role == "schema":
        return _SCHEMA.get(key)
    if role == "map":
        return "schema"
    return _TOOL.get(key) if role == "tool" else None


def is_names(value: object) -> bool:
    """Whether this is an array of strings (draft 3's `required: true` is not)."""
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def sort_required(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool with every `required` array of its schemas sorted by code point.

    What needs no change is not copied; the caller's own objects are never changed.
    """
    sorted_tool: dict[str, Any] = _sorted(tool, "tool")
    return sorted_tool


def _sorted(value: Any, role: Role) -> Any:
    if isinstance(value, dict):
        return _sorted_object(value, role)
    if not isinstance(value, list | tuple):
        return value
    if role == "names":
        ordered = sorted(value) if is_names(value) else value
        return value if ordered == value else ordered
    if role != "schema":
        return value
    items = [_sorted(item, "schema") for item in value]
    return items if _any_new(items, value) else value


def _sorted_object(value: dict[str, Any], role: Role) -> dict[str, Any]:
    changed = {}
    for key, child in value.items():
        child_role = below(role, key)
        if child_role is not None:
            new = _sorted(child, child_role)
            if new is not child:
                changed[key] = new
    return {**value, **changed} if changed else value


def _any_new(items: list[Any], before: list[Any] | tuple[Any, ...]) -> bool:
    return any(new is not old for new, old in zip(items, before, strict=True))
