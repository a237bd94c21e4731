r"""Logs: entries, each with what belongs to it, a stack trace above all; then lines.

Where lines carry time stamps or levels, an entry begins at each of them and everything between is
the entry's. Elsewhere (compilers, test runners, builds) a line is an entry, with the indented
lines, source excerpts and traces that follow it.

>>> text = "10:00:01 INFO up\n10:00:02 ERROR down\nTraceback…\n  at x\n10:00:03 INFO up\n"
>>> found = LogEntries(errors=True)(text, 0, len(text), (99, 99))
>>> found.ends, found.first
([17, 55, 72], (1,))
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxlab.truncation.boundaries.text import finer, line_ends, lines, pieces
from ctxlab.truncation.pieces import Pieces, Room

_LEVEL = "TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|ALERT|EMERG(?:ENCY)?"
_STAMP = (
    r"(?:[\w./-]{1,40} +\| )?(?:"  # the service's name, as docker compose writes it
    r"[\[(<]?\d{4}[-/.]\d\d[-/.]\d\d(?:[T _]+|\])[\[ ]?\d\d:\d\d"  # 2026-11-30T14:22
    r"|[\[(<]?\d\d:\d\d:\d\d\b"  # 14:22:00
    r"|\[?(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?[A-Z][a-z][a-z] [ \d]?\d \d\d:\d\d"  # Nov 30 14:22
    r"|\S{1,60} \S{1,60} \S{1,60} \[\d\d/[A-Z][a-z][a-z]/\d{4}:"  # web servers
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d"  # Kubernetes
    r"|\[ *\d+\.\d{6}\]|\[?1\d{9}(?:\.\d+)?\]?[ :\t]"  # the kernel; seconds since 1970
    r"|<\d{1,3}>\d? ?[A-Z\d]"  # syslog on the wire
    r'|(?:time|ts|timestamp)="?\d{4}-'  # logfmt
    rf"|\[?(?:{_LEVEL})\]?(?:[: \]|\t-]|$)"
    r"|commit [0-9a-f]{7,64}\b"  # git log
    r")"
)
STAMPED = re.compile(rf"^{_STAMP}", re.MULTILINE)
# A line that goes on what the line before it said, where lines carry no stamp.
_GOES_ON = re.compile(
    r"[ \t]+\S|[ \t\r]*(?:\n|$)|[>E|^] {2}|[\^})\]]"
    r"|Caused by: |Suppressed: |goroutine \d|\.\.\. \d+ more"
)
_TRACEBACK = r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n(?=[ \t]))*(?:\S.*(?:\n|$))?"
_TRACE = re.compile(
    rf"^{_TRACEBACK}(?:\n(?:During handling of|The above exception) .*\n\n{_TRACEBACK})*"
    r"|^(?:panic|fatal error): .*\n(?:.+\n)*\n?(?:goroutine .*\n(?:.+\n)*\n?)*"
    r"|^thread '.*' panicked at .*\n(?:.+\n)?(?:stack backtrace:\n(?:[ \t].*\n)+)?",
    re.MULTILINE,
)
_ERROR = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|EMERG(?:ENCY)?|PANIC|FAILED|FAILURES?)\b"
    r"|\b(?:error|fatal|panic)(?:\[\w+\])?: |\blevel=\"?(?:error|fatal|critical|panic)\b"
    r"|Traceback \(most recent call last\)|\b\w*(?:Error|Exception): |^[EF]\d{4} \d\d:"
    r"|Exception in thread|panicked at|\" 5\d\d \d",
    re.MULTILINE,
)
# What every match of it holds, quick to find: most entries of most logs hold none.
_HINTS = (
    *("ERROR", "FATAL", "CRITICAL", "SEVERE", "EMERG", "PANIC", "FAIL", "rror: ", "rror[", "fatal"),
    *("panic", "level=", "Traceback (", "Exception", '" 5', "\nE0", "\nE1", "\nF0", "\nF1"),
)
_FIRST_LEVEL = re.compile(rf"\b(?:(?P<calm>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?)|{_LEVEL})\b")
_NEAR_START = 200
# Fewer stamped lines than one in so many, and the stamps are not what begins an entry.
_LINES_PER_STAMP = 40


class LogEntries:
    """The divider of a log; with `errors`, entries that tell of an error are kept first."""

    def __init__(self, *, errors: bool = True) -> None:
        self._errors = errors

    def __call__(self, text: str, start: int, end: int, room: Room) -> Pieces | None:
        """Take a span apart: see `pieces.Divider`."""
        starts = entry_starts(text, start, end)
        found = pieces("log entries", starts, (start, end), finer(lines))
        if found and self._errors:
            return replace(found, first=tuple(error_entries(text, starts, end)))
        return found or finer(lines)(text, start, end, room)


def entry_starts(text: str, start: int, end: int) -> list[int]:
    """Where each entry begins; the first is `start`."""
    stamped = [match.start() for match in STAMPED.finditer(text, start, end)]
    if len(stamped) * _LINES_PER_STAMP > text.count("\n", start, end):
        return [start, *(place for place in stamped if place > start)]
    begins = [start, *line_ends(text, start, end)[:-1]]
    traced = _traced(text, begins, end)
    return [
        place
        for n, place in enumerate(begins)
        if place == start or not (n in traced or _GOES_ON.match(text, place, end))
    ]


def _traced(text: str, begins: Sequence[int], end: int) -> set[int]:
    """Lines of stack traces that go with the line before them."""
    found: set[int] = set()
    for match in _TRACE.finditer(text, begins[0], end):
        first, last = bisect_left(begins, match.start()), bisect_left(begins, match.end())
        follows = first > 0 and not text[begins[first - 1] : begins[first]].isspace()
        found.update(range(first if follows else first + 1, last))
    return found


def error_entries(text: str, starts: Sequence[int], end: int) -> list[int]:
    """Which entries tell of an error: by their level, where they name one, else by their words."""
    stops = [*starts[1:], end]
    hinted = {bisect_right(starts, at) - 1 for at in _hints(text, starts[0], end)}
    return [n for n in sorted(hinted) if _tells_error(text, starts[n], stops[n])]


def _hints(text: str, start: int, end: int) -> Iterator[int]:
    for hint in _HINTS:
        at = text.find(hint, start, end)
        while at >= 0:
            yield at + hint.startswith("\n")
            at = text.find(hint, at + len(hint), end)


def _tells_error(text: str, start: int, end: int) -> bool:
    first = _ERROR.search(text, start, end)
    line = text.find("\n", start, end)
    level = _FIRST_LEVEL.search(text, start, min(start + _NEAR_START, end))
    if first and level and level["calm"] and level.start() < first.start():
        # An entry that calls itself calm is one, whatever words its first line has.
        return line >= 0 and _ERROR.search(text, line, end) is not None
    return first is not None
