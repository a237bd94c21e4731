r"""MCP tool results: the texts of `content` and the object of `structuredContent`.

>>> result = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
>>> joined(result["content"])
'a\nb'

Not text, and left as they are: images, audio, links, binary resources. Their cost is not counted
in characters or tokens of text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxlab.errors import UsageError

Block = Mapping[str, Any]


def as_dict(result: object) -> dict[str, Any]:
    """A result as the protocol writes it: from a dict, or from a model of the `mcp` package.

    Raises:
        UsageError: neither.
    """
    dump = getattr(result, "model_dump", None)
    found = dump(mode="json", by_alias=True, exclude_none=True) if dump else result
    blocks = found.get("content", []) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(blocks, list | tuple):
        told = type(result).__name__
        raise UsageError(f"an MCP tool result has a list `content`; this is {told}")
    return {**found, "content": [_block(block) for block in blocks]}


def _block(block: object) -> Block:
    dump = getattr(block, "model_dump", None)
    found = dump(mode="json", by_alias=True, exclude_none=True) if dump else block
    if not isinstance(found, Mapping):
        raise UsageError(f"a block of an MCP tool result is an object, not {type(block).__name__}")
    return found


def like(result: Any, fields: Mapping[str, Any]) -> Any:
    """The fields in the form that `result` has."""
    return type(result).model_validate(fields) if hasattr(result, "model_dump") else dict(fields)


def text_of(block: Block) -> str | None:
    """The text that a block brings into the context; None for an image, a link and the like."""
    resource = block.get("resource")
    found = block.get("text") if block.get("type") == "text" else None
    if block.get("type") == "resource" and isinstance(resource, Mapping):
        found = resource.get("text")
    return found if isinstance(found, str) else None


def joined(content: Sequence[Block]) -> str:
    """The texts of all blocks as one: rows, where each block is one line, else paragraphs."""
    texts = [text for text in map(text_of, content) if text is not None]
    return ("\n\n" if any("\n" in text for text in texts) else "\n").join(texts)


def with_text(content: Sequence[Block], text: str) -> list[Block]:
    """The blocks with this text in the place of the first text, and the other texts gone."""
    places = [n for n, block in enumerate(content) if text_of(block) is not None]
    kept = [block for n, block in enumerate(content) if n not in places[1:]]
    first = kept[places[0]] if places else {}
    if first.get("type") == "resource" and len(places) == 1:
        put: Block = {**first, "resource": {**first["resource"], "text": text}}
    else:
        put = {"type": "text", "text": text}
    return [*kept[: places[0]], put, *kept[places[0] + 1 :]] if places else [*kept, put]


def structured_text(value: object) -> str:
    """`structuredContent` as JSON text.

    Raises:
        UsageError: it is no JSON value.
    """
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"structuredContent must be JSON values: {error}") from None


def says_the_same(text: str, value: object) -> bool:
    """Whether a text is the JSON of this value, as the protocol advises servers to send it."""
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False
