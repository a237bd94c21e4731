"""Whole request bodies in, layouts out; what was read before is not read twice.

Every body is serialised anew, each time, so a dict changed in place is always seen: what is
remembered goes by content. Two things are: the head of a request, and the conversations read last,
so that a session which only appends pays for its new messages beyond being serialised.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import takewhile
from threading import Lock
from typing import Any, NamedTuple

from ctxlab.cache.blocks import BlockReader
from ctxlab.cache.head import HEAD_FIELDS, Head, read_head
from ctxlab.cache.layout import Layout, settled
from ctxlab.cache.rules import Rules, model_id
from ctxlab.cache.turns import Message, Reading, Turns, shown
from ctxlab.cache.validation import Envelope, check_body, check_tool_choice, ttl_of
from ctxlab.cache.wire import Place, encode, encode_strictly

Encode = Callable[[Mapping[str, Any], Place], bytes]
_REMEMBERED = 256


class _Conversation(NamedTuple):
    digests: list[bytes]
    turns: list[Turns]
    """Behind each message."""
    reading: Reading


class RequestReader:
    """Lays out request bodies under one set of overrides; safe to share between threads."""

    def __init__(self) -> None:
        self._heads: OrderedDict[tuple[bytes, str], Head] = OrderedDict()
        self._conversations: OrderedDict[bytes, _Conversation] = OrderedDict()
        self._lock = Lock()

    def lay_out(
        self,
        request: Mapping[str, Any],
        rules: Rules,
        reader: BlockReader,
        envelope: Envelope,
    ) -> Layout:
        """Lay out a whole request body.

        Args:
            request: a Messages API request body.
            rules: of its model.
            reader: reads and counts blocks.
            envelope: what came with the body.

        Raises:
            InvalidRequest: what the API would refuse.
            InputError: something that is not JSON.
        """
        check_body(request, envelope.version)
        model = model_id(request["model"])
        check_tool_choice(request.get("tool_choice"), model, rules)
        automatic = ttl_of(request.get("cache_control"), rules, ())
        with self._lock:
            check = encode if envelope.parsed else encode_strictly
            raw = check({name: request.get(name) for name in HEAD_FIELDS}, ())
            key = (sha256(raw).digest(), model)
            head = self._heads.get(key) or self._remember(
                key, read_head(request, model, rules, reader)
            )
            reading = Reading(head, reader, envelope.betas)
            turns = self._turns(shown(request["messages"]), reading, check)
        return settled(reading, turns, automatic)

    def _remember(self, key: tuple[bytes, str], head: Head) -> Head:
        self._heads[key] = head
        if len(self._heads) > _REMEMBERED:
            self._heads.popitem(last=False)
        return head

    def _turns(self, messages: Sequence[Message], reading: Reading, check: Encode) -> Turns:
        digests = [
            sha256(check(message, ("messages", number))).digest()
            for number, message in enumerate(messages)
        ]
        known = self._conversations.get(digests[0])
        turns = _reusable(known, digests, reading) if known else []
        last = turns[-1] if turns else reading.start()
        for message in messages[len(turns) :]:
            last = reading.message(last, message)
            turns.append(last)
        self._conversations[digests[0]] = _Conversation(digests, turns, reading)
        if len(self._conversations) > _REMEMBERED:
            self._conversations.popitem(last=False)
        return last


def _reusable(known: _Conversation, digests: list[bytes], now: Reading) -> list[Turns]:
    """The turns of a conversation read before that stand in this one too."""
    head = known.reading.head
    if (head.model, known.reading.betas) != (now.head.model, now.betas):
        return []
    shared = len(known.digests)
    if digests[:shared] != known.digests:
        pairs = zip(known.digests, digests, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    turns = known.turns[:shared]
    if head is now.head or (head.offer, head.deferred) == (now.head.offer, now.head.deferred):
        return turns
    # Under other tools only messages that speak of none can stand as they are.
    if not turns or turns[-1].chain.references or turns[-1].offer != head.offer:
        return []
    return [turn._replace(offer=now.head.offer) for turn in turns]
