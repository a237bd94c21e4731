"""The first matching lines of files, as ripgrep's `--json` tells them: where, not what.

What a match costs here is a few bytes, however long its line is. The text is read later, from the
file that the workspace opens (`rows`).
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson

from ctxlab.tools.ripgrep import Process, where

MAX_HITS = 10_000
"""Matches of one line that are told."""
_LONG = 1 << 12
_BLOCK = 1 << 20
_BEGIN, _MATCH = b'{"type":"begin"', b'{"type":"match"'
# Quotes inside a text are escaped, so none of these can stand in one.
_HITS = re.compile(rb'\},"start":(\d+),"end":(\d+)\}')
_NUMBERS = re.compile(rb',"line_number":(\d+),"absolute_offset":(\d+),')
_PLACE = re.compile(rb'\},"start":\d+,"end":\d+\}|,"line_number":\d+,"absolute_offset":\d+,')


def matches(
    root: Path, options: list[str], files: list[str], most: int, deadline: float
) -> tuple[dict[str, list[bytes]], bool]:
    """The first `most` matching lines of each file, and whether the time was enough.

    `places` and `line_text` read them. One thread, since ripgrep holds all that it has to say of a
    file in memory when it works with several.
    """
    found: dict[str, list[bytes]] = {path: [] for path in files}
    limits = ["--json", "--threads=1", f"--max-count={most}"]
    kept: list[bytes] = []
    with Process(root, [*limits, *options, *where(files)], deadline) as process:
        for event in _events(process.blocks()):
            if event.startswith(_MATCH):
                kept.append(event if len(event) < _LONG else _short(event))
            elif event.startswith(_BEGIN):
                kept = found.setdefault(_path(event), [])
    return found, not process.late


def places(event: bytes) -> tuple[int, int, list[tuple[int, int]]]:
    """Of a match: its line (1-based), the line's offset, and where in it the hits are, in bytes."""
    numbers = _NUMBERS.search(event)
    assert numbers is not None
    hits = [(int(start), int(end)) for start, end in _HITS.findall(event, numbers.end())]
    return int(numbers[1]), int(numbers[2]), hits or [(0, 0)]


def line_text(event: bytes) -> bytes | None:
    """The line that ripgrep saw, `None` where it was too long to be kept."""
    if b'"lines":' not in event[:_LONG]:
        return None
    return _bytes(orjson.loads(event)["data"]["lines"])


def _path(event: bytes) -> str:
    name = _bytes(orjson.loads(event)["data"]["path"])
    return os.fsdecode(name.removeprefix(b"./"))


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _events(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines that ripgrep told; of one that is longer than a block all but its text."""
    rest = b""
    for block in blocks:
        rest += block
        while b"\n" in rest or len(rest) > _BLOCK:
            *events, rest = rest.split(b"\n")
            yield from events
            if len(rest) > _BLOCK:
                event, rest = _giant(rest, blocks)
                yield event


def _giant(start: bytes, blocks: Iterator[bytes]) -> tuple[bytes, bytes]:
    """A match of which more than a block has come, without its texts, and what comes after it.

    A match that ends before it is whole is no match: the time was over.
    """
    seen, short, found = start, [_MATCH], 0
    while True:
        end = seen.find(b"\n")
        used = 0
        for place in _PLACE.finditer(seen, 0, end if end >= 0 else len(seen)):
            used = place.end()
            found += 1
            if found <= MAX_HITS + 1:  # the first is the line's number
                short.append(place[0])
        if end >= 0:
            return b"".join(short), seen[end + 1 :]
        block = next(blocks, b"")
        if not block:
            return b"", b""
        # A place may be cut in two by the end of a block, and is shorter than this.
        seen = seen[max(used, len(seen) - 100) :] + block


def _short(event: bytes) -> bytes:
    places = (place[0] for place in _PLACE.finditer(event))
    return b"".join([_MATCH, *islice(places, MAX_HITS + 1)])
