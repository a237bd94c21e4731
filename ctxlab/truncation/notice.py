r"""The notice that tells the model what is missing and how to get it: one builder, one format.

>>> from ctxlab.truncation.truncate import truncate
>>> cut = truncate("one line\n" * 100, 90)
>>> text = cut.text + notice(cut, "read_log", "ab12cd34", reason="limit of 500 chars")
>>> body, fields = parse_notice(text)
>>> body == cut.text, fields["returned_fraction_percent"], fields["recovery_hint"]
(True, 10.0, 'lookup_full_content(resource_id="ab12cd34", offset=90, limit=4000)')

It stands in the text, behind a blank line, and its size counts within the limit. The call it names
is written from the tool's own signature, so that it cannot name what the tool does not take
(source: `result-handling`, notice).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from ctxlab.truncation.lookup import LookupTools, answer
from ctxlab.truncation.truncate import Truncated

MARKER = "\n\n--- TRUNCATION NOTICE ---\n"
_RANGES = 3
_LONGEST_NAME = 128


def notice(cut: Truncated, tool_name: str, resource_id: str, reason: str) -> str:
    """The notice of a cut, with the blank line before it.

    Fields: those of the document, then the unit of the limit, the kind, the pieces shown, and the
    ranges left out, in characters of the stored text: the first three, and how many more.
    """
    original, returned = len(cut.original), len(cut.text)
    ranges = [list(span) for span in cut.omitted]
    fields = {
        "isTruncated": True,
        "tool_name": tool_name[:_LONGEST_NAME],
        "original_chars": original,
        "returned_chars": returned,
        "returned_fraction_percent": fraction(returned, original),
        "truncation_reason": reason,
        "recovery_hint": written_call(
            LookupTools.lookup_full_content, resource_id=resource_id, offset=ranges[0][0]
        ),
        "resource_id": resource_id,
        "unit": cut.unit,
        "kind": cut.kind,
        "shown": cut.summary,
        "omitted": ranges[:_RANGES],
    }
    if len(ranges) > _RANGES:
        fields["more_omitted"] = len(ranges) - _RANGES
    return MARKER + answer(fields)


def parse_notice(text: str) -> tuple[str, dict[str, Any] | None]:
    """The body and the notice's fields; the text itself and None where it has no notice.

    A text may quote a notice: the last one counts, and only if it ends the text.
    """
    body, marker, fields = text.rpartition(MARKER)
    try:
        found = json.loads(fields) if marker else None
    except ValueError:
        found = None
    return (body, found) if isinstance(found, dict) else (text, None)


def fraction(returned: int, original: int) -> float:
    """Percent of the original that is returned, with one decimal.

    >>> fraction(1, 3)
    33.3
    """
    return round(100 * returned / original, 1) if original else 100.0


def written_call(tool: Callable[..., Any], **arguments: str | int) -> str:
    """A call of a tool in Python syntax, keyword arguments only, defaults written out.

    Raises:
        TypeError: an argument that the tool does not take, or one that it needs and is not given.
    """
    parameters = inspect.signature(tool).parameters
    given = inspect.signature(tool).bind(*(["self"] if "self" in parameters else []), **arguments)
    given.apply_defaults()
    told = ((name, value) for name, value in given.arguments.items() if name != "self")
    return f"{tool.__name__}({', '.join(f'{name}={json.dumps(value)}' for name, value in told)})"
