"""The earliest place where two requests part, in provider order: model, tools, system, messages.

Works on laid-out requests, whose chains agree up to the place and nowhere behind it, so finding it
takes no time; the pointer inside the block is then looked up in the two bodies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain as joined
from typing import Any

from ctxlab.cache.blocks import without_markers
from ctxlab.cache.chain import Chain
from ctxlab.cache.head import MESSAGES, SYSTEM, TOOLS
from ctxlab.cache.layout import Layout
from ctxlab.cache.rules import SEGMENTS
from ctxlab.prefix.differences import differences

Body = Mapping[str, Any]
_WEB_TOOLS = ("web_search", "web_fetch")


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


def diverge(old: Layout, new: Layout, before: Body, after: Body) -> Divergence | None:
    """The earliest divergence; None where the second request only appends, or is cut short.

    Args:
        old: the first request, laid out.
        new: the second, with the same rules.
        before: the first body.
        after: the second.
    """
    if old.head.model != new.head.model:
        models = (before["model"], after["model"])
        return Divergence(-1, -1, "/model", "edited", *models, parameter="model")
    found = joined(
        _parameters(old, new, before, after),
        _tools(old, new, before, after),
        _system(old, new, before, after),
        _messages(old, new, before, after),
    )
    return min(found, key=lambda place: (place.segment, place.block), default=None)


def first_difference(old: Chain, new: Chain, *, whole: bool) -> int | None:
    """The first block that differs; `whole` says that a block more or less differs too."""
    low, high = 0, min(old.length, new.length)
    if high and old.keys[high - 1] == new.keys[high - 1]:
        low = high
    while low < high:  # keys agree up to the place and nowhere behind it
        middle = (low + high) // 2
        if old.keys[middle] == new.keys[middle]:
            low = middle + 1
        else:
            high = middle
    if low < min(old.length, new.length):
        return low
    return low if whole and old.length != new.length else None


def _parameters(old: Layout, new: Layout, before: Body, after: Body) -> Iterator[Divergence]:
    for name in sorted(old.head.parameters.keys() | new.head.parameters.keys()):
        if old.head.parameters.get(name) != new.head.parameters.get(name):
            segment = SEGMENTS.index(old.rules.loses(name))
            values = (before.get(name), after.get(name))
            yield Divergence(segment, -1, f"/{name}", "edited", *values, parameter=name)
    for name, was, now in (
        ("citations", old.messages.cited, new.messages.cited),
        ("images", old.messages.images, new.messages.images),
    ):
        if was != now:
            segment = SEGMENTS.index(old.rules.loses(name))
            longer, body = (new, after) if now > was else (old, before)
            message, path = _place(body, _first_of(name, longer, old, new))
            kind = "added" if now > was else "removed"
            yield Divergence(segment, -1, path, kind, was, now, parameter=name, message=message)


def _first_of(name: str, layout: Layout, old: Layout, new: Layout) -> int:
    """The block that brought the image or the citations in."""
    shared = first_difference(old.messages, new.messages, whole=True) or 0
    blocks = layout.messages.blocks
    has = [block.images if name == "images" else block.cited for block in blocks]
    later = [index for index in range(shared, len(has)) if has[index]]
    return later[0] if later else has.index(max(has))


def _tools(old: Layout, new: Layout, before: Body, after: Body) -> Iterator[Divergence]:
    index = first_difference(old.head.tools, new.head.tools, whole=True)
    if index is None:
        return
    survive = old.rules.tool_entries_survive_later_changes
    place = _in_array(ordinary(before), ordinary(after), index)
    yield Divergence(TOOLS, index if survive else 0, **place)


def _system(old: Layout, new: Layout, before: Body, after: Body) -> Iterator[Divergence]:
    index = first_difference(old.head.system, new.head.system, whole=True)
    if index is None:
        return
    was, now = _web(before), _web(after)
    if index < max(len(was), len(now)) and was != now:
        yield Divergence(SYSTEM, index, **_in_array(was, now, index), parameter="web_tools")
        return
    number = index - len(now)
    old_block, new_block = (
        blocks[number] if number < len(blocks) else None
        for blocks in (_system_blocks(before), _system_blocks(after))
    )
    pointer = "/system" if isinstance(after.get("system"), str) else f"/system/{number}"
    yield Divergence(SYSTEM, index, **_inside(old_block, new_block, pointer))


def _messages(old: Layout, new: Layout, before: Body, after: Body) -> Iterator[Divergence]:
    index = first_difference(old.messages, new.messages, whole=False)
    if index is None:
        return
    old_block, new_block = _block(before, index), _block(after, index)
    message, pointer = _place(after, index)
    place = _inside(old_block, new_block, pointer)
    was, now = (layout.messages.blocks for layout in (old, new))
    if was[index].digest == now[index].digest:  # the same reference to another definition
        yield _redefined(old, new, after, index)
        return
    if now[index + 1 : index + 2] and was[index].digest == now[index + 1].digest:
        place = {"path": pointer, "kind": "added", "after": new_block}
    elif was[index + 1 : index + 2] and was[index + 1].digest == now[index].digest:
        place = {"path": pointer, "kind": "removed", "before": old_block}
    yield Divergence(MESSAGES, index, **place, message=message)


def _redefined(old: Layout, new: Layout, after: Body, index: int) -> Divergence:
    names = [str(tool.get("name")) for tool in after.get("tools") or ()]
    references = new.messages.blocks[index].references
    moved = [
        name for name in references if old.head.deferred.get(name) != new.head.deferred.get(name)
    ]
    name = (moved or list(references))[0]
    path = f"/tools/{names.index(name)}" if name in names else "/tools"
    return Divergence(MESSAGES, index, path, "edited", parameter="deferred", tool=name)


def _in_array(before: list[tuple[int, Body]], after: list[tuple[int, Body]], index: int) -> Any:
    """Where two arrays of tools part: the pointer, what happened there and to which tool."""
    place, new = after[index] if index < len(after) else (None, None)
    was, old = before[index] if index < len(before) else (None, None)
    pointer = f"/tools/{was if place is None else place}"
    if old is not None and new is not None and old.get("name") == new.get("name"):
        return {**_inside(old, new, pointer), "tool": old.get("name")}
    old_names, new_names = ([tool.get("name") for _, tool in row] for row in (before, after))
    if new is not None and new["name"] not in old_names:
        if old is not None and old["name"] not in new_names and _same_but_name(old, new):
            names = {"before": old["name"], "after": new["name"]}
            return {"path": f"{pointer}/name", "kind": "renamed", "tool": old["name"], **names}
        return {"path": pointer, "kind": "added", "after": new, "tool": new["name"]}
    if old is not None and old["name"] not in new_names:
        return {"path": pointer, "kind": "removed", "before": old, "tool": old["name"]}
    moved = new if new is not None else old
    assert moved is not None
    return {"path": pointer, "kind": "moved", "before": was, "after": place, "tool": moved["name"]}


def _same_but_name(old: Body, new: Body) -> bool:
    return bool({**bare(old), "name": ""} == {**bare(new), "name": ""})


def _inside(old: Any, new: Any, pointer: str) -> Any:
    """The first difference inside a block that stands in both requests."""
    if old is None or new is None:
        kind = "removed" if new is None else "added"
        return {"path": pointer, "kind": kind, "before": old, "after": new}
    old, new = bare(old), bare(new)
    found = [*differences(old, new, "tool" if "input_schema" in new else None)]
    if not found:
        return {"path": pointer, "kind": "reserialized", "semantic": False}
    first = next((one for one in found if one.semantic), found[0])
    kind = "edited" if first.semantic else "reserialized"
    if pointer == "/system" or (pointer.endswith("/content") and first.pointer == "/text"):
        at = pointer  # text written short, as a string
    else:
        at = pointer + first.pointer
    return {
        "path": at,
        "kind": kind,
        "before": first.before,
        "after": first.after,
        "semantic": first.semantic,
    }


def bare(block: Body) -> Any:
    """A block or a tool as it is hashed: without markers, deferred or not."""
    bare = without_markers(block)
    bare.pop("defer_loading", None)
    return bare


def ordinary(body: Body) -> list[tuple[int, Body]]:
    """The tools that stand in the segment `tools`, with their places in the array."""
    return [row for row in _kept(body) if not str(row[1].get("type", "")).startswith(_WEB_TOOLS)]


def _web(body: Body) -> list[tuple[int, Body]]:
    return [row for row in _kept(body) if str(row[1].get("type", "")).startswith(_WEB_TOOLS)]


def _kept(body: Body) -> list[tuple[int, Body]]:
    """Tools with their places, those that are deferred left out."""
    tools = enumerate(body.get("tools") or ())
    return [(number, tool) for number, tool in tools if not tool.get("defer_loading")]


def _system_blocks(body: Body) -> list[Body]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else list(system)


def _block(body: Body, index: int) -> Body | None:
    for _, _, block in _blocks(body):
        if index == 0:
            return block
        index -= 1
    return None


def _place(body: Body, index: int) -> tuple[int | None, str]:
    """The message that holds the block, and the block's pointer."""
    for number, inside, _ in _blocks(body):
        if index == 0:
            pointer = f"/messages/{number}/content"
            return number, pointer if inside is None else f"{pointer}/{inside}"
        index -= 1
    return None, "/messages"


def _blocks(body: Body) -> Iterator[tuple[int, int | None, Body]]:
    for number, message in enumerate(body["messages"]):
        content = message["content"]
        if isinstance(content, str):
            yield number, None, {"type": "text", "text": content}
        else:
            yield from ((number, inside, block) for inside, block in enumerate(content))
