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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxlab.cache.blocks import Block, BlockReader, Place
from ctxlab.cache.chain import Chain
from ctxlab.cache.head import MESSAGES, SYSTEM, TOOLS, Head, Marker, read_head
from ctxlab.cache.offer import Offer
from ctxlab.cache.rules import Rules, model_id
from ctxlab.cache.validation import (
    API_VERSION,
    check_block,
    check_body,
    check_breakpoints,
    check_marked,
    check_references,
    check_role,
    check_tool_choice,
    ttl_of,
)
from ctxlab.errors import InvalidRequest, UsageError

_TAGS = {"user": b"u", "assistant": b"a", "system": b"s"}


@dataclass(frozen=True, slots=True)
class Layout:
    """One request as the cache sees it."""

    head: Head
    messages: Chain
    markers: tuple[Marker, ...]
    """Breakpoints inside messages that the caller set."""
    automatic: str | None
    """The TTL of the top-level `cache_control`, which marks the last block that can be marked."""
    role: str
    """The role of the last message."""
    offer: Offer
    """The tools that stand open behind the last message."""
    reader: BlockReader = field(repr=False)
    betas: frozenset[str] | None = None
    breakpoints: tuple[Marker, ...] = ()
    """Every breakpoint in request order, the automatic one included."""
    keys: tuple[bytes, bytes, bytes] = (b"", b"", b"")
    """What each segment's entries begin with."""
    offsets: tuple[int, int, int] = (0, 0, 0)
    """Tokens before each segment's first block."""

    @property
    def rules(self) -> Rules:
        """The rules of this request's model."""
        return self.head.rules

    @property
    def total(self) -> int:
        """Input tokens of the whole request."""
        return self.offsets[MESSAGES] + self.messages.total

    def chain(self, segment: int) -> Chain:
        """The blocks of a segment: 0 tools, 1 system, 2 messages."""
        if segment == MESSAGES:
            return self.messages
        return self.head.system if segment == SYSTEM else self.head.tools

    def tokens_at(self, marker: Marker) -> int:
        """Input tokens up to and with a breakpoint's block."""
        return self.offsets[marker.segment] + self.chain(marker.segment).tokens[marker.block]

    def append(self, messages: Sequence[Mapping[str, Any]]) -> Layout:
        """The same request with more messages behind; the automatic breakpoint moves along.

        Markers stay where they are: `without_message_markers()` first, to move them.

        Raises:
            InvalidRequest, InputError: as for the whole request.
        """
        read = _Messages(self)
        for message in messages:
            read.message(message)
        chain = self.messages.extended(read.blocks, self.head.deferred)
        check_references(chain.references - self.messages.references, read.offer.defined)
        return _settled(
            replace(
                self,
                messages=chain,
                markers=(*self.markers, *read.markers),
                role=read.role,
                offer=read.offer,
            )
        )

    def without_message_markers(self) -> Layout:
        """The same request without the breakpoints that the caller set inside messages."""
        return _settled(replace(self, markers=())) if self.markers else self

    def with_head(self, request: Mapping[str, Any]) -> Layout:
        """The same messages behind the tools, system and parameters of another request body.

        Raises:
            UsageError: messages that add or remove tools must be laid out anew, as a whole.
            InvalidRequest, InputError: as for the whole request.
        """
        if self.offer != self.head.offer:
            raise UsageError("messages that change tools are laid out with their whole request")
        head = read_head(request, self.head.model, self.rules, self.reader)
        check_tool_choice(request.get("tool_choice"), head.model, head.rules)
        messages = self.messages
        if messages.references:
            check_references(messages.references, head.offer.defined)
            messages = Chain().extended(messages.blocks, head.deferred)
        return _settled(replace(self, head=head, messages=messages, offer=head.offer))


def lay_out(
    request: Mapping[str, Any],
    rules: Rules,
    reader: BlockReader,
    betas: frozenset[str] | None = None,
    version: str = API_VERSION,
) -> Layout:
    """Lay out a whole request body.

    Args:
        request: a Messages API request body.
        rules: of its model.
        reader: reads and counts blocks; what it read before is counted once.
        betas: the values of `anthropic-beta`; None where only the body is known, so none is missed.
        version: the value of `anthropic-version`.

    Raises:
        InvalidRequest: what the API would refuse.
        InputError: something that is not JSON.
    """
    check_body(request, version)
    model = model_id(request["model"])
    check_tool_choice(request.get("tool_choice"), model, rules)
    head = read_head(request, model, rules, reader)
    empty = Layout(
        head=head,
        messages=Chain(),
        markers=(),
        automatic=ttl_of(request.get("cache_control"), rules, ()),
        role="",
        offer=head.offer,
        reader=reader,
        betas=betas,
    )
    return empty.append(_shown(request["messages"]))


def _settled(layout: Layout) -> Layout:
    """The layout with what follows from its parts, checked."""
    head, messages = layout.head, layout.messages
    breakpoints = _with_automatic(layout, (*head.markers, *layout.markers))
    check_breakpoints([marker.ttl for marker in breakpoints], head.rules)
    before, surplus = head.prompt_tokens
    system = before + head.tools.total
    return replace(
        layout,
        breakpoints=breakpoints,
        keys=head.keys(cited=messages.cited, images=messages.images),
        offsets=(before, system, system + head.system.total + surplus),
    )


def _with_automatic(layout: Layout, explicit: tuple[Marker, ...]) -> tuple[Marker, ...]:
    if layout.automatic is None:
        return explicit
    last = _last_markable(layout)
    if last is None:
        return explicit
    if explicit and explicit[-1][:2] == last:
        if explicit[-1].ttl == layout.automatic:
            return explicit
        raise InvalidRequest(
            f"cache_control: ttl '{layout.automatic}' differs from the last block's own "
            f"'{explicit[-1].ttl}'"
        )
    return (*explicit, Marker(*last, layout.automatic))


def _last_markable(layout: Layout) -> tuple[int, int] | None:
    for segment in (MESSAGES, SYSTEM, TOOLS):
        chain = layout.chain(segment)
        for index in range(chain.length - 1, -1, -1):
            if chain.markable(index):
                return segment, index
    return None


class _Messages:
    """Reads messages behind those that a layout has."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._reader = layout.reader
        self._first = layout.messages.length
        self.blocks: list[Block] = []
        self.markers: list[Marker] = []
        self.role = layout.role
        self.offer = layout.offer
        self._number = 0

    def message(self, message: Mapping[str, Any]) -> None:
        number, self._number = self._number, self._number + 1
        if not isinstance(message, Mapping):
            raise InvalidRequest(f"messages.{number}: Input should be an object")
        role = message.get("role")
        check_role(role, self.role, self._layout.rules, number)
        self.role = str(role)
        content = message.get("content")
        if isinstance(content, str):
            place: Place = ("messages", number, "content")
            self.blocks.append(self._reader.text(_TAGS[self.role], content, place))
            return
        if not isinstance(content, list | tuple):
            raise InvalidRequest(f"messages.{number}.content: Input should be a string or a list")
        for index, block in enumerate(content):
            self._block(block, ("messages", number, "content", index))

    def _block(self, block: Mapping[str, Any], place: Place) -> None:
        check_block(block, self.role, place)
        ttl = self._ttl(block, place)
        if block["type"] in ("tool_addition", "tool_removal"):
            layout = self._layout
            self.offer = self.offer.after(block, place, layout.rules, layout.betas)
        read = self._reader.content(_TAGS[self.role], block, place)
        if ttl:
            self.markers.append(Marker(MESSAGES, self._first + len(self.blocks), ttl))
        self.blocks.append(read)

    def _ttl(self, block: Mapping[str, Any], place: Place) -> str | None:
        ttl = None
        if "cache_control" in block:
            ttl = ttl_of(block["cache_control"], self._layout.rules, place)
            if ttl:
                check_marked(block, place)
        content = block.get("content")
        if isinstance(content, list):  # a marker inside a result marks the result
            for index, part in enumerate(content):
                inner = part.get("cache_control") if isinstance(part, Mapping) else None
                if inner is not None:
                    told = ttl_of(inner, self._layout.rules, (*place, "content", index))
                    check_marked(part, (*place, "content", index))
                    ttl = ttl or told
        return ttl


def _shown(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Messages as the model sees them: a cleared system message has lost its text (facts §0).

    `clear_at: "next_user_message"` shows a system message until a later user message stands.
    """
    clearing = [
        number
        for number, message in enumerate(messages)
        if isinstance(message, Mapping) and message.get("clear_at") == "next_user_message"
    ]
    if not clearing:
        return messages
    users = [number for number, message in enumerate(messages) if message.get("role") == "user"]
    shown = list(messages)
    for number in clearing:
        if users and users[-1] > number:
            shown[number] = {**messages[number], "content": _no_text(messages[number])}
    return shown


def _no_text(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.get("type") != "text"]
