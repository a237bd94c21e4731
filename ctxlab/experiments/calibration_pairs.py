"""Known breakages as pairs of requests, sized for a real model (facts `prompt-cache` §7).

The facts' sizes (tools 200 each, system 300, user 100, minimum 100) are multiplied so that 100
becomes the model's minimum and half as much again: token counts are estimates, and a prefix that
was meant to be cached must be. Every text carries a salt, so that no earlier run is read by
accident, and every pair one of its own. Not here: the pair of parallel and sequential calls at
other lengths than the two that tell the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxlab import tokens
from ctxlab.cache import rules_for

Block = dict[str, Any]
Request = dict[str, Any]

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
SPARE = 1.5
"""How much more than the minimum 100 of the facts' tokens become."""


@dataclass(frozen=True)
class Pair:
    """A request that warms the cache, and one that should find it or not."""

    name: str
    first: Request | None
    """None where the second is refused whatever came before."""
    second: Request
    wait: float = 0.0
    """Seconds between them."""


@dataclass(frozen=True)
class Parts:
    """Texts and tools of one pair, each so many of the facts' tokens long."""

    model: str
    salt: str
    minimum: int

    def text(self, size: int, words: str = "", **more: Any) -> Block:
        """A text block."""
        return {"type": "text", "text": self._filled(size, words), **more}

    def tool(self, name: str, *, swapped: bool = False, **more: Any) -> Block:
        """A tool of 200; `swapped` has its two properties in the other order."""
        names = ("y", "x") if swapped else ("x", "y")
        properties = {part: {"type": "string"} for part in names}
        schema = {"type": "object", "properties": properties}
        words = self._filled(200, f"tool {name}")
        return {"name": name, "description": words, "input_schema": schema, **more}

    def base(self, **changes: Any) -> Request:
        """Tools a and b, system 300, user 100, a marker at the end of each."""
        request = {
            "model": self.model,
            "max_tokens": 1,
            "tools": [self.tool("a"), self.tool("b", cache_control=MARK)],
            "system": [self.text(300, "rules", cache_control=MARK)],
            "messages": [user(self.text(100, "question", cache_control=MARK))],
        }
        return {**request, **changes}

    def bare(self, *blocks: Block, turns: Sequence[Mapping[str, Any]] = ()) -> Request:
        """Messages alone."""
        messages = [user(*blocks), *turns]
        return {"model": self.model, "max_tokens": 1, "messages": messages}

    def _filled(self, size: int, words: str) -> str:
        head = f"{self.salt} {words}:"
        wanted = int(size / 100 * self.minimum * SPARE)
        return head + " word" * max(0, wanted - tokens.count(head))


def user(*blocks: Block) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": list(blocks)}


def pairs(model: str, other_model: str, salt: str, *, slow: bool = True) -> list[Pair]:
    """Every pair that the model can be sent, in the facts' order.

    `other_model` is what row 6 switches to; without `slow` the pairs that wait are left out.

    Raises:
        InvalidRequest: 404, a model that the dated table does not know.
    """
    rules = rules_for(model)
    rules_for(other_model)
    chosen = []
    for name, made in _PAIRS.items():
        if name.startswith("5 ") and not rules.forced_tool_choice:
            continue
        if name.startswith("12") and not rules.tool_search:
            continue
        parts = Parts(model, f"{salt} {name}", rules.minimum_tokens)
        first, second, *wait = made(parts, other_model)
        chosen.append(Pair(name, first, second, *wait))
    return [pair for pair in chosen if slow or not pair.wait]


def _identical(parts: Parts, _other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base()


def _turned_round(parts: Parts, _other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base(tools=[parts.tool("b"), parts.tool("a", cache_control=MARK)])


def _keys_swapped(parts: Parts, _other: str) -> tuple[Any, ...]:
    tools = [parts.tool("a", swapped=True), parts.tool("b", cache_control=MARK)]
    return parts.base(), parts.base(tools=tools)


def _timestamp(parts: Parts, _other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base(system=[parts.text(300, "rules, later", cache_control=MARK)])


def _timestamp_one_marker(parts: Parts, _other: str) -> tuple[Any, ...]:
    tools = [parts.tool("a"), parts.tool("b")]
    return tuple(parts.base(tools=tools, system=[parts.text(300, f"day {day}")]) for day in (1, 2))


def _reconnect(parts: Parts, _other: str) -> tuple[Any, ...]:
    first = [parts.tool("mcp__s__a"), parts.tool("b", cache_control=MARK)]
    second = [parts.tool("b"), parts.tool("mcp__s__a", cache_control=MARK)]
    return parts.base(tools=first), parts.base(tools=second)


def _calls(count: int, parts: Parts) -> tuple[Any, ...]:
    blocks = [parts.text(100, f"block {number}") for number in range(10)]
    first = [*blocks[:9], {**blocks[9], "cache_control": MARK}]
    turns: list[dict[str, Any]] = []
    for number in range(count):
        called = f"toolu_{number:04d}"
        call = {"type": "tool_use", "id": called, "name": "a", "input": {}}
        turns.append({"role": "assistant", "content": [call]})
        turns.append(user({"type": "tool_result", "tool_use_id": called, "content": "ok"}))
    turns[-1]["content"][-1]["cache_control"] = MARK
    tools = [parts.tool("a")]
    warm, then = parts.bare(*first), parts.bare(*blocks, turns=turns)
    return {**warm, "tools": tools}, {**then, "tools": tools}


def _forced(parts: Parts, _other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base(tool_choice={"type": "tool", "name": "a"})


def _other_model(parts: Parts, other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base(model=other)


def _small(parts: Parts, _other: str) -> tuple[Any, ...]:
    request = parts.bare(parts.text(40, cache_control=MARK))
    return request, request


def _five_markers(parts: Parts, _other: str) -> tuple[Any, ...]:
    blocks = [parts.text(10, str(number), cache_control=MARK) for number in range(3)]
    return None, parts.base(messages=[user(*blocks)])


def _empty_text(parts: Parts, _other: str) -> tuple[Any, ...]:
    empty = {"type": "text", "text": "", "cache_control": MARK}
    return None, parts.base(messages=[user(parts.text(10), empty)])


def _hour_behind(parts: Parts, _other: str) -> tuple[Any, ...]:
    return None, parts.base(system=[parts.text(300, cache_control=HOUR)])


def _after_400_s(parts: Parts, _other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base(), 400.0


def _hour_after_400_s(parts: Parts, _other: str) -> tuple[Any, ...]:
    request = parts.base(
        tools=[parts.tool("a"), parts.tool("b", cache_control=HOUR)],
        system=[parts.text(300, "rules", cache_control=HOUR)],
    )
    return request, request, 400.0


def _deferred_marked(parts: Parts, _other: str) -> tuple[Any, ...]:
    both = parts.tool("c", defer_loading=True, cache_control=MARK)
    return None, parts.base(tools=[parts.tool("a"), both])


def _deferred(parts: Parts, _other: str) -> tuple[Any, ...]:
    base = parts.base()
    return base, parts.base(tools=[*base["tools"], parts.tool("c", defer_loading=True)])


def _dated(parts: Parts, *, marked: int) -> tuple[Any, ...]:
    def request(day: int) -> Request:
        system = [parts.text(300, "stable"), parts.text(20, f"day {day}")]
        system[marked]["cache_control"] = MARK
        return {**parts.bare(parts.text(100, "question")), "system": system}

    return request(1), request(2)


def _edited(parts: Parts, _other: str) -> tuple[Any, ...]:
    return parts.base(), parts.base(messages=[user(parts.text(100, "other", cache_control=MARK))])


def _core_kept(parts: Parts, _other: str) -> tuple[Any, ...]:
    core = [parts.tool("a"), parts.tool("b", cache_control=MARK)]
    return parts.base(tools=core), parts.base(tools=[*core, parts.tool("c")])


_PAIRS: Mapping[str, Any] = {
    "0 identical": _identical,
    "1 tools turned round": _turned_round,
    "1 keys swapped in a schema": _keys_swapped,
    "2 timestamp in system": _timestamp,
    "2 the same, one marker": _timestamp_one_marker,
    "3 a server's tools move": _reconnect,
    "4 nine calls in sequence": lambda parts, _: _calls(9, parts),
    "4 ten calls in sequence": lambda parts, _: _calls(10, parts),
    "5 forced tool_choice": _forced,
    "6 model switch": _other_model,
    "7 below the minimum": _small,
    "8 five markers": _five_markers,
    "9 marker on empty text": _empty_text,
    "10 1h behind 5m": _hour_behind,
    "11 after 400 s": _after_400_s,
    "11 after 400 s, 1h": _hour_after_400_s,
    "12 deferred and marked": _deferred_marked,
    "12 deferred tool appended": _deferred,
    "13 date marked": lambda parts, _: _dated(parts, marked=1),
    "13 stable block marked": lambda parts, _: _dated(parts, marked=0),
    "14 user block edited": _edited,
    "open: tool behind a marked core": _core_kept,
}
"""Name, by the facts' row → what makes the two requests; the last is §1's open question."""
