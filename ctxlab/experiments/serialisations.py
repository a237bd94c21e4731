"""What each form of a tool absorbs: differences that mean nothing, and one that does (notebook 02).

A tool is written as JSON text in ways that mean the same, read again, and put into each form; a
form absorbs a difference when the result is the same byte for byte. `sent as given` and `sent in
canonical form` are request bodies as the real SDK puts them on the wire: its transport is replaced,
nothing leaves the process (facts `prompt-cache` §0).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlab.prefix import canonical, canonical_tool

if TYPE_CHECKING:
    import anthropic

Tool = dict[str, Any]

CONTROL = "another description"
"""A real change: a form that absorbs it is broken."""


def absorbed(tool: Tool) -> pd.DataFrame:
    """Which form absorbs which difference.

    The tool should have two or more fields, properties and required names, a character outside
    ASCII and a whole number in its schema: else there is no difference to absorb.

    Columns: difference; for each form whether it absorbs the difference; present (False where the
    tool has nothing to vary). The last row, CONTROL, is a real change.
    """
    base = json.dumps(tool, ensure_ascii=False)
    made = {name: form(base) for name, form in FORMS.items()}
    rows = []
    for difference, write in DIFFERENCES.items():
        text = write(tool)
        same = {name: form(text) == made[name] for name, form in FORMS.items()}
        rows.append({"difference": difference, **same, "present": text != base})
    return pd.DataFrame(rows)


def _sent(tools: list[Tool]) -> bytes:
    """The request body that the SDK sends for these tools."""
    client, bodies = _client()
    sent: Any = tools
    client.messages.create(
        model="none", max_tokens=1, messages=[{"role": "user", "content": "."}], tools=sent
    )
    return bodies.pop()


@cache
def _client() -> tuple[anthropic.Anthropic, list[bytes]]:
    """The SDK over a transport that keeps the bodies and answers with an empty message."""
    import anthropic  # noqa: PLC0415  2 s that only this table needs
    import httpx2  # noqa: PLC0415

    bodies: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.content)
        return httpx2.Response(200, json=_MESSAGE)

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    return anthropic.Anthropic(api_key="none", http_client=transport), bodies


_MESSAGE: dict[str, Any] = {
    "id": "msg_0",
    "type": "message",
    "role": "assistant",
    "model": "none",
    "content": [],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 0, "output_tokens": 0},
}

FORMS: dict[str, Callable[[str], str | bytes]] = {
    "raw dumps": lambda text: json.dumps(json.loads(text)),
    "sorted dumps": lambda text: json.dumps(json.loads(text), sort_keys=True),
    "canonical": lambda text: canonical(json.loads(text)),
    "canonical tool": lambda text: canonical(canonical_tool(json.loads(text))),
    "sent as given": lambda text: _sent([json.loads(text)]),
    "sent in canonical form": lambda text: _sent([canonical_tool(json.loads(text))]),
    "text as received": lambda text: text,
}
"""Name → the form made from a tool's JSON text."""


def _text(tool: Any) -> str:
    return json.dumps(tool, ensure_ascii=False)


def _reversed_keys(value: Any, *, deep: bool) -> Any:
    if isinstance(value, list) and deep:
        return [_reversed_keys(item, deep=deep) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _reversed_keys(value[key], deep=deep) if deep else value[key]
        for key in reversed(value)
    }


def _with_schema(tool: Tool, **changed: Any) -> Tool:
    return {**tool, "input_schema": {**tool["input_schema"], **changed}}


def _reversed_properties(tool: Tool) -> Tool:
    properties = tool["input_schema"].get("properties", {})
    return _with_schema(tool, properties=_reversed_keys(properties, deep=False))


def _reversed_required(tool: Tool) -> Tool:
    return _with_schema(tool, required=tool["input_schema"].get("required", [])[::-1])


def _as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


DIFFERENCES: dict[str, Callable[[Tool], str]] = {
    "order of fields": lambda tool: _text(_reversed_keys(tool, deep=False)),
    "order of properties": lambda tool: _text(_reversed_properties(tool)),
    "order of keys at every level": lambda tool: _text(_reversed_keys(tool, deep=True)),
    "order of required": lambda tool: _text(_reversed_required(tool)),
    "white space": lambda tool: json.dumps(tool, ensure_ascii=False, indent=2),
    "ASCII escapes": lambda tool: json.dumps(tool, ensure_ascii=True),
    "1.0 for 1": lambda tool: _text(_as_floats(tool)),
    CONTROL: lambda tool: _text({**tool, "description": "Another."}),
}
"""Name → the tool's JSON text, written with that difference."""
