r"""A range of a file's lines in bounded memory, with what the whole file is like.

A line ends with `\n`, and `\r\n` is one such end; `\r`, `\f`, U+2028 and U+0085 end none, as in
ripgrep, so that line numbers agree. The file is read once, in blocks; only the lines of the range
are decoded and kept, and of a long line only its head and tail.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from ctxlab.errors import UsageError
from ctxlab.tools.encoding import ESCAPED, HEAD, UTF8, Encoding, guess, sniff
from ctxlab.tools.workspace import Opened, quoted

BLOCK = 1 << 17
_SAMPLE = 1 << 14
_LARGE = 1 << 23
_LF, _CR = 0x0A, 0x0D


@dataclass(frozen=True)
class Line:
    """A line without its end, and the end."""

    head: str
    """The whole line where `length` is no more than the width that was asked for."""
    end: str
    """`\\n`, `\\r\\n`, or nothing at the end of the file."""
    length: int
    """Characters, without the end."""
    tail: str = ""
    """The last characters of a line of which only the head is kept."""


@dataclass(frozen=True)
class Page:
    """Lines of a file, and what the whole file is like."""

    lines: list[Line]
    total: int
    """Lines of the whole file; text after the last `\\n` counts as one."""
    encoding: Encoding
    crlf: int
    """Lines that end with `\\r\\n`."""
    lf: int
    """Lines that end with `\\n` alone."""


def read_page(file: Opened, first: int, count: int, width: int) -> Page:
    """Lines `first` to `first + count - 1` (1-based), each with `width` characters of its ends.

    Raises:
        UsageError: binary data.
        OSError: the disk failed.
    """
    head = os.pread(file.fd, min(HEAD, file.size), 0)
    encoding = sniff(head)
    if encoding is None:
        raise UsageError(f"{quoted(file.path)} is binary ({file.size:,} bytes), not text")
    whole, lines = _scanned(file, encoding, first, count, width)
    if whole.not_utf8:
        encoding = guess(head, bytes(whole.sample)) if whole.sample else ESCAPED
        if encoding.codec != UTF8.codec:
            whole, lines = _scanned(file, encoding, first, count, width)
    return Page(lines, whole.total, encoding, whole.crlf, whole.ends - whole.crlf)


def blocks(file: Opened, encoding: Encoding) -> Iterator[bytes | bytearray]:
    """The file after its mark, in blocks valid until the next one; UTF-16 comes as UTF-8."""
    decoder = None
    if not encoding.ascii_superset:
        decoder = codecs.getincrementaldecoder(encoding.codec)("backslashreplace")
    os.lseek(file.fd, encoding.mark, os.SEEK_SET)
    left, buffer = file.size - encoding.mark, bytearray(BLOCK)
    while left > 0 and (got := os.readv(file.fd, [buffer])):
        block = buffer if got == BLOCK <= left else bytes(buffer[: min(got, left)])
        left -= len(block)
        yield block if decoder is None else decoder.decode(block).encode()
    if decoder is not None and (rest := decoder.decode(b"", final=True)):
        yield rest.encode()


def _scanned(
    file: Opened, encoding: Encoding, first: int, count: int, width: int
) -> tuple[_Whole, list[Line]]:
    codec = encoding.codec if encoding.ascii_superset else UTF8.codec
    whole, rows = _Whole(check=codec == UTF8.codec), _Rows(first, count, width, codec)
    line_ends = _line_ends(file.size)
    for block in blocks(file, encoding):
        if block:
            ends = line_ends(block)
            rows.add(block, whole.ends, ends)
            whole.add(block, ends)
    whole.finish()
    return whole, rows.finish()


def _line_ends(size: int) -> Callable[[bytes | bytearray], int]:
    """A counter of line ends; for large files numpy, three times as fast but 0.1 s to import."""
    if size < _LARGE:
        return lambda block: block.count(b"\n")
    import numpy as np  # noqa: PLC0415

    flags = np.empty(BLOCK, dtype=bool)

    def count(block: bytes | bytearray) -> int:
        if len(block) > BLOCK:
            return block.count(b"\n")
        found = np.equal(np.frombuffer(block, dtype=np.uint8), _LF, out=flags[: len(block)])
        return int(np.count_nonzero(found))

    return count


@dataclass
class _Whole:
    """What is counted over the whole file."""

    check: bool
    """Whether it should be UTF-8."""
    ends: int = 0
    crlf: int = 0
    not_utf8: bool = False
    sample: bytearray = field(default_factory=bytearray)
    """Lines that are not UTF-8; empty where others with bytes above 0x7f are, and prevail."""
    _last: int = _LF
    _utf8_blocks: int = 0
    _decoder: codecs.IncrementalDecoder = field(init=False)

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    @property
    def total(self) -> int:
        """Lines; text after the last end is one."""
        return self.ends + (self._last != _LF)

    def add(self, block: bytes | bytearray, ends: int) -> None:
        if b"\r" in block or self._last == _CR:
            self.crlf += block.count(b"\r\n") + (self._last == _CR and block[0] == _LF)
        self.ends += ends
        self._last = block[-1]
        if (
            self.check
            and not self.not_utf8
            and (not block.isascii() or self._decoder.getstate()[0])
        ):
            self._decode(block)

    def finish(self) -> None:
        if self.check and not self.not_utf8 and self._decoder.getstate()[0]:
            self.not_utf8 = True

    def _decode(self, block: bytes | bytearray) -> None:
        try:
            self._decoder.decode(block)
            self._utf8_blocks += 1
        except UnicodeDecodeError:
            self.not_utf8 = True
            high = [line for line in block.split(b"\n") if not line.isascii()]
            bad = [line for line in high if not _is_utf8(line)]
            if not self._utf8_blocks and len(bad) * 2 > len(high):
                self.sample += b"\n".join(bad)[:_SAMPLE]


def _is_utf8(line: bytes | bytearray) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Rows:
    """The lines of the range, gathered from blocks."""

    def __init__(self, first: int, count: int, width: int, codec: str) -> None:
        self._skip, self._count, self._width, self._codec = first - 1, count, width, codec
        self._lines: list[Line] = []
        self._start()

    def add(self, block: bytes | bytearray, before: int, ends: int) -> None:
        if len(self._lines) == self._count or before + ends < self._skip:
            return
        pieces = block.split(b"\n", max(0, self._skip - before) + self._count - len(self._lines))
        pieces = pieces[max(0, self._skip - before) :]
        for piece in pieces[:-1]:
            self._feed(piece)
            self._end("\n")
        if len(self._lines) < self._count:
            self._feed(pieces[-1])

    def finish(self) -> list[Line]:
        if len(self._lines) < self._count and (self._buffer or self._length):
            self._end("")
        return self._lines

    def _start(self) -> None:
        self._buffer = bytearray()
        self._decoder: codecs.IncrementalDecoder | None = None
        self._head, self._tail, self._length = "", "", 0

    def _feed(self, piece: bytes | bytearray) -> None:
        self._buffer += piece
        if len(self._buffer) > BLOCK:
            self._shrink()

    def _shrink(self, *, final: bool = False) -> None:
        """Decode what is there, and keep its ends."""
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(self._codec)("backslashreplace")
        text = self._decoder.decode(self._buffer, final)
        self._buffer.clear()
        self._length += len(text)
        self._head += (
            text[: self._width + 1 - len(self._head)] if len(self._head) <= self._width else ""
        )
        self._tail = (self._tail + text)[-self._width - 1 :]

    def _end(self, end: str) -> None:
        """One character more than the width is kept: it may be the carriage return of the end."""
        self._shrink(final=True)
        head, tail, length = self._head, self._tail, self._length
        if end and tail.endswith("\r"):
            end, tail, length = "\r\n", tail[:-1], length - 1
        short = length <= self._width
        line = Line(head[:length] if short else head[: self._width], end, length)
        self._lines.append(line if short else replace(line, tail=tail[-self._width :]))
        self._start()
