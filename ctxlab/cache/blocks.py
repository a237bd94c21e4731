"""One block of a request: its bytes, its digest, its tokens.

A block is read anew each time it is sent, so a dict changed in place is always seen; what is
remembered is remembered by content. Two blocks are one to the cache when they parse to the same
thing: markers, white space, escapes, the order of a content block's own keys and its nulls do not
count; the order of keys inside (a tool's schema, a call's input) does, and in tools everywhere
(source: facts `prompt-cache` §1, Validation). Not handled here: where a block stands in a request
(`ctxlab.cache.layout`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from ctxlab.cache.estimate import estimate
from ctxlab.errors import InputError, UsageError
from ctxlab.prefix.faults import first_fault

Count = Callable[[dict[str, Any]], int]
Place = tuple[str | int, ...]
DIGEST_BYTES = 16
_MEMO_BLOCKS = 500_000
_UNMARKABLE = ("thinking", "redacted_thinking")
# Only what may change between two requests for the same tool, and is no part of its definition.
_NOT_DEFINITION = ("cache_control", "defer_loading")


class Block(NamedTuple):
    """What the cache knows of a block."""

    digest: bytes
    tokens: int
    run: str = ""
    """The block's type where a run of them is one position, else empty."""
    markable: bool = True
    references: tuple[str, ...] = ()
    """Deferred tools whose definitions stand here."""
    images: int = 0
    cited: bool = False


class BlockReader:
    """Reads blocks; equal ones are counted once.

    Args:
        count: tokens of one content block, system block or tool, given without its marker; None
            estimates with o200k.
        run_types: block types of which a consecutive run is one position.
    """

    def __init__(self, count: Count | None = None, run_types: tuple[str, ...] = ()) -> None:
        self._count = count or estimate
        self._run_types = run_types
        self._memo: dict[bytes, Block] = {}

    def tool(self, tool: Mapping[str, Any], place: Place) -> Block:
        """A tool's definition, deferred or not."""
        if "cache_control" in tool or "defer_loading" in tool:
            tool = {key: tool[key] for key in tool if key not in _NOT_DEFINITION}
        raw = encode(tool, place)
        digest = blake2b(b"T" + raw, digest_size=DIGEST_BYTES).digest()
        return self._memo.get(digest) or self._remember(Block(digest, self._tokens(tool)))

    def text(self, tag: bytes, text: str, place: Place) -> Block:
        """A text block with nothing but text; `tag` tells its role."""
        try:
            raw = text.encode()
        except UnicodeEncodeError:
            raise InputError("a lone surrogate cannot be sent", place=pointer(place)) from None
        digest = blake2b(tag + b"t" + raw, digest_size=DIGEST_BYTES).digest()
        known = self._memo.get(digest)
        if known is not None:
            return known
        tokens = self._tokens({"type": "text", "text": text})
        return self._remember(Block(digest, tokens, markable=bool(text)))

    def content(self, tag: bytes, block: Mapping[str, Any], place: Place) -> Block:
        """A block of a message or of the system prompt."""
        plain = 3 if "cache_control" in block else 2
        if block.get("type") == "text" and len(block) == plain and "text" in block:
            return self.text(tag, block["text"], place)
        kept = {
            key: block[key]
            for key in sorted(block)
            if key != "cache_control" and block[key] is not None
        }
        if block.get("type") == "text" and len(kept) == 2:  # noqa: PLR2004  type and text are left
            return self.text(tag, block["text"], place)
        raw = encode(kept, place)
        if b'"cache_control":' in raw:
            kept = without_markers(kept)
            raw = encode(kept, place)
        digest = blake2b(tag + b"j" + raw, digest_size=DIGEST_BYTES).digest()
        return self._memo.get(digest) or self._remember(self._block(digest, kept, raw))

    def _block(self, digest: bytes, block: dict[str, Any], raw: bytes) -> Block:
        kind = block.get("type", "")
        return Block(
            digest,
            self._tokens(block),
            run=kind if kind in self._run_types else "",
            markable=kind not in _UNMARKABLE and block.get("text") != "",
            references=tuple(_references(block)) if b"tool_reference" in raw else (),
            images=_images(block) if b'"image"' in raw else 0,
            cited=b'"citations":{"enabled":true' in raw,
        )

    def _tokens(self, block: Mapping[str, Any]) -> int:
        tokens = self._count(dict(block))
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            raise UsageError(f"count answered {tokens!r}; a number of tokens is an int from 0")
        return tokens

    def _remember(self, block: Block) -> Block:
        if len(self._memo) >= _MEMO_BLOCKS:
            self._memo.clear()
        self._memo[block.digest] = block
        return block


@lru_cache(maxsize=8)
def shared_reader(run_types: tuple[str, ...]) -> BlockReader:
    """The o200k reader that every cache of this process shares: equal blocks are counted once."""
    return BlockReader(None, run_types)


def encode(value: Mapping[str, Any], place: Place) -> bytes:
    """JSON bytes as the SDK sends them: compact, keys in order, `1` and `1.0` distinct.

    Raises:
        InputError: NaN, a set, a lone surrogate or anything else that is not JSON; `place` is the
            JSON pointer in the request.
    """
    try:
        raw = orjson.dumps(value)
        if b"null" in raw:  # orjson writes NaN so, the SDK refuses it
            json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        fault = first_fault(value)
        if fault is not None:
            raise InputError(fault.message, place=pointer(place) + fault.pointer) from None
        # Only orjson refuses whole numbers over 64 bits.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return raw


def pointer(place: Place) -> str:
    """A place in a request as a JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in place)


def without_markers(value: Any) -> Any:
    """A copy of a content block without any `cache_control`, its own and those inside `content`.

    Data is left alone: a tool may well take an argument of that name.
    """
    if isinstance(value, list):
        return [without_markers(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: without_markers(item) if key == "content" else item
        for key, item in value.items()
        if key != "cache_control"
    }


def _references(block: Mapping[str, Any]) -> list[str]:
    """Names of the tools whose definitions the API puts at this block (facts §3, §4)."""
    kind, content = block.get("type"), block.get("content")
    if kind == "tool_result" and isinstance(content, list):
        return [part["tool_name"] for part in content if part.get("type") == "tool_reference"]
    if kind == "tool_search_tool_result" and isinstance(content, Mapping):
        return [part["tool_name"] for part in content.get("tool_references") or ()]
    if kind == "tool_addition":
        tool = block.get("tool") or {}
        return [tool["name"]] if tool.get("type") == "tool_reference" else []
    return []


def _images(block: Mapping[str, Any]) -> int:
    if block.get("type") == "image":
        return 1
    content = block.get("content")
    return sum(map(_images, content)) if isinstance(content, list) else 0
