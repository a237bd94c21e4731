"""A linter over requests and lists of tools: the documents' anti-patterns, as far as they show.

>>> for finding in lint([{"name": "list_files", "input_schema": {"type": "object"}}]):
...     print(finding)
/tools/0: vague-description (tool-design): no description: say what it does and when to use it
/tools/0: no-stated-limit (tool-design): states no limit and takes none: say how much it returns \
at most, or page

It reads shapes and words, so it can be wrong both ways; it never asks a model or a network. What
only many requests show (a tool set that changes) needs a session: a JSONL of request bodies.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.cache.linting.budget import lint_budget, lint_tool_budget
from ctxlab.cache.linting.finding import RULES, Finding
from ctxlab.cache.linting.prompt import lint_prompt
from ctxlab.cache.linting.results import lint_results
from ctxlab.cache.linting.session import lint_history, lint_session
from ctxlab.cache.linting.tools import lint_tools
from ctxlab.cache.shape import check_shape
from ctxlab.errors import InputError, InvalidRequest
from ctxlab.masking import masked, masked_json
from ctxlab.prefix import read_tools

__all__ = ["RULES", "Finding", "as_json", "as_text", "lint", "lint_file"]

Value = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def lint(value: Value, *, model_rules: Mapping[str, Any] | None = None) -> list[Finding]:
    """What the rules find, in the order of the request.

    Args:
        value: a Messages API request body, a list of tools, or the request bodies of a session in
            order (their findings are those of the last one and of what changed on the way).
        model_rules: overrides of the dated cache rules.

    Raises:
        InputError: a value that is none of these, or not JSON.
    """
    if isinstance(value, Mapping):
        if "messages" not in value:
            raise InputError("neither a request (it has no messages) nor a list of tools")
        return _session([value], model_rules)
    if value and all("messages" in body for body in value):
        return _session(value, model_rules)
    return _tools(value)


def lint_file(path: str | Path, *, model_rules: Mapping[str, Any] | None = None) -> list[Finding]:
    """`lint` over a file: a request, a session (JSONL of requests), or whatever holds tools.

    Tools may be an array, an MCP tools/list answer or in OpenAI's form (`read_tools`).

    Raises:
        InputError: a file that cannot be read or is none of these; names the file and the place.
    """
    requests = _requests(project.resolve(path))
    if requests is None:
        return _tools(read_tools(path))
    try:
        return _session(requests, model_rules)
    except InputError as error:
        raise InputError(error.message, path=path, place=error.place) from None


def as_text(found: Sequence[Finding], name: str | Path) -> str:
    """One line a finding, such as `tools.json:/tools/3: rule (document): …`, and a count."""
    lines = [_safe(f"{name}:{finding}") for finding in found]
    by_rule = Counter(finding.rule for finding in found).most_common()
    told = ", ".join(f"{rule} {count}" for rule, count in by_rule)
    plural = "" if len(found) == 1 else "s"
    last = f"{len(found)} finding{plural}: {told}" if found else f"{name}: well"
    return "\n".join([*lines, last])


def as_json(found: Sequence[Finding]) -> str:
    """A JSON array of the findings."""
    told = masked_json([finding.as_dict() for finding in found])
    return json.dumps(told, ensure_ascii=False, indent=2)


def _safe(line: str) -> str:
    """Findings quote somebody else's text: no secret of it, nothing that steers a terminal."""
    return "".join(letter if letter.isprintable() else "·" for letter in masked(line))


def _session(
    requests: Sequence[Mapping[str, Any]], model_rules: Mapping[str, Any] | None
) -> list[Finding]:
    alone = len(requests) == 1
    for number, request in enumerate(requests):
        try:
            check_shape(request)
        except InvalidRequest as error:
            return [Finding("invalid-request", "" if alone else f"/{number}", str(error))]
    last = _request(requests[-1], model_rules, at="" if alone else f"/{len(requests) - 1}")
    return [*lint_session(requests), *last]


def _request(
    request: Mapping[str, Any], model_rules: Mapping[str, Any] | None, at: str = ""
) -> list[Finding]:
    found = [
        *_tools(request.get("tools") or ()),
        *lint_budget(request),
        *lint_prompt(request, model_rules),
        *lint_history(request),
        *lint_results(request),
    ]
    if not at:
        return found
    return [Finding(one.rule, at + one.place, one.message, one.tool) for one in found]


def _tools(tools: Sequence[Mapping[str, Any]]) -> list[Finding]:
    return [*lint_tools(tools), *lint_tool_budget(tools)]


def _requests(file: Path) -> list[Any] | None:
    """The request bodies of a file; None where it holds none, and is left to `read_tools`."""
    if not file.is_file():  # a pipe is read once, by `read_tools`
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    try:
        documents = [json.loads(text)]
    except RecursionError:
        return None
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    bodies = [_body(document) for document in documents]
    return bodies if bodies and all(bodies) else None


def _body(document: Any) -> Any:
    """A request body, alone or in a log's row beside its response."""
    if isinstance(document, dict):
        body = document.get("request", document)
        if isinstance(body, dict) and isinstance(body.get("messages"), list):
            return body
    return None
