"""What changed between two tool arrays, tool by tool.

>>> base = [{"name": "read"}, {"name": "grep"}, {"name": "post"}]
>>> for change in compare_tools(base, [{"name": "new", "n": 1}, base[0], base[2]]):
...     print(change)
added new
removed grep
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ctxlab.errors import InputError
from ctxlab.excerpt import differing
from ctxlab.masking import masked
from ctxlab.prefix.align import Pair, align
from ctxlab.prefix.canonical import encode_raw
from ctxlab.prefix.chain import listed
from ctxlab.prefix.differences import MARKER, common_place, differences
from ctxlab.prefix.naming import unique_names

Kind = Literal["added", "removed", "renamed", "moved", "edited", "reserialized"]

_SHOWN = 60  # characters of a value in one line for people


@dataclass(frozen=True)
class ToolChange:
    """One change of one tool.

    What `before` and `after` hold: the tool (added, removed), the names (renamed), the indexes in
    the two arrays (moved), the values at the pointer (edited, reserialized); None where there is
    nothing. They are the caller's own objects.
    """

    kind: Kind
    """`reserialized` is equal in meaning and other bytes as sent: key order, `required` order, `1`
    against `1.0`; once a tool, at the deepest place that holds all of it."""
    tool: str
    """Its name, of a renamed tool the name before."""
    pointer: str
    """JSON pointer (RFC 6901) inside the tool; empty for the whole tool."""
    before: Any
    after: Any
    semantic: bool
    """False where a model is told the same: `reserialized`, and an edited `cache_control`."""

    def __str__(self) -> str:
        if self.kind in ("added", "removed"):
            return f"{self.kind} {self.tool}"
        place = f" {self.pointer}" if self.kind in ("edited", "reserialized") else ""
        # Masked before they are cut: a part of a secret is recognised by nobody.
        old, new = (masked(encode_raw(value)) for value in (self.before, self.after))
        before, after = differing(old, new, _SHOWN)
        return f"{self.kind} {self.tool}{place}: {before} → {after}"


def compare_tools(
    before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]
) -> list[ToolChange]:
    """What changed from `before` to `after`, in provider order.

    Provider order is the order of `after`, with removed tools where they stood; the changes of one
    tool follow as renamed, moved, edited (in the tool's own order), reserialized. As few tools as
    possible are said to have moved, and none only because others came or went before it. A tool is
    renamed, not removed and added, when it is the same but for its name, in its texts as well
    (`ctxlab.prefix.align`). Edits are told at the deepest place; an array of another length or
    order, and `required`, at the array. The list is empty exactly when the same bytes are sent.

    Raises:
        InputError: something is no tool or not JSON, or a name is used twice in one array.
    """
    old, new = _read(before, "before"), _read(after, "after")
    try:
        pairs = align(old.tools, new.tools, old.names, new.names)
        return [change for pair in pairs for change in _changes(pair, old, new)]
    except RecursionError:
        raise InputError("the tools are nested too deep to be compared") from None


class _Array(NamedTuple):
    tools: tuple[dict[str, Any], ...]
    names: list[str]
    texts: list[str]
    """As they would be sent."""


def _read(tools: Sequence[dict[str, Any]], which: str) -> _Array:
    placed = [(f"/{which}/{index}", tool) for index, tool in enumerate(listed(tools, which))]
    names = unique_names(placed)
    texts = [encode_raw(tool, place) for place, tool in placed]
    return _Array(tuple(tool for _, tool in placed), names, texts)


def _changes(pair: Pair, old: _Array, new: _Array) -> Iterator[ToolChange]:
    if pair.before is None:
        assert pair.after is not None
        yield ToolChange("added", new.names[pair.after], "", None, new.tools[pair.after], True)
        return
    name, tool = old.names[pair.before], old.tools[pair.before]
    if pair.after is None:
        yield ToolChange("removed", name, "", tool, None, True)
        return
    if name != new.names[pair.after]:
        yield ToolChange("renamed", name, "/name", name, new.names[pair.after], True)
    if pair.moved:
        yield ToolChange("moved", name, "", pair.before, pair.after, True)
    if old.texts[pair.before] != new.texts[pair.after]:
        yield from _inside(name, tool, new.tools[pair.after])


def _inside(name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[ToolChange]:
    other_bytes = []
    for found in differences(before, after):
        if found.pointer == "/name":
            continue  # told as renamed
        if found.semantic or found.pointer == f"/{MARKER}":
            yield ToolChange("edited", name, *found)
        else:
            other_bytes.append(found)
    if other_bytes:
        yield ToolChange("reserialized", name, *common_place(other_bytes, before, after))
