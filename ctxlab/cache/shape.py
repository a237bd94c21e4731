"""The shape of a request body: which places hold objects, lists and strings.

Only the places that ctxlab looks into are checked, so that nothing behind this has to ask what it
got. The API's schema is wider; its wording is not quoted by the sources and is not imitated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxlab.cache.wire import Place, dotted
from ctxlab.errors import InvalidRequest

CHANGES = ("tool_addition", "tool_removal")
ROLES = ("user", "assistant", "system")
_OBJECTS = ("tool_choice", "thinking", "diagnostics", "metadata")


def check_outline(request: Mapping[str, Any]) -> None:
    """The outermost layer, down to the messages themselves.

    Raises:
        InvalidRequest: 400, in the manner of `messages.0: Input should be an object`.
    """
    model, messages = request.get("model"), request.get("messages")
    _need(model is not None, "model: Field required")
    _need(isinstance(model, str), "model: Input should be a valid string")
    _need(messages is not None, "messages: Field required")
    if not isinstance(messages, list | tuple):
        raise InvalidRequest("messages: Input should be a valid list")
    _need(bool(messages), "messages: at least one message is required")
    for number, message in enumerate(messages):
        if not isinstance(message, dict | Mapping):
            raise InvalidRequest(f"messages.{number}: Input should be an object")
    for name in _OBJECTS:
        value = request.get(name)
        _need(value is None or isinstance(value, Mapping), f"{name}: Input should be an object")
    _settings(request)
    _tools(request.get("tools"))
    _system(request.get("system"))


def _settings(request: Mapping[str, Any]) -> None:
    """What steers the answer; null is as good as left out."""
    limit, streamed = request.get("max_tokens"), request.get("stream")
    if limit is not None:
        whole = isinstance(limit, int) and not isinstance(limit, bool)
        _need(whole, "max_tokens: Input should be a valid integer")
        _need(limit >= 0, "max_tokens: Input should be greater than or equal to 0")
    told = "stream: Input should be a valid boolean"
    _need(streamed is None or isinstance(streamed, bool), told)
    sequences = request.get("stop_sequences")
    if sequences is not None:
        _need(isinstance(sequences, list | tuple), "stop_sequences: Input should be a valid list")
        for number, sequence in enumerate(sequences):
            _string(sequence, ("stop_sequences", number))
    user = (request.get("metadata") or {}).get("user_id")
    if user is not None:
        _string(user, ("metadata", "user_id"))
    tier = request.get("service_tier")
    allowed = "service_tier: Input should be 'auto' or 'standard_only'"
    _need(tier in (None, "auto", "standard_only"), allowed)


def check_shape(request: Mapping[str, Any]) -> None:
    """All of it.

    Raises:
        InvalidRequest: 400.
    """
    check_outline(request)
    for number, message in enumerate(request["messages"]):
        role, content = message.get("role"), message.get("content")
        if role not in ROLES:
            told = " or ".join(f"'{name}'" for name in ROLES)
            raise InvalidRequest(f"messages.{number}.role: Input should be {told}")
        if not isinstance(content, str):
            _need(isinstance(content, list | tuple), f"messages.{number}.content: {_BLOCKS}")
            for index, block in enumerate(content):
                check_block(block, ("messages", number, "content", index))


def check_block(block: Any, place: Place) -> None:
    """One content block, and those inside it.

    Raises:
        InvalidRequest: 400.
    """
    if not isinstance(block, dict | Mapping):
        raise InvalidRequest(f"{dotted(place)}: Input should be an object")
    kind = block.get("type")
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise InvalidRequest(f"{dotted(place)}.text: Input should be a valid string")
    elif not isinstance(kind, str):
        raise InvalidRequest(f"{dotted(place)}.type: Field required, a string")
    elif kind == "tool_reference":
        _string(block.get("tool_name"), (*place, "tool_name"))
    elif kind in CHANGES:
        _change(block.get("tool"), (*place, "tool"))
    elif "content" in block:
        if kind.endswith("_tool_result") and isinstance(block["content"], Mapping):
            _found(block["content"], (*place, "content"))
        else:
            _content(block["content"], (*place, "content"))
    if "source" in block:
        _source(block["source"], (*place, "source"))


_BLOCKS = "Input should be a string or a list of blocks"


def _content(content: Any, place: Place) -> None:
    if content is None or isinstance(content, str):
        return
    _need(isinstance(content, list | tuple), f"{dotted(place)}: {_BLOCKS}")
    for index, block in enumerate(content):
        check_block(block, (*place, index))


def _found(content: Mapping[str, Any], place: Place) -> None:
    """What a server tool found: references, where it looked for tools."""
    references = content.get("tool_references") or []
    _need(isinstance(references, list | tuple), f"{dotted(place)}.tool_references: a list")
    for index, reference in enumerate(references):
        check_block(reference, (*place, "tool_references", index))
        _string(reference.get("tool_name"), (*place, "tool_references", index, "tool_name"))


def _change(tool: Any, place: Place) -> None:
    _object(tool, place)
    if tool.get("type") == "tool_definition":
        _object(tool.get("definition"), (*place, "definition"))
        _string(tool["definition"].get("name"), (*place, "definition", "name"))
    else:
        _string(tool.get("name"), (*place, "name"))


def _source(source: Any, place: Place) -> None:
    if source is not None:
        _object(source, place)
        _content(source.get("content"), (*place, "content"))


def _tools(tools: Any) -> None:
    if tools is None:
        return
    _need(isinstance(tools, list | tuple), "tools: Input should be a valid list")
    for number, tool in enumerate(tools):
        if not isinstance(tool, dict | Mapping):
            raise InvalidRequest(f"tools.{number}: Input should be an object")
        name, kind = tool.get("name"), tool.get("type")
        if not (isinstance(name, str) or name is None) or not (
            kind is None or isinstance(kind, str)
        ):
            raise InvalidRequest(f"tools.{number}: name and type are strings")


def _system(system: Any) -> None:
    if system is None or isinstance(system, str):
        return
    _need(isinstance(system, list | tuple), f"system: {_BLOCKS}")
    for number, block in enumerate(system):
        check_block(block, ("system", number))


def _object(value: Any, place: Place) -> None:
    _need(isinstance(value, Mapping), f"{dotted(place)}: Input should be an object")


def _string(value: Any, place: Place) -> None:
    _need(isinstance(value, str), f"{dotted(place)}: Input should be a valid string")


def _need(condition: bool, message: str) -> None:  # noqa: FBT001  it reads as a sentence
    if not condition:
        raise InvalidRequest(message)
