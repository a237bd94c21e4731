"""One segment's blocks as a chain: key i speaks of blocks 0 to i, as a cache entry does.

A chain only grows at its end, and the longer one shares the storage of the shorter: a session that
appends pays for what it appends. Extending one chain twice copies it, so each stays what it was.
Not for extending the same chain from two threads at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from ctxlab.cache.blocks import DIGEST_BYTES, Block


@dataclass(slots=True)
class _Store:
    keys: list[bytes] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def fork(self, length: int) -> _Store:
        return _Store(
            self.keys[:length], self.tokens[:length], self.positions[:length], self.blocks[:length]
        )


@dataclass(frozen=True, slots=True)
class Chain:
    """Blocks of one segment, in order. The lists may run on behind `length`: that is not ours."""

    _store: _Store = field(default_factory=_Store)
    length: int = 0
    images: int = 0
    cited: bool = False
    expanded: frozenset[str] = frozenset()
    """Deferred tools whose definitions stand in here: each at its first reference."""
    references: frozenset[str] = frozenset()
    """Every tool that is referred to in here."""

    @property
    def keys(self) -> list[bytes]:
        """The running digest after each block."""
        return self._store.keys

    @property
    def positions(self) -> list[int]:
        """The position of each block: a run of calls, or of results, is one."""
        return self._store.positions

    @property
    def tokens(self) -> list[int]:
        """Tokens up to and with each block."""
        return self._store.tokens

    @property
    def blocks(self) -> list[Block]:
        """The blocks themselves."""
        return self._store.blocks[: self.length]

    @property
    def total(self) -> int:
        """Tokens of the whole segment."""
        return self._store.tokens[self.length - 1] if self.length else 0

    @property
    def key(self) -> bytes:
        """The key of the whole segment."""
        return self._store.keys[self.length - 1] if self.length else b""

    @property
    def height(self) -> int:
        """Positions in the whole segment."""
        return self._store.positions[self.length - 1] + 1 if self.length else 0

    def markable(self, index: int) -> bool:
        """Whether the block may carry a marker."""
        return self._store.blocks[index].markable

    def extended(self, blocks: Iterable[Block], deferred: Mapping[str, Block]) -> Chain:
        """The chain with more blocks; `deferred` are definitions that stand at their references."""
        store = self._store
        if len(store.keys) != self.length:  # somebody else went on from here
            store = store.fork(self.length)
        key, total, position = self.key, self.total, self.height - 1
        run = store.blocks[-1].run if store.blocks else ""
        images, cited, expanded, references = 0, self.cited, self.expanded, self.references
        for block in blocks:
            digest, tokens = block.digest, block.tokens
            if block.references:
                references |= set(block.references)
                for name in block.references:
                    if name in deferred and name not in expanded:
                        digest += deferred[name].digest
                        tokens += deferred[name].tokens
                        expanded |= {name}
            key = blake2b(key + digest, digest_size=DIGEST_BYTES).digest()
            total += tokens
            position += not (run and block.run == run)
            run = block.run
            images += block.images
            cited = cited or block.cited
            store.keys.append(key)
            store.tokens.append(total)
            store.positions.append(position)
            store.blocks.append(block)
        images += self.images
        return Chain(store, len(store.keys), images, cited, expanded, references)
