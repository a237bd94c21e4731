"""The text of matching lines, read from the file that the workspace opens.

ripgrep says where a line is; what is shown comes from here. So a file that was swapped for a link
to the outside while ripgrep ran shows nothing, a file in another encoding reads as read_file reads
it, and a line of any length costs a window's memory.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO

from ctxlab.tools.encoding import HEAD, UTF8, Encoding, sniff
from ctxlab.tools.lines import BLOCK, blocks, read_page
from ctxlab.tools.matches import line_text, places
from ctxlab.tools.workspace import Opened, Workspace

LONG = 100_000
"""Bytes; of a longer line only the surroundings of its first match are kept."""
_SHORT = 1 << 10
_MARK = 4
KEEP = 500
"""Characters kept each side of a match in such a line, and of the match."""


@dataclass(frozen=True)
class Row:
    """One matching line."""

    line: int
    """1-based, as read_file counts."""
    text: str
    """The line without its end; a part of it where it is very long."""
    length: int
    """Characters of the whole line."""
    hits: tuple[tuple[int, int], ...]
    """From and to (exclusive), in characters of the line; the first one where it is very long."""
    start: int = 0
    """Where in the line `text` begins."""


def load(
    workspace: Workspace, path: str, events: list[bytes], *, looks_binary: bool = False
) -> list[Row]:
    """The lines that ripgrep told of one file; without those that are not there any more.

    Args:
        workspace: Where the file is.
        path: The file.
        events: What `matches` told of it.
        looks_binary: Whether it has NUL bytes all the same; without them its mark tells all.

    Raises:
        UsageError: the file cannot be opened, or not inside the workspace.
    """
    with workspace.open(path) as file:
        encoding = sniff(os.pread(file.fd, HEAD if looks_binary else _MARK, 0))
        if encoding is None:
            return []
        if encoding.ascii_superset:
            lines = _Lines(file, file.fd, encoding)
            return [row for event in events if (row := lines.row(event))]
        with tempfile.TemporaryFile() as copy:
            starts = _transcode(file, encoding, copy, {places(event)[0] for event in events})
            lines = _Lines(file, copy.fileno(), UTF8, starts)
            return [row for event in events if (row := lines.row(event))]


def _transcode(
    file: Opened, encoding: Encoding, copy: IO[bytes], wanted: set[int]
) -> dict[int, int]:
    """UTF-16 as UTF-8, and where the wanted lines begin in it."""
    line, size, starts = 1, 0, {1: 0}
    for block in blocks(file, encoding):
        copy.write(block)
        at = -1
        while (at := block.find(b"\n", at + 1)) >= 0:
            line += 1
            if line in wanted:
                starts[line] = size + at + 1
        size += len(block)
    copy.flush()
    return starts


class _Lines:
    def __init__(
        self, file: Opened, fd: int, encoding: Encoding, starts: dict[int, int] | None = None
    ) -> None:
        self._file, self._fd, self._encoding, self._starts = file, fd, encoding, starts

    def row(self, event: bytes) -> Row | None:
        """The line of a match, `None` when something else stands at its place."""
        line, offset, hits = places(event)
        if self._starts is not None:
            offset = self._starts.get(line, 0)
        before, data = self._line(offset)
        seen = line_text(event) if self._starts is None else None
        if before not in (b"", b"\n") or (seen and not data.startswith(seen[:LONG])):
            return None
        end = data.find(b"\n")
        if end < 0 and len(data) > LONG:
            return self._long(line, offset, *hits[0])
        raw = data[: end if end >= 0 else None].removesuffix(b"\r")
        return self._short(line, raw, hits)

    def _line(self, offset: int) -> tuple[bytes, bytes]:
        """The byte before a line, and the line: up to its end, or LONG bytes and one more."""
        lead = min(offset, 1)
        data = self._read(offset - lead, lead + _SHORT)
        if len(data) == lead + _SHORT and data.find(b"\n", lead) < 0:
            data = self._read(offset - lead, lead + LONG + 1)
        return data[:lead], data[lead:]

    def _read(self, offset: int, size: int) -> bytes:
        return os.pread(self._fd, size, offset + self._encoding.mark)

    def _short(self, line: int, raw: bytes, hits: list[tuple[int, int]]) -> Row:
        if raw.isascii():
            return Row(line, raw.decode("ascii"), len(raw), tuple(hits))
        text = self._decode(raw)
        edges, at, chars = [], 0, 0
        for edge in (edge for hit in hits for edge in hit):
            chars += len(self._decode(raw[at:edge]))
            at = edge
            edges.append(chars)
        return Row(line, text, len(text), tuple(zip(edges[::2], edges[1::2], strict=True)))

    def _decode(self, raw: bytes) -> str:
        try:
            return raw.decode(self._encoding.codec)
        except UnicodeDecodeError:
            if self._encoding is UTF8 and self._starts is None:
                self._encoding = replace(read_page(self._file, 1, 1, 1).encoding, mark=0)
            return raw.decode(self._encoding.codec, "backslashreplace")

    def _long(self, line: int, offset: int, start: int, end: int) -> Row:
        decoder = codecs.getincrementaldecoder(self._encoding.codec)("backslashreplace")
        before, hit, after, from_, to, length = "", "", "", 0, 0, 0
        for part in self._span(offset, offset + start):
            text = decoder.decode(part)
            from_, before = from_ + len(text), (before + text)[-KEEP:]
        for part in self._span(offset + start, offset + end):
            text = decoder.decode(part)
            to, hit = to + len(text), (hit + text)[:KEEP]
        for part in self._until_end(offset + end):
            text = decoder.decode(part)
            length, after = length + len(text), (after + text)[:KEEP]
        shown = before + hit + (after if to <= KEEP else "")
        return Row(line, shown, from_ + to + length, ((from_, from_ + to),), from_ - len(before))

    def _span(self, at: int, end: int) -> Iterator[bytes]:
        while at < end and (part := self._read(at, min(BLOCK, end - at))):
            yield part
            at += len(part)

    def _until_end(self, at: int) -> Iterator[bytes]:
        while part := self._read(at, BLOCK):
            text, end, _ = part.partition(b"\n")
            yield text.removesuffix(b"\r") if end else text
            if end:
                return
            at += len(part)
