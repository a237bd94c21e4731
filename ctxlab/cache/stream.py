"""A response as server-sent events, in the order in which the Messages API sends them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

_CHUNK = 64
_CALLS = ("tool_use", "server_tool_use")


def events(message: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a whole message: start, each block with its deltas, delta, stop."""
    usage = message["usage"]
    begun = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 0},
    }
    yield _event("message_start", message=begun)
    yield _event("ping")
    for index, block in enumerate(message["content"]):
        yield from _block(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]})
    yield _event("message_stop")


def _block(index: int, block: Mapping[str, Any]) -> Iterator[bytes]:
    kind = block["type"]
    if kind == "text":
        begun, deltas = {**block, "text": ""}, _text_deltas(block["text"])
    elif kind in _CALLS:
        begun, deltas = {**block, "input": {}}, _input_deltas(block["input"])
    else:  # results of server tools come whole
        begun, deltas = dict(block), iter(())
    yield _event("content_block_start", index=index, content_block=begun)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _text_deltas(text: str) -> Iterator[dict[str, Any]]:
    for start in range(0, len(text), _CHUNK):
        yield {"type": "text_delta", "text": text[start : start + _CHUNK]}


def _input_deltas(arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    text = orjson.dumps(arguments).decode()
    for start in range(0, len(text), _CHUNK):
        yield {"type": "input_json_delta", "partial_json": text[start : start + _CHUNK]}


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps({"type": kind, **fields}))
