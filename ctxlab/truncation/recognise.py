r"""Which kind a text is of, from its first part; JSON is told apart elsewhere, by parsing it.

>>> of_text('{"a": 1}\n{"a": 2}\n'), of_text("Dear all,\nplease find enclosed\n")
('ndjson', 'plain')
>>> of_text("# Title\n\nSome *text*.\n\n- one\n- two\n- three\n"), of_text("a,b,c\n1,2,3\n4,5,6\n")
('markdown', 'csv')

Each test asks for several signs, and the order matters: a CSV file may have times in its first
column, a log may quote code, and search results are made of anything.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from itertools import islice

from ctxlab.truncation.boundaries import diff, languages, logs, markdown, matches, rows

_SAMPLE = 16_000
_ROWS = 20
_FEW = 2
_SEVERAL = 5

_FLUSH = re.compile(r"^\S", re.MULTILINE)
# What only a test runner or a failing program prints, and what compilers and builds print often.
_TRACE = re.compile(
    r"^(?:={3,} test session starts ={3,}|Traceback \(most recent call last\):"
    r"|Exception in thread \"|panic: .*\n\ngoroutine )",
    re.MULTILINE,
)
_PROGRAM = re.compile(
    r"^(?:npm (?:ERR|error|warn)|make(?:\[\d+\])?: |--- (?:PASS|FAIL)|(?:not )?ok \d+ "
    r"|\S+:\d+(?::\d+)?: (?:fatal )?(?:error|warning|note)\b)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_LINK = re.compile(r"\]\(|\]\[|\*\*\S")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+\.) \S", re.MULTILINE)


def of_text(text: str) -> str:
    """The kind of a text that is not JSON as a whole."""
    if _is_ndjson(text):
        return "ndjson"
    sample = languages.whole_lines(text, _SAMPLE)
    tests = {
        "diff": _is_diff,
        "csv": _is_csv,
        "log": _is_log,
        "search": _is_search,
        "code": _is_code,
        "markdown": _is_markdown,
    }
    return next((kind for kind, holds in tests.items() if holds(sample)), "plain")


def _lines(text: str) -> Iterator[str]:
    """Lines that are not blank, without making a list of them all."""
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        if not text[at:end].isspace():
            yield text[at:end]
        at = end


def _is_ndjson(text: str) -> bool:
    found = list(islice(_lines(text), _ROWS)) if text.lstrip()[:1] in ("{", "[") else []
    return len(found) >= _FEW and all(_is_record(line) for line in found)


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_diff(sample: str) -> bool:
    names = diff.NAMES.search(sample) or (diff.HUNK.search(sample) and diff.FILE.search(sample))
    return names is not None and "```" not in sample[: names.start()]


def _is_csv(sample: str) -> bool:
    first = next(_lines(sample), "")
    if logs.STAMPED.match(first) or first.lstrip()[:1] in ("|", "#", "<", ""):
        return False
    mark = rows.delimiter(first)
    try:
        found = list(islice(csv.reader(_lines(sample), delimiter=mark), _ROWS))
    except csv.Error:
        return False
    widths = {len(row) for row in found}
    if len(widths) > 1 or len(found) < _FEW or all(not row[-1].strip() for row in found):
        return False
    # Two columns parted by a comma and a space are prose until there are several rows of them.
    prose = widths == {2} and (len(found) < _SEVERAL or any(row[1][:1] == " " for row in found))
    return widths != {1} and not prose


def _is_log(sample: str) -> bool:
    stamped, flush = _count(logs.STAMPED, sample), _count(_FLUSH, sample)
    if stamped >= _FEW and 4 * stamped >= flush:
        return True
    printed = 20 * _count(_PROGRAM, sample) >= flush > 0 or _TRACE.search(sample) is not None
    return printed and "```" not in sample


def _is_search(sample: str) -> bool:
    flush = _count(_FLUSH, sample)
    headed = _count(matches.HEADED, sample)
    listed = max(_count(matches.FLAT, sample), headed and headed + _count(matches.NUMBERED, sample))
    return matches.TAGGED.search(sample) is not None or (listed >= _FEW and 2 * listed >= flush)


def _is_code(sample: str) -> bool:
    return not _FENCE.search(sample) and languages.is_code(sample)


def _is_markdown(sample: str) -> bool:
    headings, fences = markdown.outline(sample)
    # A comment of a shell script or of YAML stands right on what it comments; a heading does not.
    apart = sum(
        sample[heading.end : heading.end + 1] in ("\n", "\r")
        and (heading.start == 0 or sample[: heading.start].endswith(("\n\n", "\n\r\n")))
        for heading in headings
    )
    are_headings = 2 * apart >= len(headings)
    signs = are_headings * min(apart, 2) + 2 * any(fence.end < len(sample) for fence in fences)
    signs += (_count(_LINK, sample) > 1) + (_count(_ITEM, sample) > _FEW)
    return signs > 1


def _count(pattern: re.Pattern[str], sample: str) -> int:
    return sum(1 for _ in pattern.finditer(sample))
