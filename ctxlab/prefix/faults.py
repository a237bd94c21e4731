"""Why a value is not JSON, and where: the slow, thorough look that only refused values get.

`json.dumps` lets through what a provider would see differently or not at all: it writes NaN,
turns the key `1` into `"1"`, and keeps lone surrogates that no UTF-8 body can carry.

>>> first_fault({"a": [1, {2, 3}]})
Fault(pointer='/a/1', message='a set has no order and is not JSON; use a sorted list')
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator
from typing import Any, NamedTuple

MAX_DEPTH = 500
"""Levels of nesting that are still taken; Python's own encoder gives up near a thousand."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_HINTS = {
    "set": "a set has no order and is not JSON; use a sorted list",
    "frozenset": "a frozenset has no order and is not JSON; use a sorted list",
    "bytes": "bytes are not JSON; decode them to a string",
}


class Fault(NamedTuple):
    """What is wrong with one place of a value."""

    pointer: str
    """RFC 6901 pointer; a bad key is written as the text it has."""
    message: str


class _Node(NamedTuple):
    """A value and how it was reached."""

    value: Any
    key: str
    parent: _Node | None
    depth: int


def first_fault(value: object) -> Fault | None:
    """The first place, in document order, that JSON cannot carry; None when there is none.

    Refused: NaN and infinities, keys that are no strings, lone surrogates in keys and strings,
    sets and any other object that is not JSON, a value that contains itself, nesting deeper than
    MAX_DEPTH. Tuples pass: they are sent as arrays.
    """
    waiting = [_Node(value, "", None, 0)]
    while waiting:
        node = waiting.pop()
        message = _fault_of(node)
        if message:
            return Fault(_pointer(node), message)
        if isinstance(node.value, dict):
            bad_key = _bad_key(node)
            if bad_key:
                return bad_key
        waiting.extend(reversed(list(_children(node))))
    return None


def escape(key: str) -> str:
    """One reference token of a JSON pointer (RFC 6901), printable whatever the key holds.

    >>> escape("a/b~c")
    'a~1b~0c'
    """
    token = key.replace("~", "~0").replace("/", "~1")
    return token.encode("utf-8", "backslashreplace").decode("utf-8")


def _children(node: _Node) -> Iterator[_Node]:
    if isinstance(node.value, dict):
        pairs = node.value.items()
    elif isinstance(node.value, list | tuple):
        pairs = {str(index): item for index, item in enumerate(node.value)}.items()
    else:
        return
    for key, child in pairs:
        yield _Node(child, key, node, node.depth + 1)


def _fault_of(node: _Node) -> str | None:
    value = node.value
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _surrogate(value)
    if isinstance(value, int | float):
        return _bad_number(value)
    if isinstance(value, dict | list | tuple):
        return _bad_nesting(node)
    name = type(value).__name__
    return _HINTS.get(name, f"a value of type {name} is not JSON")


def _bad_number(value: float) -> str | None:
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{float.__repr__(value)} is not a JSON number"
    try:
        int.__repr__(value)
    except ValueError:  # Python refuses to write integers of thousands of digits
        return "an integer this long cannot be written"
    return None


def _bad_nesting(node: _Node) -> str | None:
    if node.depth >= MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH} levels"
    above = node.parent
    while above is not None:
        if above.value is node.value:
            return f"contains itself: it is the value at {_pointer(above) or 'the root'}"
        above = above.parent
    return None


def _bad_key(node: _Node) -> Fault | None:
    for key in node.value:
        if not isinstance(key, str):
            told = f"the key {reprlib.repr(key)} is of type {type(key).__name__}"
            message = f"{told}; keys are strings"
        else:
            message = _surrogate(key) or ""
        if message:
            return Fault(f"{_pointer(node)}/{escape(str(key))}", message)
    return None


def _surrogate(text: str) -> str | None:
    found = _SURROGATE.search(text)
    if found is None:
        return None
    return f"a lone surrogate (U+{ord(found[0]):04X}) cannot be sent as UTF-8"


def _pointer(node: _Node) -> str:
    tokens: list[str] = []
    while node.parent is not None:
        tokens.append(escape(node.key))
        node = node.parent
    return "".join(f"/{token}" for token in reversed(tokens))
