r"""Whether what is left of a text is still whole in its form, whoever cut it and however.

>>> intact("[1, 2", "json"), intact("[1, 2]", "json"), intact("a\ufffd", "plain")
(False, True, False)
>>> intact("# A\n\n```\nx\n", "markdown"), intact("one\ntw", "plain", "one\ntwo\n")
(False, False)
"""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from ctxlab.truncation.boundaries import languages, markdown
from ctxlab.truncation.kinds import apart
from ctxlab.truncation.pieces import Span

_COUNTS = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FEW = 5
_DEEP = 4


def intact(text: str, kind: str, whole: str = "") -> bool:
    """JSON parses, rows are rows, fences are closed, code has no syntax error, lines are whole.

    `whole` is what the text was cut from: what is broken there too counts for no cut, and every
    line has to be a line of it. A replacement character that it has not is a broken one.
    """
    if "\ufffd" in text and "\ufffd" not in whole:
        return False
    check = _CHECKS.get(kind)
    if check:
        return check(text) or (bool(whole) and not check(whole))
    return "\n" not in whole or set(text.splitlines()) <= set(whole.splitlines())


def _json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _ndjson(text: str) -> bool:
    return all(_json(line) for line in text.split("\n") if line.strip())


def _csv(text: str) -> bool:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return len({len(row) for row in rows if row}) <= 1


def _markdown(text: str) -> bool:
    return all(fence.closed < fence.end for fence in markdown.outline(text)[1])


def _code(text: str) -> bool:
    language = languages.guess(text)
    return language is None or not languages.parse(text, language)[0].has_error


def _diff(text: str) -> bool:
    """Whether each hunk has as many lines as it says."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if said := _COUNTS.match(line):
            old, new = (int(count or 1) for count in said.groups())
            body = iter(lines[number + 1 :])
            while old > 0 or new > 0:
                sign = next(body, "")[:1]
                if sign not in tuple(" +-\\"):
                    return False
                old -= sign in tuple(" -")
                new -= sign in tuple(" +")
    return True


_CHECKS: dict[str, Callable[[str], bool]] = {
    "json": _json,
    "ndjson": _ndjson,
    "csv": _csv,
    "markdown": _markdown,
    "code": _code,
    "diff": _diff,
}


def units(text: str, kind: str) -> tuple[str, list[Span]]:
    """What the text's units are called, and where each stands: its entries, elements, rows.

    Where there are few at the top, as in `{"rows": [...]}`, those of the largest one count.
    """
    taken = apart(text, kind)
    span, divide = taken.span, taken.divider
    name, found = "text", [span]
    for _ in range(_DEEP):
        pieces = divide(text, *span, (len(text), len(text)))
        if pieces is None or (pieces.fine and name != "text"):
            break
        places = range(len(pieces.ends))
        name, found = pieces.name, [(int(pieces.starts[n]), int(pieces.ends[n])) for n in places]
        if len(found) >= _FEW or pieces.inside is None:
            break
        span, divide = max(found, key=lambda piece: piece[1] - piece[0]), pieces.inside
    return name, found


def kept_units(spans: Sequence[Span], omitted: Sequence[Span]) -> int:
    """How many units are whole when these ranges are left out.

    >>> kept_units([(0, 2), (2, 4), (4, 6)], [(3, 5)])
    1
    """
    ends = [end for _, end in omitted]
    nearest = (bisect_right(ends, start) for start, _ in spans)
    return sum(
        at == len(omitted) or omitted[at][0] >= end
        for at, (_, end) in zip(nearest, spans, strict=True)
    )
