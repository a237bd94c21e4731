"""The kinds of text that tools return, and how each is taken apart.

>>> recognise('[{"a": 1}, {"a": 2}]'), recognise("[draft] Dear all")
('json', 'plain')
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxlab.truncation import recognise as _recognise
from ctxlab.truncation.boundaries import code, diff, logs, markdown, matches, rows
from ctxlab.truncation.boundaries.json_index import JsonIndex
from ctxlab.truncation.boundaries.json_values import JsonValues
from ctxlab.truncation.boundaries.text import paragraphs
from ctxlab.truncation.pieces import Divider, Span

KINDS = ("code", "log", "json", "ndjson", "csv", "markdown", "diff", "search", "plain")
_PLAIN: dict[str, Divider] = {
    "ndjson": rows.ndjson_rows,
    "csv": rows.csv_rows,
    "diff": diff.commits,
    "search": matches.results,
    "plain": paragraphs,
}


@dataclass(frozen=True)
class Apart:
    """How one text is taken apart."""

    kind: str
    divider: Divider
    span: Span
    """Where its pieces stand; what is outside goes first."""


def apart(text: str, kind: str = "auto", *, smart: bool = True) -> Apart:
    """How a text is taken apart; `smart` dividers prefer what matters to what stands first.

    Text that was said to be JSON and does not parse is cut as plain text, and its kind says so.
    """
    index = JsonIndex(text) if kind in ("auto", "json") else None
    if index and index.is_json():
        return Apart("json", JsonValues(text, balance=smart, index=index), (index.start, index.end))
    if kind in ("auto", "json"):
        kind = _recognise.of_text(text) if kind == "auto" else "plain"
    return Apart(kind, _divider(text, kind, smart=smart), (0, len(text)))


def recognise(text: str) -> str:
    """The kind that `auto` finds."""
    return apart(text).kind


def _divider(text: str, kind: str, *, smart: bool) -> Divider:
    if kind == "markdown":
        return markdown.Markdown(text)
    if kind == "code":
        return code.divider(text)
    if kind == "log":
        return logs.LogEntries(errors=smart)
    return _PLAIN[kind]
