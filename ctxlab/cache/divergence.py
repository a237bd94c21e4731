"""The earliest place where two requests part, in provider order: model, tools, system, messages.

The two bodies are compared as they go over the wire, block by block and only up to the place. What
that loses in tokens is another question (`ctxlab.cache.loss`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat, takewhile, zip_longest
from typing import Any

from ctxlab.cache.head import MESSAGES, SYSTEM, TOOLS, parameters_of
from ctxlab.cache.places import Body, Placed, Spot, in_array, inside, spots, system_blocks, tools_of
from ctxlab.cache.rules import SEGMENTS, Rules, model_id
from ctxlab.cache.turns import shown
from ctxlab.cache.wire import cites, encode, images_of, normal, normal_tool, references_of


@dataclass(frozen=True)
class Divergence:
    """Where two requests part."""

    segment: int
    """The first segment that is lost, -1 for the model: everything is."""
    block: int
    """The first block of it that is lost; -1 where a parameter loses it from its start."""
    path: str
    """JSON pointer in the request that came after, or before where it is no longer there."""
    kind: str
    before: Any = None
    after: Any = None
    semantic: bool = True
    parameter: str | None = None
    message: int | None = None
    tool: str | None = None
    shared_ends: tuple[int, int] = (0, 0)
    """How many tools the arrays share at their beginnings and at their ends."""


def diverge(before: Body, after: Body, rules: Rules) -> Divergence | None:
    """The earliest divergence; None where the second request only appends, or is cut short."""
    models = before["model"], after["model"]
    if model_id(models[0]) != model_id(models[1]):
        return Divergence(-1, -1, "/model", "edited", *models, parameter="model")
    found = chain(
        _parameters(before, after, rules),
        _tools(before, after, rules),
        _web_tools(before, after),
        _system(before, after),
        _messages(before, after, rules),
    )
    return min(found, key=lambda place: (place.segment, place.block), default=None)


def _parameters(before: Body, after: Body, rules: Rules) -> Iterator[Divergence]:
    was, now = parameters_of(before), parameters_of(after)
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            segment = SEGMENTS.index(rules.loses(name))
            values = before.get(name), after.get(name)
            yield Divergence(segment, -1, f"/{name}", "edited", *values, parameter=name)


def _tools(before: Body, after: Body, rules: Rules) -> Iterator[Divergence]:
    if _same_tools(before, after):
        return
    was, now = tools_of(before), tools_of(after)
    old, new = [*map(_tool_data, was)], [*map(_tool_data, now)]
    index = _first_difference(old, new)
    if index is not None:
        first = index if rules.tool_entries_survive_later_changes else 0
        rest = zip(reversed(old[index:]), reversed(new[index:]), strict=False)
        tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
        yield Divergence(TOOLS, first, **in_array(was, now, index), shared_ends=(index, tail))


def _same_tools(before: Body, after: Body) -> bool:
    """A short cut for most pairs: the arrays are the same to the byte."""
    was, now = ({"tools": body.get("tools")} for body in (before, after))
    return encode(was, ()) == encode(now, ())


def _web_tools(before: Body, after: Body) -> Iterator[Divergence]:
    if _same_tools(before, after):
        return
    was, now = tools_of(before, web=True), tools_of(after, web=True)
    index = _first_difference(map(_tool_data, was), map(_tool_data, now))
    if index is not None:
        yield Divergence(SYSTEM, index, **in_array(was, now, index), parameter="web_tools")


def _system(before: Body, after: Body) -> Iterator[Divergence]:
    old, new = system_blocks(before), system_blocks(after)
    index = _first_difference(map(_system_data, old), map(_system_data, new))
    if index is not None:
        place = "/system" if isinstance(after.get("system"), str) else f"/system/{index}"
        left, right = (blocks[index] if index < len(blocks) else None for blocks in (old, new))
        first = len(tools_of(before, web=True))
        yield Divergence(SYSTEM, first + index, **inside(left, right, place))


def _messages(before: Body, after: Body, rules: Rules) -> Iterator[Divergence]:
    old, new = shown(before["messages"]), shown(after["messages"])
    was, now = (
        [encode(message, ("messages", number)) for number, message in enumerate(messages)]
        for messages in (old, new)
    )
    yield from _redefined(before, after)
    sent = b"".join([*was, *now])
    for name, (sign, amount) in _SWITCHES.items():
        if sign in sent:
            yield from _switched(name, _amounts(old, amount), _amounts(new, amount), rules)
    same = _first_difference(was, now)
    if same is None or same in (len(was), len(now)):
        return
    index = sum(1 for _ in spots(old[:same]))
    left, right = spots(old[same:], same), spots(new[same:], same)
    for block, (one, other) in enumerate(zip(left, right, strict=False), index):
        if one.data != other.data:
            yield Divergence(
                MESSAGES, block, **_edit(one, other, next(left, None), next(right, None))
            )
            return


def _edit(old: Spot, new: Spot, after_old: Spot | None, after_new: Spot | None) -> Any:
    """What happened to a block: a neighbour that fits says that one came or went."""
    if after_new is not None and old.data == after_new.data:
        place: Any = {"path": new.path, "kind": "added", "after": new.block}
    elif after_old is not None and after_old.data == new.data:
        place = {"path": new.path, "kind": "removed", "before": old.block}
    else:
        place = inside(old.block, new.block, new.path)
    return {**place, "message": new.message}


def _cited(block: Body) -> int:
    return cites(encode(block, ()))


_SWITCHES = {"images": (b'"image"', images_of), "citations": (b'"citations"', _cited)}
"""Parameters that stand in blocks: a sign in the bytes, and how much of it a block has."""


def _amounts(messages: Sequence[Body], amount: Any) -> list[tuple[Spot, int]]:
    return [(spot, amount(spot.block)) for spot in spots(messages)]


def _switched(
    name: str, was: list[tuple[Spot, int]], now: list[tuple[Spot, int]], rules: Rules
) -> Iterator[Divergence]:
    """Images or citations that came or went: they lose what stands far before them."""
    old, new = (sum(amount for _, amount in amounts) for amounts in (was, now))
    if name == "citations":
        old, new = min(old, 1), min(new, 1)
    if old == new:
        return
    more, fewer = (now, was) if new > old else (was, now)
    spot = next(
        one
        for (one, amount), other in zip(more, chain(fewer, repeat(None)), strict=False)
        if amount and (other is None or other[0].data != one.data)
    )
    yield Divergence(
        SEGMENTS.index(rules.loses(name)),
        -1,
        spot.path,
        "added" if new > old else "removed",
        old,
        new,
        parameter=name,
        message=spot.message,
    )


def _redefined(before: Body, after: Body) -> Iterator[Divergence]:
    """A deferred tool that was found and has changed since: lost from its first reference on."""
    was, now = _deferred(before), _deferred(after)
    changed = {name for name in was.keys() & now.keys() if was[name] != now[name]}
    for block, spot in enumerate(spots(before["messages"]) if changed else ()):
        names = [name for name in references_of(spot.block) if name in changed]
        if names:
            defined = [tool.get("name") for tool in after["tools"]]
            place = f"/tools/{defined.index(names[0])}"
            yield Divergence(MESSAGES, block, place, "edited", parameter="deferred", tool=names[0])
            return


def _first_difference(old: Iterable[bytes], new: Iterable[bytes]) -> int | None:
    pairs = enumerate(zip_longest(old, new))
    return next((index for index, (left, right) in pairs if left != right), None)


def _tool_data(placed: Placed) -> bytes:
    return normal_tool(placed[1], ("tools", placed[0]))[0]


def _system_data(block: Body) -> bytes:
    return normal(b"S", block, ("system",))[0]


def _deferred(body: Body) -> dict[str, bytes]:
    tools = enumerate(body.get("tools") or ())
    return {
        str(tool.get("name")): _tool_data((number, tool))
        for number, tool in tools
        if tool.get("defer_loading")
    }
