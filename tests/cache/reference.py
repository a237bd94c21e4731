"""The rules of facts `prompt-cache` §1 once more: slowly, literally, and without hashes.

An entry is the whole content before it, compared as text. No code is shared with the product but
the exception; a difference between the two is a mistake in one of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

SECONDS = {"5m": 300, "1h": 3600}
RUNS = ("tool_use", "tool_result")


@dataclass
class Slot:
    """A block in the one flat sequence."""

    segment: str
    kind: str
    text: str
    tokens: int
    ttl: str | None


@dataclass
class Entry:
    prefix: str
    expires: float
    lifetime: float


class Reference:
    """A prompt cache in the words of the facts."""

    def __init__(self, minimum: int, count: Any, **switches: Any) -> None:
        self.minimum, self.count = minimum, count
        self.survive = switches.get("tool_entries_survive_later_changes", True)
        self.lookback = switches.get("lookback_positions", 20)
        self.into_tools = switches.get("lookback_into_tools", "per_tool")
        self.entries: list[Entry] = []

    def send(self, request: dict[str, Any], now: float) -> tuple[int, int, int, int, int]:
        """Read, written for 5 minutes, written for an hour, uncached, total."""
        slots = self.slots(request)
        total = sum(slot.tokens for slot in slots)
        marked = [index for index, slot in enumerate(slots) if slot.ttl]
        hit = self.find(request, slots, marked, now)
        read = 0 if hit is None else self.upto(slots, hit)
        if hit is not None:
            self.touch(self.prefix(request, slots, hit), now)
        eligible = [index for index in marked if self.upto(slots, index) >= self.minimum]
        hour = [self.upto(slots, index) for index in eligible if slots[index].ttl == "1h"]
        hour_end = max([read, *hour])
        end = max([read, *(self.upto(slots, index) for index in eligible)])
        for index in eligible:
            prefix = self.prefix(request, slots, index)
            if not self.touch(prefix, now):
                lifetime = SECONDS[str(slots[index].ttl)]
                self.entries.append(Entry(prefix, now + lifetime, lifetime))
        return read, end - hour_end, hour_end - read, total - end, total

    def find(
        self, request: dict[str, Any], slots: list[Slot], marked: list[int], now: float
    ) -> int | None:
        alive = {entry.prefix for entry in self.entries if now < entry.expires}
        for breakpoint_ in reversed(marked):
            for position in self.positions(slots, breakpoint_)[: self.lookback]:
                for index in position:
                    if self.prefix(request, slots, index) in alive:
                        return index
        return None

    def positions(self, slots: list[Slot], last: int) -> list[list[int]]:
        """Blocks from the breakpoint backwards, a run of calls or of results as one position."""
        found: list[list[int]] = []
        for index in range(last, -1, -1):
            slot = slots[index]
            from_behind = slots[last].segment != "tools" and slot.segment == "tools"
            if from_behind and self.into_tools == "never":
                break
            before = slots[found[-1][-1]] if found else None
            joined = before is not None and (
                (slot.kind in RUNS and slot.kind == before.kind and slot.segment == before.segment)
                or (from_behind and self.into_tools == "one_position" and before.segment == "tools")
            )
            if joined:
                found[-1].append(index)
            else:
                found.append([index])
        return found

    def prefix(self, request: dict[str, Any], slots: list[Slot], index: int) -> str:
        """Everything up to the block, and the parameters that its segment hangs on."""
        parts = [request["model"]]
        if not self.survive:
            parts += [slot.text for slot in slots if slot.segment == "tools"]
        parts += [slot.segment + slot.text for slot in slots[: index + 1]]
        if slots[index].segment in ("system", "messages"):
            parts.append("speed " + request.get("speed", "standard"))
        if slots[index].segment == "messages" and request.get("tools"):
            parts.append("choice " + json.dumps(request.get("tool_choice", {"type": "auto"})))
        # which segments are over belongs to the place as well
        return json.dumps([slots[index].segment, *parts])

    def touch(self, prefix: str, now: float) -> bool:
        alive = [one for one in self.entries if one.prefix == prefix and now < one.expires]
        for entry in alive:
            entry.expires = now + entry.lifetime
        return bool(alive)

    def slots(self, request: dict[str, Any]) -> list[Slot]:
        slots = [self.slot("tools", tool) for tool in request.get("tools", ())]
        slots += [self.slot("system", block) for block in request.get("system", ())]
        for message in request["messages"]:
            for block in message["content"]:
                slots.append(self.slot("messages", block, message["role"]))
        automatic = request.get("cache_control")
        if automatic and slots[-1].ttl is None:
            slots[-1].ttl = automatic.get("ttl", "5m")
        return slots

    def slot(self, segment: str, block: dict[str, Any], role: str = "") -> Slot:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        ttl = block.get("cache_control", {}).get("ttl", "5m") if "cache_control" in block else None
        kind = str(block.get("type", "tool"))
        return Slot(segment, kind, role + json.dumps(bare), self.count(bare), ttl)

    @staticmethod
    def upto(slots: list[Slot], index: int) -> int:
        return sum(slot.tokens for slot in slots[: index + 1])
