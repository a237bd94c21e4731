"""Rules that a list of tools shows by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxlab.cache.linting.finding import Finding
from ctxlab.cache.linting.volatile import volatile
from ctxlab.prefix import canonical

Tool = Mapping[str, Any]
_FEWEST_WORDS = 5
_SHOWN = 5
# Tools whose answers grow with what they are asked about.
_UNBOUNDED = re.compile(
    r"(?:^|[_-])(list|search|find|grep|query|read|cat|dump|logs?|history|fetch|scrape|glob|tree)"
    r"(?:[_-]|$)",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"(?:^|[_-])(?:mark|manage|create|update|delete|add|remove|set|edit|send|replace)(?:[_-]|$)"
    r"|[_-]info$",
    re.IGNORECASE,
)
_CAP_ARGUMENT = re.compile(
    r"limit|max|page|per_?page|top_?k|count|cursor|offset|first|head|tail|size|start|length"
    r"|number_of|num_|depth|range|lines|truncat",
    re.IGNORECASE,
)
_CAP_WORDS = re.compile(
    r"\b(?:at most|up to|maxim|max\b|limit|first \d|pages?\b|paginat|cursor|truncat"
    r"|\d[\d,]* (?:lines|results|items|rows|matches|entries|bytes|characters|tokens))",
    re.IGNORECASE,
)
_FIRST_COME = re.compile(
    r"\b(?:only|returns?|shows?|lists?) (?:only )?the first [\d,]+ (?:match|result|row|line|hit)",
    re.IGNORECASE,
)
_REGEX = re.compile(r"\bregex(?:p|es)?\b|regular expression", re.IGNORECASE)
_REGEX_ARGUMENT = re.compile(r"^(?:regexp?|.*_regexp?)$", re.IGNORECASE)
_GUARD = re.compile(
    r"time ?(?:out|limit)|second|linear|\bRE2\b|ripgrep|literal|at most|max|limit|length",
    re.IGNORECASE,
)


def lint_tools(tools: Sequence[Tool]) -> list[Finding]:
    """What the rules find in a list of tools, by place and rule.

    Tools that the API defines itself (with a `type` of its own) have nothing to describe.
    """
    own = [
        (f"/tools/{number}", tool)
        for number, tool in enumerate(tools)
        if tool.get("type") in (None, "custom")
    ]
    found = [finding for place, tool in own for finding in _one(tool, place)]
    return [*found, *_twins(own)]


def _one(tool: Tool, place: str) -> Iterator[Finding]:
    name = str(tool.get("name", ""))
    for rule in (_vague, _arguments, _unlimited, _first_come, _regex, _volatile):
        for at, message in rule(tool):
            yield Finding(rule=_NAMES[rule.__name__], place=place + at, message=message, tool=name)


Told = Iterator[tuple[str, str]]


def _vague(tool: Tool) -> Told:
    text = str(tool.get("description") or "")
    said = set(re.findall(r"\w+", text.lower()))
    named = set(re.findall(r"[a-z0-9]+", str(tool.get("name", "")).lower()))
    if not text.strip():
        yield "", "no description: say what it does and when to use it"
    elif not said - named - {"tool", "the", "a", "an", "this", str(tool.get("name", "")).lower()}:
        yield "/description", f"{text!r} only says the name again: say when to use it"
    elif len(text.split()) < _FEWEST_WORDS:
        yield "/description", f"{text!r} does not say when to use it"


def _arguments(tool: Tool) -> Told:
    bare = [
        name
        for name, schema in _properties(tool).items()
        if not (isinstance(schema, Mapping) and str(schema.get("description") or "").strip())
    ]
    if bare:
        more = f" and {len(bare) - _SHOWN} more" if len(bare) > _SHOWN else ""
        told = ", ".join(bare[:_SHOWN])
        yield "/input_schema/properties", f"arguments without a description: {told}{more}"


def _unlimited(tool: Tool) -> Told:
    name = _words(str(tool.get("name", "")))
    if not _UNBOUNDED.search(name) or _CHANGES.search(name):
        return
    capped = any(_CAP_ARGUMENT.search(name) for name in _properties(tool))
    if not capped and not _CAP_WORDS.search(str(tool.get("description") or "")):
        yield "", "states no limit and takes none: say how much it returns at most, or page"


def _first_come(tool: Tool) -> Told:
    match = _FIRST_COME.search(str(tool.get("description") or ""))
    if match:
        told = "one file can use up the whole cap: share it out among the files"
        yield "/description", f"{match[0]!r}: {told}"


def _regex(tool: Tool) -> Told:
    text = " ".join([str(tool.get("description") or ""), *_descriptions(tool)])
    takes = any(map(_REGEX_ARGUMENT.match, _properties(tool))) or (
        _REGEX.search(text) and "pattern" in _properties(tool)
    )
    if takes and not _GUARD.search(text):
        yield "", "takes a regex and names no guard: a time limit, a match cap, a linear engine"


def _volatile(tool: Tool) -> Told:
    for at, text in (("/description", str(tool.get("description") or "")), *_described(tool)):
        for found in volatile(text):
            told = "every later request loses its whole cache when it changes"
            yield at, f"{found.kind} {found.text!r} in a tool: {told}"


def _twins(placed: list[tuple[str, Tool]]) -> Iterator[Finding]:
    """Tools that no text tells apart: equal but for the name, in their texts too."""
    seen: dict[str, str] = {}
    for place, tool in placed:
        name = str(tool.get("name", ""))
        text = canonical({key: value for key, value in tool.items() if key not in _NOT_MEANING})
        text = text.replace(name, "\0") if name else text
        if text in seen:
            told = f"nothing but the name tells it from '{seen[text]}': say when to use which"
            yield Finding("differ-in-name-only", place, told, name)
        seen.setdefault(text, name)


_NOT_MEANING = ("name", "cache_control", "defer_loading")
_NAMES = {
    "_vague": "vague-description",
    "_arguments": "argument-without-description",
    "_unlimited": "no-stated-limit",
    "_first_come": "first-come-cut",
    "_regex": "unguarded-regex",
    "_volatile": "volatile-tool",
}


def _words(name: str) -> str:
    """A name with its words apart, so that `listFiles` begins with `list`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def _properties(tool: Tool) -> Mapping[str, Any]:
    schema = tool.get("input_schema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _described(tool: Tool) -> Iterator[tuple[str, str]]:
    for name, schema in _properties(tool).items():
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            at = name.replace("~", "~0").replace("/", "~1")
            yield f"/input_schema/properties/{at}/description", schema["description"]


def _descriptions(tool: Tool) -> list[str]:
    return [text for _, text in _described(tool)]
