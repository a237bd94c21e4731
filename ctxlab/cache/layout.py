"""A request laid out for the cache: blocks in provider order, hashed, counted, with breakpoints.

Laying out is one step (serialise, hash, count) and the cache's own rules are another. A layout is a
value: it can be sent again, and a session that only appends goes on from the last one, paying for
what is new.

>>> from ctxlab.cache import PromptCache
>>> cache = PromptCache({"minimum_tokens": 1}, count=lambda block: 10)
>>> layout = cache.lay_out({"model": "claude-opus-5", "cache_control": {"type": "ephemeral"},
...                         "messages": [{"role": "user", "content": "hello"}]})
>>> cache.send(layout)["cache_creation_input_tokens"]
10
>>> longer = layout.append([{"role": "assistant", "content": "hi"}])
>>> usage = cache.send(longer)
>>> usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
(10, 10)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ctxlab.cache.chain import Chain, chain_of
from ctxlab.cache.head import HEAD_FIELDS, MESSAGES, SYSTEM, TOOLS, Head, Marker, read_head
from ctxlab.cache.rules import Rules
from ctxlab.cache.turns import Message, Reading, Turns
from ctxlab.cache.validation import check_breakpoints, check_references, check_tool_choice
from ctxlab.cache.wire import encode_strictly
from ctxlab.errors import InvalidRequest, UsageError


@dataclass(frozen=True, slots=True)
class Layout:
    """One request as the cache sees it."""

    reading: Reading
    turns: Turns
    automatic: str | None
    """The TTL of the top-level `cache_control`, which marks the last block that can be marked."""
    breakpoints: tuple[Marker, ...]
    """Every breakpoint in request order, the automatic one included."""
    keys: tuple[bytes, bytes, bytes]
    """What the entries of each segment begin with."""
    offsets: tuple[int, int, int]
    """Tokens before each segment's first block."""

    @property
    def head(self) -> Head:
        """Tools, system and parameters."""
        return self.reading.head

    @property
    def rules(self) -> Rules:
        """The rules of this request's model."""
        return self.reading.head.rules

    @property
    def messages(self) -> Chain:
        """The blocks of the messages."""
        return self.turns.chain

    @property
    def total(self) -> int:
        """Input tokens of the whole request."""
        return self.offsets[MESSAGES] + self.turns.chain.total

    def chain(self, segment: int) -> Chain:
        """The blocks of a segment: 0 tools, 1 system, 2 messages."""
        if segment == MESSAGES:
            return self.turns.chain
        return self.head.system if segment == SYSTEM else self.head.tools

    def tokens_at(self, marker: Marker) -> int:
        """Input tokens up to and with a breakpoint's block."""
        return (
            self.offsets[marker.segment] + self.chain(marker.segment).columns.tokens[marker.block]
        )

    def append(self, messages: Iterable[Message]) -> Layout:
        """The same request with more messages behind; the automatic breakpoint moves along.

        Markers stay where they are: `without_message_markers()` first, to move them.

        Raises:
            UsageError: a message with `clear_at`, which changes what stands before it.
            InvalidRequest, InputError: as for the whole request.
        """
        turns = self.turns
        for message in messages:
            encode_strictly(message, ("messages", turns.number))
            turns = self.reading.message(turns, message)
            if "clear_at" in message:
                raise UsageError("a message with clear_at is laid out with its whole request")
        return settled(self.reading, turns, self.automatic)

    def without_message_markers(self) -> Layout:
        """The same request without the breakpoints that the caller set inside messages."""
        return settled(self.reading, self.turns._replace(markers=()), self.automatic)

    def with_head(self, request: Mapping[str, Any]) -> Layout:
        """The same messages behind the tools, system and parameters of another request body.

        Raises:
            UsageError: messages that add or remove tools must be laid out anew, as a whole.
            InvalidRequest, InputError: as for the whole request.
        """
        if self.turns.offer != self.head.offer:
            raise UsageError("messages that change tools are laid out with their whole request")
        fields = {name: request.get(name) for name in HEAD_FIELDS}
        encode_strictly(fields, ())
        head = read_head(fields, self.head.model, self.rules, self.reading.reader)
        check_tool_choice(request.get("tool_choice"), head.model, head.rules)
        chain = self.turns.chain
        if chain.references:
            check_references(chain.references, head.offer.defined)
            chain = chain_of(chain.blocks, head.deferred)
        turns = self.turns._replace(chain=chain, offer=head.offer)
        return settled(self.reading._replace(head=head), turns, self.automatic)


def settled(reading: Reading, turns: Turns, automatic: str | None) -> Layout:
    """A layout with what follows from its parts.

    Raises:
        InvalidRequest: too many breakpoints, or TTLs out of order.
    """
    head, chain = reading.head, turns.chain
    breakpoints = (*head.markers, *turns.markers)
    if automatic is not None:
        breakpoints = _with_automatic(head, turns, breakpoints, automatic)
    check_breakpoints(breakpoints, head.rules)
    before, surplus = head.prompt_tokens
    system = before + head.tools.total
    return Layout(
        reading=reading,
        turns=turns,
        automatic=automatic,
        breakpoints=breakpoints,
        keys=head.keys(cited=chain.cited, images=chain.images),
        offsets=(before, system, system + head.system.total + surplus),
    )


def _with_automatic(
    head: Head, turns: Turns, explicit: tuple[Marker, ...], ttl: str
) -> tuple[Marker, ...]:
    last = _last_markable(head, turns)
    if last is None:
        return explicit
    if not explicit or explicit[-1][:2] != last:
        return (*explicit, Marker(*last, ttl))
    if explicit[-1].ttl == ttl:
        return explicit
    raise InvalidRequest(
        f"cache_control: ttl '{ttl}' differs from the last block's own '{explicit[-1].ttl}'"
    )


def _last_markable(head: Head, turns: Turns) -> tuple[int, int] | None:
    for segment, chain in ((MESSAGES, turns.chain), (SYSTEM, head.system), (TOOLS, head.tools)):
        for block in range(chain.length - 1, -1, -1):
            if chain.markable(block):
                return segment, block
    return None
