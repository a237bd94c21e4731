"""Canonical JSON: one text for one value, and the form in which tools are sent.

>>> canonical({"b": 1, "a": ["é", 1.0]})
'{"a":["é",1.0],"b":1}'

It absorbs the order of keys, white space and ASCII escapes, and in tools the order of `required`.
It does not absorb `1` against `1.0` (other bytes on the wire, though equal in meaning:
`compare_tools` calls that `reserialized`), nor Unicode normalisation, nor the order of any other
array. Source: `tool-registry`; what the SDK puts on the wire: facts `prompt-cache` §0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

from ctxlab.errors import InputError
from ctxlab.prefix.faults import first_fault
from ctxlab.prefix.schema import sort_required

_STACK = "nested deeper than what is left of this interpreter's stack"

# No circle check: whoever comes here was looked at by orjson or by first_fault.
_FORM: Any = {
    "separators": (",", ":"),
    "ensure_ascii": False,
    "allow_nan": False,
    "check_circular": False,
}
_sorted_text = json.JSONEncoder(sort_keys=True, **_FORM).encode
_raw_text = json.JSONEncoder(sort_keys=False, **_FORM).encode


def canonical(value: object) -> str:
    """JSON with keys sorted by code point at every level, `,` and `:`, non-ASCII kept.

    Byte for byte what `json.dumps(value, sort_keys=True, separators=(",", ":"),
    ensure_ascii=False)` writes, for values that are JSON. Tuples are arrays.

    Raises:
        InputError: NaN, an infinity, a key that is not a string, a set or another object that is
            not JSON, a lone surrogate, a value that contains itself or is nested too deep; its
            `place` is the JSON pointer.
    """
    return encode(value)


def canonical_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool as it should be sent: a deep copy, keys sorted at every level, `required` sorted.

    `required` arrays are sorted wherever a JSON Schema stands inside the tool; every other array
    keeps its order, and data (`enum`, `default`, `const`, `examples`) is left as it is.

    >>> canonical_tool({"name": "f", "input_schema": {"required": ["b", "a"]}})
    {'input_schema': {'required': ['a', 'b']}, 'name': 'f'}

    Raises:
        InputError: the tool is not an object, or `canonical` refuses it.
    """
    return sent_tool(tool)


def sent_tool(tool: object, at: str = "") -> dict[str, Any]:
    """`canonical_tool`, with a place to name before the pointer of an error."""
    text = encode_tool(tool, at)
    try:
        sent: dict[str, Any] = json.loads(text)
    except RecursionError:
        raise InputError(_STACK, place=at) from None
    return sent


def encode_tool(tool: object, at: str = "") -> str:
    """`canonical(canonical_tool(tool))` in one step; `at` goes before the pointer of an error."""
    if not isinstance(tool, dict):
        raise InputError(f"a tool is a dict, this is of type {type(tool).__name__}", place=at)
    return encode(tool, at, lambda checked: _sorted_text(sort_required(checked)))


def encode_raw(value: object, at: str = "") -> str:
    """JSON as the SDK sends it: compact, the caller's order of keys kept."""
    return encode(value, at, _raw_text)


def encode(value: Any, at: str = "", write: Callable[[Any], str] = _sorted_text) -> str:
    """`write(value)` if JSON can carry the value; `at` goes before the pointer of an error."""
    try:
        # orjson is the fast half of the check: it refuses keys that are no strings, surrogates,
        # sets, circles. It writes NaN as null and some floats differently: the text is json's.
        orjson.dumps(value)
        return write(value)
    except (TypeError, ValueError, RecursionError):
        return _encode_slowly(value, at, write)


def _encode_slowly(value: Any, at: str, write: Callable[[Any], str]) -> str:
    """Say what is wrong and where; encode what only orjson refuses, such as long integers."""
    fault = first_fault(value)
    if fault is not None:
        raise InputError(fault.message, place=at + fault.pointer)
    try:
        return write(value)
    except RecursionError:
        raise InputError(_STACK, place=at) from None
