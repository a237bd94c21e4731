"""Usage as logs write it, brought to the Messages API's form that `ctxlab.prices.cost` accepts.

>>> normalised({"prompt_tokens": 90, "completion_tokens": 7,
...             "prompt_tokens_details": {"cached_tokens": 64}})[0]
{'input_tokens': 26, 'output_tokens': 7, 'cache_read_input_tokens': 64}
>>> normalised({"input_tokens": -3, "output_tokens": 7})
({'output_tokens': 7}, ('usage value left out, no number of tokens: input_tokens',))

Logs of other makers and of other years carry nulls, strings, keys of their own: one of them must
not stop the pricing of a thousand requests, and must not be dropped in silence either. So each is
left out and told. Not handled here: whether the numbers are true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ctxlab.prices.usage import COUNTS, FREE, KEYS, ORDINARY, SPLIT

_COUNTS = frozenset(COUNTS)
_OUTPUT_FIRST = ("output_tokens", *(key for key in COUNTS if key != "output_tokens"))
_SPLIT = frozenset(SPLIT)
MOST = 10**12  # more tokens than any request has: a broken number
_SEARCHES = ("web_search_requests", "web_fetch_requests")
_PRICED = {("service_tier", "batch"), ("speed", "fast")}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")
# The spellings of the Chat Completions API and of the Responses API, in this order.
_INPUTS = (("prompt_tokens", "prompt_tokens_details"), ("input_tokens", "input_tokens_details"))


def normalised(usage: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The usage that can be priced, and in words what was left out of it."""
    notes: list[str] = []
    if "prompt_tokens" in usage or "input_tokens_details" in usage:
        usage = _messages_form(usage, notes)
    if _is_plain(usage):
        return usage, ()
    clean: dict[str, Any] = {}
    for key in COUNTS:
        _count_into(clean, usage, key, notes)
    _split_into(clean, usage.get("cache_creation"), notes)
    _searches_into(clean, usage.get("server_tool_use"), notes)
    for key, ordinary in ORDINARY.items():
        value = usage.get(key)
        if isinstance(value, str) and (value in ordinary or (key, value) in _PRICED):
            clean[key] = value
        elif value is not None:
            notes.append(f"usage value left out, it has no public price: {key}")
    if not _only_messages(usage.get("iterations")):
        notes.append("usage value left out, paid beside its own counts: iterations")
    unknown = [key for key in usage if key not in KEYS and key not in FREE]
    notes += [f"usage key left out, nobody prices it: {_named(key)}" for key in unknown]
    return clean, tuple(notes)


def _is_plain(usage: Mapping[str, Any]) -> bool:
    """Whether nothing has to be looked at twice: what nearly every usage is, told quickly."""
    written = usage.get("cache_creation_input_tokens")
    for key, value in usage.items():
        if key in _COUNTS:
            if type(value) is not int or not 0 <= value <= MOST:
                return False
        elif key == "cache_creation":
            if not isinstance(value, dict) or value.keys() != _SPLIT:
                return False
            parts = value.values()
            if not all(type(part) is int and part >= 0 for part in parts) or sum(parts) != written:
                return False
        elif key != "service_tier" or value != "standard":
            return False
    return True


def tokens(usage: Mapping[str, Any]) -> tuple[int, int]:
    """Output and input tokens of a usage as it stands in a log; what is no number counts as -1."""
    output, *inputs = (_number(usage.get(key)) for key in _OUTPUT_FIRST)
    return (-1 if output is None else output), sum(filter(None, inputs))


def _messages_form(usage: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """OpenAI counts cached tokens as part of the input; the Messages API beside it."""
    key, details = _INPUTS[0] if "prompt_tokens" in usage else _INPUTS[1]
    told, parts = usage.get(key), usage.get(details)
    cached = parts.get("cached_tokens") if isinstance(parts, Mapping) else None
    whole, read = _number(told), _number(cached)
    if whole is not None and read is not None and read <= whole:
        told = whole - read
    elif cached is not None:
        notes.append("usage value left out, not within the input: cached_tokens")
        cached = None
    form = {"input_tokens": told, "output_tokens": usage.get("completion_tokens")}
    if form["output_tokens"] is None:
        form["output_tokens"] = usage.get("output_tokens")
    if cached is not None:
        form["cache_read_input_tokens"] = cached
    return form


def _count_into(
    clean: dict[str, Any], usage: Mapping[str, Any], key: str, notes: list[str]
) -> None:
    value = usage.get(key)
    if value is None:
        return
    number = _number(value)
    if number is None:
        notes.append(f"usage value left out, no number of tokens: {key}")
    else:
        clean[key] = number


def _split_into(clean: dict[str, Any], split: Any, notes: list[str]) -> None:
    if split is None:
        return
    counts = [_number(split.get(key, 0)) for key in SPLIT] if isinstance(split, Mapping) else [None]
    parts = [count for count in counts if count is not None]
    written = clean.get("cache_creation_input_tokens") or 0
    if len(parts) < len(counts) or (written and written != sum(parts)):
        notes.append("usage value left out, it does not add up: cache_creation")
        return
    clean["cache_creation_input_tokens"] = sum(parts)
    clean["cache_creation"] = dict(zip(SPLIT, parts, strict=True))


def _searches_into(clean: dict[str, Any], used: Any, notes: list[str]) -> None:
    if used is None:
        return
    counts = {key: _number(used.get(key)) for key in _SEARCHES} if isinstance(used, Mapping) else {}
    kept = {key: count for key, count in counts.items() if count}
    if kept:
        clean["server_tool_use"] = kept
    known = isinstance(used, Mapping) and all(
        key in _SEARCHES and (value is None or _number(value) is not None)
        for key, value in used.items()
    )
    if not known:
        notes.append("usage value left out, nobody prices it: server_tool_use")


def _only_messages(iterations: Any) -> bool:
    if not iterations:
        return True
    return isinstance(iterations, list) and all(
        isinstance(each, Mapping) and each.get("type", "message") == "message"
        for each in iterations
    )


def _number(value: Any) -> int | None:
    if type(value) is int:  # not a bool; what nearly every usage holds
        return value if 0 <= value <= MOST else None
    if not isinstance(value, float):
        return None
    return int(value) if 0 <= value <= MOST and value.is_integer() else None


def _named(key: object) -> str:
    """A key's name where it is one: nothing else of a log's text goes into a reason."""
    return key if isinstance(key, str) and _NAME.fullmatch(key) else "(no name)"
