"""A conversation read message by message: after each, what the cache and the checks must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ctxlab.cache.blocks import Block, BlockReader
from ctxlab.cache.chain import Chain, chain_of
from ctxlab.cache.head import MESSAGES, Head, Marker
from ctxlab.cache.offer import Offer
from ctxlab.cache.shape import CHANGES
from ctxlab.cache.validation import (
    check_content,
    check_marked,
    check_references,
    check_role,
    ttl_of,
)
from ctxlab.cache.wire import Place
from ctxlab.errors import InvalidRequest

TAGS = {"user": b"u", "assistant": b"a", "system": b"s"}
Message = Mapping[str, Any]


class Turns(NamedTuple):
    """The messages so far."""

    chain: Chain
    markers: tuple[Marker, ...]
    """Breakpoints that the caller set inside them."""
    role: str
    """Of the last message; empty where there is none."""
    offer: Offer
    """The tools that stand open behind the last message."""
    number: int = 0
    """How many messages there are."""


class Reading(NamedTuple):
    """What reading messages depends on."""

    head: Head
    reader: BlockReader
    betas: frozenset[str] | None

    def start(self) -> Turns:
        """Before the first message."""
        return Turns(chain_of(()), (), "", self.head.offer)

    def message(self, turns: Turns, message: Message) -> Turns:
        """The conversation with one more message.

        Raises:
            InvalidRequest: what the API would refuse.
            InputError: something that is not JSON.
        """
        number = turns.number
        role = message.get("role")
        check_role(role, turns.role, self.head.rules, number)
        role = str(role)
        content = message.get("content")
        if isinstance(content, str):
            block = self.reader.text(TAGS[role], content, ("messages", number, "content"))
            chain = turns.chain.extended((block,), self.head.deferred)
            return Turns(chain, turns.markers, role, turns.offer, number + 1)
        if not isinstance(content, list | tuple):
            raise InvalidRequest(f"messages.{number}.content: Input should be a string or a list")
        return self._blocks(turns, role, content)

    def _blocks(self, turns: Turns, role: str, content: Sequence[Any]) -> Turns:
        number, offer, tag = turns.number, turns.offer, TAGS[role]
        blocks: list[Block] = []
        markers: list[Marker] = []
        for index, block in enumerate(content):
            place: Place = ("messages", number, "content", index)
            check_content(block, role, place)
            if "cache_control" in block or isinstance(block.get("content"), list | tuple):
                ttl = self._ttl(block, place)
                if ttl:
                    markers.append(Marker(MESSAGES, turns.chain.length + len(blocks), ttl))
            if block["type"] in CHANGES:
                offer = offer.after(block, place, self.head.rules, self.betas)
            blocks.append(self.reader.content(tag, block, place))
        chain = turns.chain.extended(blocks, self.head.deferred)
        if chain.references is not turns.chain.references:
            check_references(chain.references - turns.chain.references, offer.defined)
        marked = (*turns.markers, *markers) if markers else turns.markers
        return Turns(chain, marked, role, offer, number + 1)

    def _ttl(self, block: Message, place: Place) -> str | None:
        """The TTL of a block's marker; one inside a result marks the result."""
        ttl = ttl_of(block.get("cache_control"), self.head.rules, place)
        if ttl:
            check_marked(block, place)
        content = block.get("content")
        for index, part in enumerate(content if isinstance(content, list | tuple) else ()):
            inner = part.get("cache_control")
            if inner is not None:
                told = ttl_of(inner, self.head.rules, (*place, "content", index))
                check_marked(part, (*place, "content", index))
                ttl = ttl or told
        return ttl


def shown(messages: Sequence[Message]) -> Sequence[Message]:
    """Messages as the model sees them: a cleared system message has lost its text (facts §0).

    `clear_at: "next_user_message"` shows a system message until a later user message stands.
    """
    clearing = [
        number
        for number, message in enumerate(messages)
        if "clear_at" in message and message["clear_at"] == "next_user_message"
    ]
    if not clearing:
        return messages
    users = [number for number, message in enumerate(messages) if message.get("role") == "user"]
    seen = list(messages)
    for number in clearing:
        if users and users[-1] > number:
            seen[number] = {**messages[number], "content": _no_text(messages[number])}
    return seen


def _no_text(message: Message) -> list[Message]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.get("type") != "text"]
