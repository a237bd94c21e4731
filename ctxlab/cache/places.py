"""Places in two request bodies: which blocks stand where, and what happened at one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxlab.cache.head import is_web_tool
from ctxlab.cache.turns import TAGS
from ctxlab.cache.wire import normal, without_markers
from ctxlab.prefix.differences import differences

Body = Mapping[str, Any]
Placed = tuple[int, Body]
"""A tool and its index in `tools`."""


class Spot(NamedTuple):
    """A block of the messages and where it stands."""

    message: int
    path: str
    tag: bytes
    block: Body

    @property
    def data(self) -> bytes:
        """The bytes that stand for it."""
        return normal(self.tag, self.block, ())[0]


def in_array(before: list[Placed], after: list[Placed], index: int) -> Any:
    """Where two arrays of tools part: the pointer, what happened there and to which tool."""
    was, old = before[index] if index < len(before) else (None, None)
    place, new = after[index] if index < len(after) else (None, None)
    at = f"/tools/{was if place is None else place}"
    if old is not None and new is not None and old.get("name") == new.get("name"):
        return {**inside(old, new, at), "tool": old.get("name")}
    old_names, new_names = ([tool.get("name") for _, tool in row] for row in (before, after))
    if new is not None and new.get("name") not in old_names:
        if old is not None and old.get("name") not in new_names and _same_but_name(old, new):
            names = {"before": old.get("name"), "after": new.get("name")}
            return {"path": f"{at}/name", "kind": "renamed", "tool": old.get("name"), **names}
        return {"path": at, "kind": "added", "after": new, "tool": new.get("name")}
    if old is not None and old.get("name") not in new_names:
        return {"path": at, "kind": "removed", "before": old, "tool": old.get("name")}
    moved = (old if new is None else new) or {}
    return {"path": at, "kind": "moved", "before": was, "after": place, "tool": moved.get("name")}


def _same_but_name(old: Body, new: Body) -> bool:
    return bool({**bare(old), "name": ""} == {**bare(new), "name": ""})


def inside(old: Body | None, new: Body | None, at: str) -> Any:
    """The first difference inside a block that stands in both requests."""
    if old is None or new is None:
        kind = "removed" if new is None else "added"
        return {"path": at, "kind": kind, "before": old, "after": new}
    old, new = bare(old), bare(new)
    found = [*differences(old, new, "tool" if "input_schema" in new else None)]
    if not found:
        return {"path": at, "kind": "reserialized", "semantic": False}
    first = next((one for one in found if one.semantic), found[0])
    short = at == "/system" or (at.endswith("/content") and first.pointer == "/text")
    return {
        "path": at if short else at + first.pointer,  # text written short, as a string
        "kind": "edited" if first.semantic else "reserialized",
        "before": first.before,
        "after": first.after,
        "semantic": first.semantic,
    }


def bare(block: Body) -> dict[str, Any]:
    """A block or a tool as it is hashed: without markers, deferred or not."""
    kept = without_markers(block)
    return {key: value for key, value in kept.items() if key != "defer_loading"}


def tools_of(body: Body, *, web: bool = False) -> list[Placed]:
    """The tools that stand in the prefix, with their places: ordinary ones or web tools."""
    tools = enumerate(body.get("tools") or ())
    return [
        (number, tool)
        for number, tool in tools
        if not tool.get("defer_loading") and is_web_tool(tool) == web
    ]


def spots(messages: Sequence[Body], first: int = 0) -> Iterator[Spot]:
    """The blocks of messages, in order; `first` is the index of the first message."""
    for number, message in enumerate(messages, first):
        tag, content = TAGS[message["role"]], message["content"]
        path = f"/messages/{number}/content"
        if isinstance(content, str):
            yield Spot(number, path, tag, {"type": "text", "text": content})
        else:
            for index, block in enumerate(content):
                yield Spot(number, f"{path}/{index}", tag, block)


def system_blocks(body: Body) -> list[Body]:
    """The blocks of the system prompt."""
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else list(system)
