"""What of a request goes over the wire, and when two blocks are one to the cache.

Two blocks are one when they parse to the same thing: markers, white space, escapes, the order of a
content block's own keys and its nulls do not count; the order of keys inside (a tool's schema, a
call's input) does, and in tools everywhere, as does `1` against `1.0`. Source: facts `prompt-cache`
§0, §1 (Validation).
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping
from typing import Any

import orjson

from ctxlab.errors import InputError
from ctxlab.prefix.faults import first_fault

Place = tuple[str | int, ...]
"""Steps from a request to something in it."""
# What may change between two requests for the same tool, and is no part of its definition.
_NOT_DEFINITION = ("cache_control", "defer_loading")
_TEXT_ALONE = 2  # keys: type and text


def normal_tool(tool: Mapping[str, Any], place: Place) -> tuple[bytes, Mapping[str, Any]]:
    """The bytes that stand for a tool, and the tool without its marker."""
    if "cache_control" in tool or "defer_loading" in tool:
        tool = {key: tool[key] for key in tool if key not in _NOT_DEFINITION}
    return b"T" + encode(tool, place), tool


def normal_text(tag: bytes, text: str, place: Place) -> bytes:
    """The bytes that stand for a text block with nothing but text; `tag` tells its role."""
    try:
        return tag + b"t" + text.encode()
    except UnicodeEncodeError:
        raise InputError("a lone surrogate cannot be sent", place=pointer(place)) from None


def normal(tag: bytes, block: Mapping[str, Any], place: Place) -> tuple[bytes, Mapping[str, Any]]:
    """The bytes that stand for a content block, and the block without markers."""
    text = block.get("type") == "text" and "text" in block
    if text and len(block) == _TEXT_ALONE:
        return normal_text(tag, block["text"], place), block
    kept = {
        key: block[key]
        for key in sorted(block)
        if key != "cache_control" and block[key] is not None
    }
    if text and len(kept) == _TEXT_ALONE:
        return normal_text(tag, block["text"], place), kept
    raw = encode(kept, place)
    if b'"cache_control":' in raw:
        kept = without_markers(kept)
        raw = encode(kept, place)
    return tag + b"j" + raw, kept


def encode(value: Mapping[str, Any], place: Place) -> bytes:
    """JSON bytes as the SDK sends them: compact, keys in order, `1` and `1.0` distinct.

    Raises:
        InputError: a set, a lone surrogate or anything else that is not JSON; `place` is the JSON
            pointer in the request. NaN is left to `encode_strictly`.
    """
    try:
        return orjson.dumps(value)
    except (TypeError, RecursionError):
        return _encode_slowly(value, place)


def encode_strictly(value: Mapping[str, Any], place: Place) -> bytes:
    """`encode`, and NaN is refused too, which orjson writes as null.

    A value is looked at once, where it enters; its parts need not be again.
    """
    raw = encode(value, place)
    if b"null" in raw and _may_hold_nan(value):
        _encode_slowly(value, place)
    return raw


def _encode_slowly(value: Mapping[str, Any], place: Place) -> bytes:
    """Say what is wrong and where; encode what only orjson refuses: whole numbers over 64 bits."""
    fault = first_fault(value)
    if fault is not None:
        raise InputError(fault.message, place=pointer(place) + fault.pointer)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _may_hold_nan(value: Any) -> bool:
    """A fast look for NaN and infinities: marshal's first format spells floats out."""
    try:
        spelt = marshal.dumps(value, 0)
    except ValueError:
        return True
    return b"f\x03nan" in spelt or b"f\x03inf" in spelt or b"f\x04-inf" in spelt


def pointer(place: Place) -> str:
    """A place in a request as a JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in place)


def dotted(place: Place) -> str:
    """A place as the API writes it, such as `messages.0.content.1`."""
    return ".".join(str(step) for step in place)


def without_markers(value: Any) -> Any:
    """A copy of a content block without any `cache_control`, its own and those inside `content`.

    Data is left alone: a tool may well take an argument of that name.
    """
    if isinstance(value, list | tuple):
        return [without_markers(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: without_markers(item) if key == "content" else item
        for key, item in value.items()
        if key != "cache_control"
    }


def references_of(block: Mapping[str, Any]) -> list[str]:
    """Names of the tools whose definitions the API puts at this block (facts §3, §4)."""
    kind, content = block.get("type"), block.get("content")
    if kind == "tool_result" and isinstance(content, list | tuple):
        return [part["tool_name"] for part in content if part.get("type") == "tool_reference"]
    if kind == "tool_search_tool_result" and isinstance(content, Mapping):
        return [part["tool_name"] for part in content.get("tool_references") or ()]
    if kind == "tool_addition":
        tool = block.get("tool") or {}
        return [tool["name"]] if tool.get("type") == "tool_reference" else []
    return []


def images_of(block: Mapping[str, Any]) -> int:
    """Images in a block, those inside a tool's result too."""
    if block.get("type") == "image":
        return 1
    content = block.get("content")
    return sum(map(images_of, content)) if isinstance(content, list | tuple) else 0


def cites(raw: bytes) -> bool:
    """Whether a block's JSON turns citations on."""
    return b'"citations":{"enabled":true' in raw
