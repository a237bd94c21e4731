"""One segment's blocks as a chain: key i speaks of blocks 0 to i, as a cache entry does.

A chain only grows at its end, and the longer one shares the columns of the shorter: a session that
appends pays for what it appends. Extending one chain twice copies it, so each stays what it was.
Not for extending the same chain from two threads at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from ctxlab.cache.blocks import Block

_NONE: frozenset[str] = frozenset()


class Columns(NamedTuple):
    """What is known behind each block. Longer than a chain where another goes on from it."""

    keys: list[bytes]
    """The running digest."""
    tokens: list[int]
    """Tokens up to and with the block."""
    positions: list[int]
    """The block's position: a run of calls, or of results, is one."""
    blocks: list[Block]

    def upto(self, length: int) -> Columns:
        """A copy of the first `length` rows."""
        return Columns(*(column[:length] for column in self))  # type: ignore[arg-type]


class Chain(NamedTuple):
    """Blocks of one segment, in order."""

    columns: Columns
    length: int
    images: int = 0
    cited: bool = False
    expanded: frozenset[str] = _NONE
    """Deferred tools whose definitions stand in here: each at its first reference."""
    references: frozenset[str] = _NONE
    """Every tool that is referred to in here."""

    @property
    def blocks(self) -> list[Block]:
        """The blocks themselves."""
        return self.columns.blocks[: self.length]

    @property
    def total(self) -> int:
        """Tokens of the whole segment."""
        return self.columns.tokens[self.length - 1] if self.length else 0

    @property
    def key(self) -> bytes:
        """The key of the whole segment."""
        return self.columns.keys[self.length - 1] if self.length else b""

    def markable(self, block: int) -> bool:
        """Whether the block may carry a marker."""
        return self.columns.blocks[block].markable

    def extended(self, blocks: Iterable[Block], deferred: Mapping[str, Block]) -> Chain:
        """The chain with more blocks; `deferred` are definitions that stand at their references."""
        columns, length, images, cited, expanded, references = self
        if len(columns.keys) != length or not length:  # somebody else went on from here
            columns = columns.upto(length)
        keys, totals, positions, kept = columns
        key, total, position, run = b"", 0, -1, ""
        if length:
            key, total, position, run = keys[-1], totals[-1], positions[-1], kept[-1].run
        for block in blocks:
            digest, total = block.digest, total + block.tokens
            if block.references:
                references = references.union(block.references)
                for name in block.references:
                    if name in deferred and name not in expanded:
                        expanded = expanded.union((name,))
                        digest += deferred[name].digest
                        total += deferred[name].tokens
            key = sha256(key + digest).digest()
            if not run or block.run != run:
                position += 1
                run = block.run
            if block.images or block.cited:
                images, cited = images + block.images, cited or block.cited
            keys.append(key)
            totals.append(total)
            positions.append(position)
            kept.append(block)
        return Chain(columns, len(keys), images, cited, expanded, references)


def chain_of(blocks: Iterable[Block], deferred: Mapping[str, Block] | None = None) -> Chain:
    """A chain of its own."""
    return Chain(Columns([], [], [], []), 0).extended(blocks, deferred or {})
