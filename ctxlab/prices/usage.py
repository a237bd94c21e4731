"""What a usage mapping says, key by key; a key that nobody prices is refused.

The keys are the Messages API's (`anthropic.types.Usage`). Two of ctxlab's own may stand beside
them, because `PromptCache.send` returns them: `diagnostics` and `message_id`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ctxlab.errors import InputError

COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
SPLIT = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
# Parts of what is counted already, or no usage at all.
FREE = ("output_tokens_details", "diagnostics", "message_id")
KEYS = (
    *COUNTS,
    "cache_creation",
    "server_tool_use",
    "service_tier",
    "speed",
    "inference_geo",
    "iterations",
    *FREE,
)
# What the API calls the ordinary case: nothing on top of the list price.
ORDINARY = {
    "service_tier": (None, "standard", "default"),
    "speed": (None, "standard"),
    "inference_geo": (None, "", "global", "not_available"),
}


@dataclass(frozen=True, slots=True)
class Tokens:
    """One request's usage, told apart by price."""

    input: int
    write_5m: int
    write_1h: int
    read: int
    output: int
    web_searches: int = 0
    context: tuple[tuple[str, str], ...] = ()
    """What chooses another price list: `processing=batch`, `speed=fast`."""
    assumed: tuple[str, ...] = ()
    """In words, what the usage left open and was read one way."""

    @property
    def total_input(self) -> int:
        """Every input token, cached or not: what a price tier is chosen by."""
        return self.input + self.write_5m + self.write_1h + self.read


def read_usage(usage: Mapping[str, Any]) -> Tokens:
    """The usage of one request.

    Raises:
        InputError: an unknown key, a count that is no number of tokens, a split that does not add
            up, or something that has no public price; `place` names the key.
    """
    if not isinstance(usage, Mapping):
        raise InputError(f"usage is a mapping, not {type(usage).__name__}; call its model_dump()")
    _known(usage, KEYS)
    input_, output, written, read = (_count(usage, key) for key in COUNTS)
    write_5m, write_1h, assumed = _writes(usage.get("cache_creation"), written)
    return Tokens(
        input=input_,
        write_5m=write_5m,
        write_1h=write_1h,
        read=read,
        output=output,
        web_searches=_searches(usage.get("server_tool_use")),
        context=_context(usage),
        assumed=assumed,
    )


def _known(mapping: Mapping[str, Any], keys: tuple[str, ...], place: str = "") -> None:
    for key in mapping:
        if key not in keys:
            near = get_close_matches(str(key), keys, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(keys)}"
            raise InputError(f"unknown usage key {key!r}{hint}", place=place)


def _count(mapping: Mapping[str, Any], key: str) -> int:
    value = mapping.get(key)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"a number of tokens is a whole number from 0, not {value!r}", place=key)
    return value


def _writes(split: Mapping[str, Any] | None, written: int) -> tuple[int, int, tuple[str, ...]]:
    if split is None:
        told = "cache_creation_input_tokens without cache_creation: read as 5m writes"
        return written, 0, (told,) if written else ()
    _known(split, SPLIT, "cache_creation")
    write_5m, write_1h = (_count(split, key) for key in SPLIT)
    if written and written != write_5m + write_1h:
        raise InputError(
            f"cache_creation adds up to {write_5m + write_1h:,}, cache_creation_input_tokens says "
            f"{written:,}; the two are the same tokens",
            place="cache_creation",
        )
    return write_5m, write_1h, ()


def _searches(server_tools: Mapping[str, Any] | None) -> int:
    if not server_tools:
        return 0
    # A web fetch costs its tokens alone, which are counted already.
    _known(server_tools, ("web_search_requests", "web_fetch_requests"), "server_tool_use")
    return _count(server_tools, "web_search_requests")


def _context(usage: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    context = []
    for key, ordinary in ORDINARY.items():
        value = usage.get(key)
        if value in ordinary:
            continue
        if (key, value) == ("service_tier", "batch"):
            context.append(("processing", "batch"))
        elif (key, value) == ("speed", "fast"):
            context.append(("speed", "fast"))
        else:
            raise InputError(f"{value!r} has no price in genai-prices", place=key)
    for entry in usage.get("iterations") or ():
        if entry.get("type", "message") != "message":
            raise InputError(
                f"an iteration of type {entry['type']!r} is paid beside the usage's own counts; "
                "price it as a usage of its own",
                place="iterations",
            )
    return tuple(context)
