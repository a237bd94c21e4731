r"""Which encoding a file is in: as little guessing as possible, and every guess is named.

In this order: a byte order mark; NULs at one parity (UTF-16 without a mark); UTF-8; what the file
declares about itself (`coding: gbk`, `charset=…`); a guess from its bytes that has something to
show for it. What fits none of them is read as UTF-8 with its other bytes shown as `\xNN`, never
as U+FFFD.

>>> sniff("\ufeffé".encode("utf-16-le")).codec, sniff(b"\x7fELF\x02\x01\x01\0\0")
('utf-16-le', None)

Not handled: UTF-32 and UTF-7 (taken for binary and for ASCII), ISO-2022 (shown as it stands).
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

HEAD = 1 << 16
"""Bytes at the start of a file that decide whether it is binary; ripgrep looks at as many."""


@dataclass(frozen=True)
class Encoding:
    """How to decode a file."""

    codec: str
    mark: int = 0
    """Bytes of the byte order mark."""
    said: str = ""
    """What a reader should know; empty for plain UTF-8."""

    @property
    def ascii_superset(self) -> bool:
        """Whether a byte 0x0a is a line end, and nothing else is."""
        return not self.codec.startswith("utf-16")


UTF8 = Encoding("utf-8")
ESCAPED = Encoding("utf-8", 0, r"not UTF-8: its other bytes are shown as \xNN")
_UTF16 = {"utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE"}
_NEVER_TEXT = re.compile(
    r"\.(7z|a|avi|bin|bmp|bz2|class|dll|dylib|eot|exe|gif|gz|ico|jar|jpe?g|mo|mov|mp[34]|np[yz]|o|"
    r"ogg|otf|parquet|pdf|pickle|pkl|png|py[cd]|so|sqlite|tar|tgz|ttf|wasm|web[mp]|whl|woff2?|xlsx|"
    r"xz|zip|zst)\Z",
    re.IGNORECASE,
)
_ASCII_WITH_NUL = re.compile(rb"[\t\n\f\r\x1b -~\0]*")
_DECLARED = re.compile(
    rb"""(?:coding[:=]\s*|charset\s*=\s*["']?|encoding\s*=\s*["'])([-\w.]{2,30})""", re.IGNORECASE
)
_CJK = ("gb", "big5", "cp932", "shift_jis", "euc_", "cp949", "cp950", "johab", "hz")
_MANY = 0.5
_COHERENT = 0.2
_FEW_BYTES = 4


def sniff(head: bytes) -> Encoding | None:
    """The encoding that the first bytes show, `None` for binary data.

    `head`: the first HEAD bytes, or the whole file when it is shorter.
    """
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if head.startswith(codecs.BOM_UTF8):
        return Encoding("utf-8", 3, "UTF-8 with a byte order mark")
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark):
            return Encoding(codec, 2, f"{_UTF16[codec]} with a byte order mark")
    if b"\0" not in head:
        return UTF8
    return _utf16_without_mark(head[: len(head) // 2 * 2] if len(head) == HEAD else head)


def never_text(path: str) -> bool:
    """Whether a file's name says that there is no text in it, so that it need not be opened.

    >>> never_text("locale/de/django.mo"), never_text("notes.txt")
    (True, False)
    """
    return _NEVER_TEXT.search(path) is not None


def _utf16_without_mark(head: bytes) -> Encoding | None:
    """UTF-16 has its NULs at one parity: ASCII's upper halves. Anything else is binary."""
    if len(head) % 2:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if bool(even) == bool(odd):
        return None
    codec = "utf-16-be" if even else "utf-16-le"
    mostly_ascii = max(even, odd) >= len(head) // 2 * _MANY
    # ASCII with a stray NUL would decode as well, into rare ideographs.
    if not mostly_ascii and _ASCII_WITH_NUL.fullmatch(head):
        return None
    text = codecs.getincrementaldecoder(codec)("replace").decode(head)
    if any(_no_text(char) for char in text):
        return None
    return None if "\ufffd" in text else Encoding(codec, 0, f"{_UTF16[codec]} without a mark")


def _no_text(char: str) -> bool:
    """Control characters but white space and ESC, and what is no character of Unicode."""
    return unicodedata.category(char) in ("Cc", "Cn") and char != "\x1b" and not char.isspace()


def guess(head: bytes, sample: bytes) -> Encoding:
    r"""The encoding of a text that is not UTF-8.

    `head`: its first bytes, where it may declare its encoding. `sample`: lines that hold bytes
    above 0x7f, a few kilobytes.

    >>> guess(b"# coding: gbk", "返回".encode("gbk")).codec
    'gbk'
    >>> guess(b"", b"needle \xff\xfe tail").said
    'not UTF-8: its other bytes are shown as \\xNN'
    """
    declared = _DECLARED.search(head[:1024])
    if declared:
        codec = declared[1].decode("ascii").lower()
        if _decodes(sample, codec):
            return Encoding(codec, 0, f"{codec}, as the file declares")
    return _from_bytes(sample) or ESCAPED


def _decodes(sample: bytes, codec: str) -> bool:
    try:
        # `\n` must mean a line end, and a codec that is no text encoding raises LookupError.
        return b"\n".decode(codec) == "\n" and bool(sample.decode(codec)) and codec != "utf-8"
    except (LookupError, UnicodeError):
        return False


def _from_bytes(sample: bytes) -> Encoding | None:
    from charset_normalizer import from_bytes  # noqa: PLC0415  0.1 s that UTF-8 need not pay

    found = [match for match in from_bytes(sample) if match.encoding not in ("ascii", "utf_8")]
    if not found:
        return None
    codec, rest = found[0].encoding, [match.encoding for match in found[1:]]
    high = sum(byte > 0x7F for byte in sample)  # noqa: PLR2004
    cjk = codec.startswith(_CJK) and high >= _FEW_BYTES
    if not cjk and found[0].coherence < _COHERENT:
        return None
    if not cjk and "cp1252" in rest:  # of the Latin code pages by far the most used
        codec = "cp1252"
    other = next((name for name in rest if cjk and name.startswith(_CJK)), None)
    return Encoding(codec, 0, f"{codec}, a guess" + (f"; it could be {other}" if other else ""))
