"""Rules about tool results, as far as the history in a request shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ctxlab.cache.linting.finding import Finding
from ctxlab.cache.places import spots

Request = Mapping[str, Any]
_FIELDS = ("type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name")
_LONG_LINES, _LONG_CHARS, _ROUND = 500, 4_000, 1_000
_NOTICES = {
    "TRUNCATION NOTICE": r"-+ ?TRUNCATION NOTICE ?-+",
    "isTruncated": r'"is_?truncated"\s*:\s*true',
    "<truncated>": r"<(?:response )?truncated\b[^>]*>",
    "[truncated]": r"\[\.*(?:output |response )?truncated\b[^\]]*\]",
    "… truncated": r"\.\.\. ?\(?(?:\d[\d,]* \w+ )?(?:truncated|omitted)|…\s?\d* \w* ?truncated",
    "showing a to b": r"\bshowing (?:lines|rows|results|characters)? ?\d[\d,]*\s?(?:to|-|–|of)\b",
    "Lines a to b": r"\bLines \d+ to \d+ \(of \d+",
    "in words": r"\b(?:output|result|response|content|file) (?:was|is|has been) truncated",
}
_NOTICE = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _NOTICES.items()}
_RECOVERY = re.compile(
    r"\boffset\b|resource_id|recovery_hint|lookup_\w+|next (?:call|page)|\bcursor\b|page_token"
    r"|\bsaved (?:to|in|at)\b|\buse \w+ (?:to|with)\b|\bcall \w+\(|start_index|\bview_range\b",
    re.IGNORECASE,
)
_CALL = re.compile(r'recovery_hint"?\s*[:=]\s*"?\s*(\w+)\(|\b(lookup_\w+|search_full_content)\(')
_TOTAL = re.compile(
    r"\bof [\d,]+\b|\btotal\b|\b\d[\d,]* (?:lines|matches|results)\b", re.IGNORECASE
)
_FIRST_COME = re.compile(r"\b(?:showing|displaying) (?:only )?(?:the )?first [\d,]+", re.IGNORECASE)
_SUMMARY = re.compile(r"\s*(?:#+ *)?(?:summary|summarized|in summary|tl;?dr)\b", re.IGNORECASE)
_READS = re.compile(r"read|view|open|cat|fetch", re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


class Result(NamedTuple):
    """A tool's answer in the history."""

    place: str
    tool: str
    text: str
    block: Mapping[str, Any]

    @property
    def notices(self) -> list[str]:
        """The forms of notice in it."""
        return [name for name, pattern in _NOTICE.items() if pattern.search(self.text)]


def lint_results(request: Request) -> Iterator[Finding]:
    """What the rules find in the tool results of a request."""
    names = {str(tool.get("name")) for tool in request.get("tools") or ()}
    found = [*_results(request)]
    for result in found:
        for rule in (_side_channel, _cut, _told, _metadata, _recovers, _first_come, _summarised):
            told = rule(result, names)
            if told:
                yield Finding(told[0], result.place, told[1], result.tool or None)
    yield from _forms(found)


def _results(request: Request) -> Iterator[Result]:
    called: dict[str, str] = {}
    for spot in spots(request["messages"]):
        block = spot.block
        if block.get("type") == "tool_use":
            called[str(block.get("id"))] = str(block.get("name"))
        if block.get("type") == "tool_result":
            tool = called.get(str(block.get("tool_use_id")), "")
            yield Result(spot.path, tool, _text(block.get("content")), block)


Told = tuple[str, str] | None


def _side_channel(result: Result, _: set[str]) -> Told:
    extra = [name for name in result.block if name not in _FIELDS]
    if extra:
        told = f"fields beside the text, which no model reads: {', '.join(extra)}"
        return "notice-in-side-channel", f"{told}; say it inside the text"
    return None


def _cut(result: Result, _: set[str]) -> Told:
    text = re.split(r"\n-+ ?TRUNCATION NOTICE", result.text)[0].rstrip()
    if text.endswith("�") or (text and "\ud800" <= text[-1] <= "\udbff"):
        return "cut-mid-record", "ends inside a character: cut at a boundary"
    if text[:1] in ("{", "[") and text[-1:] not in ("}", "]") and not _parses(text):
        return "cut-mid-record", "begins as JSON and ends inside a record: cut between elements"
    if len(_FENCE.findall(text)) % 2:
        return "cut-mid-record", "a code fence is not closed: cut between sections"
    return None


def _told(result: Result, _: set[str]) -> Told:
    size = len(result.text)
    if size < _LONG_CHARS or result.notices:
        return None
    if size % _ROUND == 0 or result.text.endswith(("...", "…")):
        return (
            "truncation-not-told",
            f"ends at {size:,} characters as if it was cut, and says nothing",
        )
    return None


def _metadata(result: Result, _: set[str]) -> Told:
    lines = result.text.count("\n") + 1
    edges = result.text[:_ROUND] + result.text[-_ROUND:]
    if _READS.search(result.tool) and lines >= _LONG_LINES and not _TOTAL.search(edges):
        return "metadata-dropped", f"{lines:,} lines and no word of which they are, of how many"
    return None


def _recovers(result: Result, names: set[str]) -> Told:
    called = _CALL.search(result.text)
    tool = (called[1] or called[2]) if called else None
    if tool and names and tool not in names:
        return "recovery-does-not-work", f"names {tool}(), which is not among the tools"
    if result.notices and not _RECOVERY.search(result.text):
        return "no-recovery", f"{result.notices[0]!r} without the call that gives the rest"
    return None


def _first_come(result: Result, _: set[str]) -> Told:
    match = _FIRST_COME.search(result.text)
    if match:
        return "first-come-cut", f"{match[0]!r}: share the cap out among the files"
    return None


def _summarised(result: Result, _: set[str]) -> Told:
    if _SUMMARY.match(result.text) and not _RECOVERY.search(result.text):
        return "summarised-at-once", "a summary in place of the output: store it and refer to it"
    return None


def _forms(found: list[Result]) -> Iterator[Finding]:
    first: tuple[str, ...] | None = None
    for result in found:
        forms = tuple(result.notices)
        if not forms:
            continue
        if first is not None and not set(forms) & set(first):
            told = f"{forms[0]!r} here, {first[0]!r} before: one notice for all tools"
            yield Finding("notice-format-changes", result.place, told, result.tool or None)
            return
        first = first or forms


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))
