"""What a scan of a part of a file finds: small rows that travel between processes and are merged.

A response is repeated by as many rows as it has blocks, and by every file that was copied from
another. All of them are one request: merging is associative and does not ask for an order, so it
does not matter how the rows were divided over parts, files and processes.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ctxlab.sessions.reading.usage import MOST, tokens

Place = tuple[int, int, int]
"""One line: its number in the file, counted from 1, its offset and its length in bytes."""


class Talk(NamedTuple):
    """A request body in digests of eight bytes: enough to see which one goes on from which."""

    tools: bytes
    system: bytes
    messages: bytes
    """One digest after the other."""


class Found(NamedTuple):
    """One request, as far as a part of a file tells it."""

    id: str
    request_id: str
    model: str
    usage: dict[str, Any]
    time: float | None
    places: tuple[Place, ...]
    base: str = ""
    """An agent's name; empty where the row names none."""
    side: str = ""
    """The row's uuid in an old transcript's inline sidechain, which names no agent."""
    foreign: bool = False
    """The row says that it comes from another session than its file."""
    details: Mapping[str, Any] | None = None
    """Fields of an `Exchange` that only a request log has."""
    talk: Talk | None = None
    """What its body says of its conversation."""


class Compaction(NamedTuple):
    """The history of a stream was compacted here."""

    base: str
    side: str = ""


class Side(NamedTuple):
    """A row of an inline sidechain: which row it answers."""

    uuid: str
    parent: str


Item = Found | Compaction | Side


class Tally:
    """Reasons and how often each was met, with the line of the first."""

    def __init__(self) -> None:
        self.reasons: dict[str, tuple[int, int]] = {}

    def add(self, reason: str, number: int, count: int = 1) -> None:
        """Count rows from the line `number` on."""
        so_far, first = self.reasons.get(reason, (0, number))
        self.reasons[reason] = (so_far + count, min(first, number))

    def join(self, other: Tally, before: int = 0) -> None:
        """Take in the reasons of a part that begins after the line `before`."""
        for reason, (count, first) in other.reasons.items():
            self.add(reason, first + before, count)


@dataclass
class Part:
    """A part of a file: what was found, in the order of the file."""

    lines: int = 0
    items: list[Item] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    failed: str = ""
    """Why the file could not be read."""


def joined(parts: list[Part]) -> Part:
    """The parts of one file as one, with line numbers of the file."""
    whole = Part()
    for part in parts:
        whole.items += (moved(item, whole.lines) for item in part.items)
        whole.tally.join(part.tally, whole.lines)
        whole.lines += part.lines
        whole.failed = whole.failed or part.failed
    return whole


def moved(item: Item, before: int) -> Item:
    """The item with its line numbers counted from `before` lines further up."""
    if not before or not isinstance(item, Found):
        return item
    places = tuple((line + before, offset, length) for line, offset, length in item.places)
    return item._replace(places=places)


def packed(part: Part) -> bytes:
    """A part as bytes for another process of the same Python, in half the time of a pickle."""
    items = [(type(item).__name__, *_plain(item)) for item in part.items]
    return marshal.dumps((part.lines, items, part.tally.reasons, part.failed))


def unpacked(raw: bytes) -> Part:
    """The part that these bytes are."""
    lines, items, reasons, failed = marshal.loads(raw)  # noqa: S302  our own process wrote them
    tally = Tally()
    tally.reasons = reasons
    return Part(lines, [_unpacked(*item) for item in items], tally, failed)


def _plain(item: Item) -> tuple[Any, ...]:
    if not isinstance(item, Found):
        return tuple(item)
    return (*item[:-1], item.talk and tuple(item.talk))


def _unpacked(kind: str, *fields: Any) -> Item:
    if kind == "Found":
        return Found._make((*fields[:-1], fields[-1] and Talk(*fields[-1])))
    return Compaction(*fields) if kind == "Compaction" else Side(*fields)


def merged(one: Found, other: Found) -> Found:
    """Two accounts of one request, the first where it was met first: the largest usage is the last.

    While an answer streams, its rows tell an output that grows; only the last one is whole.
    """
    usage, model = one.usage, one.model
    if (other.usage != usage or other.model != model) and _is_larger(other, one):
        usage, model = other.usage, other.model
    time = one.time if other.time is None else other.time
    if one.time is not None and time is not None:
        time = min(one.time, time)
    return Found(
        one.id,
        max(one.request_id, other.request_id),
        model,
        usage,
        time,
        one.places + other.places,
        one.base,
        one.side,
        one.foreign,
        one.details,
        one.talk,
    )


def _is_larger(one: Found, other: Found) -> bool:
    """Whether it tells more tokens; between equals something decides that is no order of rows."""
    output, before = one.usage.get("output_tokens"), other.usage.get("output_tokens")
    if (
        type(output) is type(before) is int
        and 0 <= min(output, before) != max(output, before) <= MOST
    ):
        return output > before  # told at a glance
    mine, its = tokens(one.usage), tokens(other.usage)
    return mine > its or (mine == its and _spelled(one) > _spelled(other))


def _spelled(found: Found) -> tuple[str, str]:
    return found.model, repr(sorted(found.usage.items(), key=str))


def requests(items: list[Item]) -> Iterator[Found]:
    """The requests among the items."""
    return (item for item in items if isinstance(item, Found))
