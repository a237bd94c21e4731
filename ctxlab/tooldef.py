"""A Python function as a tool: its definition for the Messages API, and a call by a model.

The function's signature and docstring are the only place where a tool is described: names, types
and defaults come from the signature, the text before the first section is the description, the
lines under `Args:` describe the arguments (source: `tool-design` §3).

>>> def lines(path: str, limit: Annotated[int, {"minimum": 1}] = 10) -> str:
...     '''Give the first lines of a file.
...
...     Args:
...         path: The file.
...         limit: Lines to give, at least 1.
...     '''
...     return f"{limit} lines of {path}"
>>> definition(lines)["input_schema"]["properties"]["limit"]
{'default': 10, 'description': 'Lines to give, at least 1.', 'minimum': 1, 'type': 'integer'}
>>> call(lines, {"path": "a.py"})
'10 lines of a.py'

Types are those that JSON Schema has one word for (`str int float bool`, `list` of them, `dict`),
`Literal`, any of them with `| None`, and `Annotated` with a mapping of further keywords, of which
`minimum` and `maximum` are enforced. Not handled: `*args`, nested objects' fields, references.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Union

from ctxlab.errors import UsageError

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}
_WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
}
_SECTION = re.compile(r"(Args|Returns|Raises|Yields|Examples?|Notes?|Sources?):\s*$|>>> ")
_ARGUMENT = re.compile(r"( *)(\w+)(?: \([^)]*\))?: *(.*)")
# Above it JSON readers disagree about the number, and no file is so long.
_LARGEST = 2**53
_SHOWN = 60


def definition(function: Callable[..., Any]) -> dict[str, Any]:
    """The function as an Anthropic tool dict in canonical form: keys sorted at every level.

    Raises:
        UsageError: an argument without a description, or with a type that JSON Schema has not.
    """
    description, arguments = _documented(function)
    hints = typing.get_type_hints(function, include_extras=True)
    properties, required = {}, []
    for name, parameter in sorted(inspect.signature(function).parameters.items()):
        place = f"{function.__name__}({name})"
        if not arguments.get(name):
            raise UsageError(f"{place}: no description under `Args:` in the docstring")
        schema = _schema(hints.get(name), place) | {"description": arguments[name]}
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            schema["default"] = parameter.default
        properties[name] = dict(sorted(schema.items()))
    return {
        "description": description,
        "input_schema": {
            "additionalProperties": False,
            "properties": properties,
            "required": required,
            "type": "object",
        },
        "name": function.__name__,
    }


def call(function: Callable[..., Any], arguments: object) -> Any:
    """Call the function with arguments as a model sent them: any JSON value, checked first.

    Raises:
        UsageError: not an object, an argument unknown, missing or of a wrong type or range; one
            line that says what would be right. What the function itself raises passes through.
    """
    tool = definition(function)
    return function(**_checked(tool["name"], tool["input_schema"], arguments))


def _documented(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description, and each argument's, with the docstring's line breaks undone."""
    lines = inspect.cleandoc(function.__doc__ or "").splitlines()
    ends = [n for n, line in enumerate(lines) if _SECTION.match(line)]
    description = _unwrapped(lines[: ends[0] if ends else None])
    if not description:
        raise UsageError(f"{function.__name__}: a tool needs a docstring that says when to use it")
    arguments: dict[str, str] = {}
    for start, end in pairwise([*ends, len(lines)]):
        if lines[start].startswith("Args:"):
            arguments = _arguments(lines[start + 1 : end])
    return description, arguments


def _arguments(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    indent, name = None, ""
    for line in lines:
        match = _ARGUMENT.match(line)
        if match and indent in (None, len(match[1])):
            indent, name = len(match[1]), match[2]
            found[name] = [match[3]]
        elif name:
            found[name].append(line)
    return {name: _unwrapped(text) for name, text in found.items()}


def _unwrapped(lines: list[str]) -> str:
    """Paragraphs and list items on a line each."""
    text = "\n".join(line.strip() for line in lines).strip()
    return re.sub(r"(?<!\n)\n(?!\n|[-*] |\d+\. )", " ", text)


def _schema(hint: Any, place: str) -> dict[str, Any]:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        extra = [note for note in parts[1:] if isinstance(note, Mapping)]
        return _schema(parts[0], place) | {key: note[key] for note in extra for key in note}
    if origin in (Union, types.UnionType):
        real = [part for part in parts if part is not type(None)]
        if len(real) == 1:
            return _schema(real[0], place)
    if origin is Literal and len({type(part) for part in parts}) == 1:
        return {"enum": list(parts), "type": _TYPES[type(parts[0])]}
    if hint is list or origin is list:
        return {"type": "array"} | ({"items": _schema(parts[0], place)} if parts else {})
    if (origin or hint) in _TYPES:
        return {"type": _TYPES[origin or hint]}
    raise UsageError(f"{place}: JSON Schema has no one word for {hint!r}")


def _checked(tool: str, schema: dict[str, Any], arguments: object) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    takes = ", ".join(
        f"{name} ({properties[name]['type']}{'' if name in schema['required'] else ', optional'})"
        for name in sorted(properties, key=lambda name: (name not in schema["required"], name))
    )
    takes = f"it takes {takes}" if takes else "it takes none"
    if not isinstance(arguments, Mapping):
        raise UsageError(
            f"{tool}: arguments must be one JSON object, not {_told(arguments)}; {takes}"
        )
    for name in arguments:
        if name not in properties:
            raise UsageError(f"{tool}: no argument {_told(name, bare=True)}; {takes}")
    for name in schema["required"]:
        if name not in arguments:
            raise UsageError(f"{tool}: the argument {name} is missing; {takes}")
    return {
        name: _value(f"{tool}: {name}", properties[name], value)
        for name, value in arguments.items()
    }


def _value(place: str, schema: Mapping[str, Any], value: Any) -> Any:
    kind = schema["type"]
    if not _is(kind, value):
        hint = (
            f"; leave it out for {_told(schema['default'], bare=True)}"
            if "default" in schema
            else ""
        )
        raise UsageError(f"{place} must be {_WORDS[kind]}, not {_told(value)}{hint}")
    if kind == "integer":
        value = int(value)
        if abs(value) > _LARGEST:
            raise UsageError(f"{place} must be a whole number within ±2**53")
    if kind == "array" and "items" in schema:
        return [_value(f"{place}[{n}]", schema["items"], item) for n, item in enumerate(value)]
    if value not in schema.get("enum", [value]):
        choices = ", ".join(_told(choice, bare=True) for choice in schema["enum"])
        raise UsageError(f"{place} must be one of {choices}, not {_told(value, bare=True)}")
    if "minimum" in schema and value < schema["minimum"]:
        raise UsageError(f"{place} must be at least {schema['minimum']:,}, not {value:,}")
    if "maximum" in schema and value > schema["maximum"]:
        raise UsageError(f"{place} must be at most {schema['maximum']:,}, not {value:,}")
    return value


def _is(kind: str, value: Any) -> bool:
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        whole = isinstance(value, int) or value.is_integer()  # 5.0 is an integer of JSON Schema
        return whole if kind == "integer" else value == value  # noqa: PLR0124  NaN is no number
    python = {"string": str, "boolean": bool, "array": list, "object": Mapping}[kind]
    return isinstance(value, python)


def _told(value: Any, *, bare: bool = False) -> str:
    """A value in an error: short, on one line, and never an error itself."""
    kind = next((word for word, python in _KINDS if isinstance(value, python)), None)
    if value is None:
        return "null"
    if kind is None or kind in ("an array", "an object"):
        return kind or f"a Python {type(value).__name__}"
    try:
        text = json.dumps(value)
    except ValueError:  # an integer with thousands of digits
        return "a very large number"
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return text if bare else f"{kind} {text}"


_KINDS: tuple[tuple[str, Any], ...] = (
    ("the boolean", bool),
    ("the number", int | float),
    ("the string", str),
    ("an array", list),
    ("an object", Mapping),
)
