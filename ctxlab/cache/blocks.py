"""One block of a request as the cache knows it: its digest, its tokens.

A block is read anew each time it is sent, so a dict changed in place is always seen; what is
remembered is remembered by content. Not handled here: where a block stands in a request
(`ctxlab.cache.layout`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from ctxlab.cache.estimate import estimate
from ctxlab.cache.wire import (
    Place,
    cites,
    images_of,
    normal,
    normal_text,
    normal_tool,
    references_of,
)
from ctxlab.errors import UsageError

Count = Callable[[dict[str, Any]], int]
UNMARKABLE = ("thinking", "redacted_thinking")
_MEMO_BLOCKS = 500_000


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
        data, bare = normal_tool(tool, place)
        digest = sha256(data).digest()
        return self._memo.get(digest) or self._remember(Block(digest, self._tokens(bare)))

    def text(self, tag: bytes, text: str, place: Place) -> Block:
        """A text block written short, as a string; `tag` tells its role."""
        digest = sha256(normal_text(tag, text, place)).digest()
        known = self._memo.get(digest)
        if known is not None:
            return known
        tokens = self._tokens({"type": "text", "text": text})
        return self._remember(Block(digest, tokens, markable=bool(text)))

    def content(self, tag: bytes, block: Mapping[str, Any], place: Place) -> Block:
        """A block of a message or of the system prompt."""
        data, bare = normal(tag, block, place)
        digest = sha256(data).digest()
        return self._memo.get(digest) or self._remember(self._block(digest, bare, data))

    def _block(self, digest: bytes, block: Mapping[str, Any], raw: bytes) -> Block:
        kind = block.get("type", "")
        return Block(
            digest,
            self._tokens(block),
            run=kind if kind in self._run_types else "",
            markable=kind not in UNMARKABLE and block.get("text") != "",
            references=tuple(references_of(block)) if b"tool_" in raw else (),
            images=images_of(block) if b'"image"' in raw else 0,
            cited=cites(raw),
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
