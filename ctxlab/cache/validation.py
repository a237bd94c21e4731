"""The 400s: what the Messages API would refuse, in its own words where the sources quote them.

Only what bears on the cache is checked, not the whole of the API's schema: no `max_tokens` is
needed, and calls need not be answered. Source: facts `prompt-cache` §0 (parameters), §1
(breakpoints, TTL, validation), §3 (system messages, tool changes), §4 (deferred tools).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxlab.cache.rules import Rules
from ctxlab.cache.shape import CHANGES, check_block, check_outline
from ctxlab.cache.wire import Place, dotted
from ctxlab.errors import InvalidRequest

if TYPE_CHECKING:
    from ctxlab.cache.head import Marker

API_VERSION = "2026-10-21"


class Envelope(NamedTuple):
    """What a request's body does not tell."""

    betas: frozenset[str] | None = None
    """The header `anthropic-beta`; None where it is not known, and then none is missed."""
    version: str = API_VERSION
    """The header `anthropic-version`."""
    parsed: bool = False
    """The body was read from JSON, so NaN cannot be in it."""


BARE = Envelope()
SAMPLING = ("temperature", "top_p", "top_k")
FORCED = ("any", "tool")


def check_body(request: Mapping[str, Any], version: str) -> None:
    """The outermost layer: its shape, and parameters that this API version no longer takes."""
    check_outline(request)
    if version >= API_VERSION:
        for name in SAMPLING:
            told = f"{name}: not accepted from API version {API_VERSION} on"
            _need(request.get(name) is None, told)


def check_tool_choice(choice: Mapping[str, Any] | None, model: str, rules: Rules) -> None:
    """A forced call, where the model refuses it."""
    kind = (choice or {}).get("type", "auto")
    _need(
        rules.forced_tool_choice or kind not in FORCED,
        f"tool_choice: type '{kind}' is not supported on {model}",
    )


def ttl_of(marker: Any, rules: Rules, place: Place) -> str | None:
    """The TTL of a `cache_control` value; None where there is none."""
    if marker is None:
        return None
    if isinstance(marker, Mapping) and marker.get("type") == "ephemeral":
        ttl = marker.get("ttl") or "5m"
        if isinstance(ttl, str) and ttl in rules.ttl_seconds:
            return str(ttl)
        allowed = " or ".join(f"'{name}'" for name in rules.ttl_seconds)
        told = f".ttl: Input should be {allowed}"
    elif isinstance(marker, Mapping):
        told = ".type: Input should be 'ephemeral'"
    else:
        told = ": Input should be an object"
    raise InvalidRequest(f"{dotted((*place, 'cache_control'))}{told}")


def check_marked(block: Mapping[str, Any], place: Place) -> None:
    """A block that carries a marker must be one that can."""
    where, kind = dotted(place), block.get("type")
    _need(
        not (kind == "text" and not block.get("text")),
        f"{where}.text: cache_control cannot be set for empty text blocks",
    )
    _need(
        kind not in ("thinking", "redacted_thinking"),
        f"{where}.cache_control: cache_control cannot be set for {kind} blocks",
    )


def check_breakpoints(markers: Sequence[Marker], rules: Rules) -> None:
    """All markers in request order, the automatic one included."""
    most = rules.maximum_breakpoints
    if len(markers) > most:
        raise InvalidRequest(
            f"A maximum of {most} blocks with cache_control may be provided. Found {len(markers)}."
        )
    seconds = rules.ttl_seconds
    for before, after in pairwise(markers):
        if seconds[after.ttl] > seconds[before.ttl]:
            raise InvalidRequest(
                f"cache_control: a ttl='{after.ttl}' cache_control block must not come after a "
                f"ttl='{before.ttl}' one (order: tools, system, messages)"
            )


def check_tools(tools: Sequence[Mapping[str, Any]], rules: Rules, model: str) -> None:
    """Names, and what deferred tools may not be."""
    names: set[str] = set()
    deferred = 0
    for tool in tools:
        name = tool.get("name")
        if name is not None and name in names:
            raise InvalidRequest(f"tools: Tool names must be unique: '{name}'.")
        names.add(str(name))
        if tool.get("defer_loading"):
            deferred += 1
            _need(
                tool.get("cache_control") is None,
                f"Tool '{name}' cannot have both defer_loading=true and cache_control set. "
                "Tools with defer_loading cannot use prompt caching.",
            )
    if not deferred:
        return
    _need(rules.tool_search, f"tools: defer_loading is not supported on {model}")
    _need(
        deferred < len(tools),
        "At least one tool must have defer_loading=false. All tools cannot be deferred.",
    )
    most = rules.maximum_tools
    _need(deferred <= most, f"tools: at most {most} tools may be deferred, found {deferred}")


def check_role(role: object, before: str, rules: Rules, number: int) -> None:
    """A message's role, and where a system message may stand (facts §3)."""
    if before == "system" and role != "assistant":
        told = "a system message must be the last or be followed by an assistant message"
        raise InvalidRequest(f"messages.{number}: {told}")
    if role in ("user", "assistant"):
        return
    where = f"messages.{number}"
    _need(role == "system", f"{where}.role: Input should be 'user' or 'assistant' or 'system'")
    _need(rules.system_messages, "role 'system' is not supported on this model")
    _need(bool(before), f"{where}: the first message cannot have the role 'system'")
    _need(before == "user", f"{where}: a system message must directly follow a user message")


def check_content(block: Any, role: str, place: Place) -> None:
    """What one content block may not be."""
    check_block(block, place)
    kind = block["type"]
    if kind == "tool_result":
        _check_result(block, place)
    elif kind in CHANGES:
        _need(role == "system", f"{dotted(place)}: {kind} stands in messages of role 'system' only")


def _check_result(block: Mapping[str, Any], place: Place) -> None:
    answered = block.get("tool_use_id")
    if isinstance(answered, str) and answered.startswith("srvtoolu_"):
        told = f"'{answered}' is a server tool's call, which takes no tool_result"
        raise InvalidRequest(f"{dotted(place)}: {told}")
    content = block.get("content")
    if isinstance(content, list | tuple):
        kinds = {part["type"] for part in content}
        if "tool_reference" in kinds and len(kinds) > 1:
            told = "tool_reference blocks cannot be mixed with other blocks"
            raise InvalidRequest(f"{dotted(place)}.content: {told}")


def check_references(names: Iterable[str], defined: Iterable[str]) -> None:
    """Every tool that a search found, in the whole history, must be defined."""
    for name in names:
        _need(name in defined, f"Tool reference '{name}' not found in available tools")


def _need(condition: bool, message: str) -> None:  # noqa: FBT001  it reads as a sentence
    if not condition:
        raise InvalidRequest(message)
