"""Tools from a file that a user brings: an array, a Messages API request or an MCP answer.

Tools come out in the Messages API's form, in the file's order, the order of keys inside kept. What
MCP and OpenAI call by other names is renamed; nothing is sorted, shortened or made up. Not handled
here: asking a server (`ctxlab.loading.list_tools`), and what the API would say about a schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError
from ctxlab.prefix.convert import json_kind, request_tool
from ctxlab.prefix.naming import tool_name

MAX_BYTES = 64 * 2**20
"""A larger file is no tool list: the API takes 10,000 tools at most."""

_FORMS = "a list of tools, a Messages API request or an MCP tools/list answer"


def read_tools(path: str | Path) -> list[dict[str, Any]]:
    """The tools of a JSON file, as the Messages API takes them.

    The file holds an array of tools, a Messages API request (`{"tools": […]}`), or an MCP
    tools/list answer (`{"tools": […]}`, also inside a JSON-RPC `{"result": {…}}`); a relative path
    counts from the project's root. Tools may be in the Messages API's form (kept as they are,
    server tools included), in MCP's (`inputSchema`; title, annotations and output schema are left
    out, since no model sees them) or in OpenAI's (`parameters`). An empty list is a list.

    Raises:
        InputError: naming file, element and field, such as `tools.json:[3].name: …`: a file that
            cannot be read or is larger than MAX_BYTES; not UTF-8 (a byte-order mark is let pass);
            not JSON; none of these forms, or one page of several; a name that is missing, used
            twice, or not 1 to 128 of the letters, digits, `_` and `-` that the API takes; a
            description that is no string; a schema that is no object; whatever `canonical`
            refuses.
    """
    try:
        tools = _tools(_parsed(_text(project.resolve(path))))
    except InputError as error:
        raise InputError(error.message, path=path, place=error.place) from None
    return tools


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        told = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {told}") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES // 2**20} MiB; expected {_FORMS}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 (byte {error.start}); JSON files are") from None
    if not text.strip():
        raise InputError(f"empty; expected {_FORMS}")
    return text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{error.lineno}:{error.colno}"
        raise InputError(f"not JSON: {error.msg}", place=place) from None
    except (RecursionError, ValueError) as error:
        told = "nested too deep" if isinstance(error, RecursionError) else str(error).split(";")[0]
        raise InputError(f"not JSON that can be read: {told}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _tools(document: Any) -> list[dict[str, Any]]:
    at, elements = _elements(document)
    places: dict[str, str] = {}
    tools = []
    for index, element in enumerate(elements):
        place = f"{at}[{index}]"
        tool = request_tool(element, place)
        name = tool_name(tool, place)
        if name in places:
            message = f"{name!r} is the name of {places[name]} already; names are unique"
            raise InputError(message, place=f"{place}.name")
        places[name] = place
        tools.append(tool)
    return tools


def _elements(document: Any) -> tuple[str, list[Any]]:
    """Where the list of tools stands in the document, and the list."""
    if isinstance(document, list):
        return "", document
    if not isinstance(document, dict):
        raise InputError(f"expected {_FORMS}, found {json_kind(document)}")
    if "result" in document and "tools" not in document:
        return _from_answer(document["result"], "result.")
    if isinstance(document.get("error"), dict):
        raise InputError(f"an error answer: {document['error'].get('message', 'no message')}")
    return _from_answer(document, "")


def _from_answer(answer: Any, at: str) -> tuple[str, list[Any]]:
    if not isinstance(answer, dict) or "tools" not in answer:
        if isinstance(answer, dict) and "name" in answer:
            raise InputError("one tool; put it into a list: [ … ]")
        raise InputError(f"expected {_FORMS}, found {json_kind(answer)} without `tools`")
    if not isinstance(answer["tools"], list):
        message = f"expected a list of tools, found {json_kind(answer['tools'])}"
        raise InputError(message, place=f"{at}tools")
    if answer.get("nextCursor"):
        message = "this is one page of a longer list; join the `tools` of all pages"
        raise InputError(message, place=f"{at}nextCursor")
    return f"{at}tools", answer["tools"]
