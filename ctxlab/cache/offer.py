"""Which tools the model is offered at a point of the conversation (facts `prompt-cache` §3).

`tools` stays untouched when a system message inside `messages` adds or removes one, and so does
everything the cache holds of it. Not handled here: MCP toolsets, whose tools a request does not
list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ctxlab.cache.rules import Rules
from ctxlab.cache.wire import Place, dotted
from ctxlab.errors import InvalidRequest

CHANGES_BETA = "mid-conversation-tool-changes-2026-07-01"
INLINE_BETA = "inline-tools-2026-09-15"


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools by name: those that are defined, and those of them that the model may call."""

    defined: frozenset[str] = frozenset()
    available: frozenset[str] = frozenset()

    def after(
        self, block: Mapping[str, Any], place: Place, rules: Rules, betas: frozenset[str] | None
    ) -> Offer:
        """The offer behind a `tool_addition` or `tool_removal`.

        Raises:
            InvalidRequest: with `tool_reference_unresolved`, `tool_name_conflict` or
                `available_tools_limit_exceeded`, or without a code where a beta is missing.
        """
        kind, tool = block["type"], block["tool"]
        inline = tool.get("type") == "tool_definition"
        _need_beta(f"{dotted(place)}: {kind}", betas, inline=inline)
        if kind == "tool_removal":
            name = self._referred(tool, place)
            return replace(self, available=self.available - {name})
        name = self._new(tool, place) if inline else self._referred(tool, place)
        offer = Offer(self.defined | {name}, self.available | {name})
        if len(offer.available) > rules.maximum_tools:
            raise InvalidRequest(
                f"{dotted(place)}: more than {rules.maximum_tools} tools are available",
                error_code="available_tools_limit_exceeded",
            )
        return offer

    def _referred(self, tool: Mapping[str, Any], place: Place) -> str:
        name = tool.get("name")
        if tool.get("type") != "tool_reference" or name not in self.defined:
            raise InvalidRequest(
                f"{dotted(place)}: tool '{name}' is not defined at this point",
                error_code="tool_reference_unresolved",
            )
        return str(name)

    def _new(self, tool: Mapping[str, Any], place: Place) -> str:
        name = str((tool.get("definition") or {}).get("name"))
        if name in self.available:
            raise InvalidRequest(
                f"{dotted(place)}: a tool named '{name}' is available already",
                error_code="tool_name_conflict",
            )
        return name


def _need_beta(what: str, betas: frozenset[str] | None, *, inline: bool) -> None:
    if betas is None:  # a body alone does not tell what its headers were
        return
    allowed = {INLINE_BETA} if inline else {INLINE_BETA, CHANGES_BETA}
    if not betas & allowed:
        needed = " or ".join(sorted(allowed))
        raise InvalidRequest(f"{what} needs the header anthropic-beta: {needed}")
