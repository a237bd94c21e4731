"""Excerpts of two values that show where they differ, for people; scripts get whole values.

>>> differing("a" * 99 + " old tail", "a" * 99 + " new tail", 24)
('…aaaaaaaaaaaaaa old tail', '…aaaaaaaaaaaaaa new tail')

Not handled: control characters, which each teller makes harmless in its own way, and secrets.
"""

from __future__ import annotations

_ELLIPSIS = "…"


def differing(before: str, after: str, width: int) -> tuple[str, str]:
    """Both texts in at most `width` characters each, cut at the same place before they differ.

    An `…` stands for what is left out on that side. Texts that fit are given as they are; of two
    that are equal, or differ early, the beginning is shown.

    >>> differing("short", "texts", 60)
    ('short', 'texts')
    >>> differing("0123456789", "0123456789abc", 8)
    ('…6789', '…6789abc')
    """
    longest = max(len(before), len(after))
    if longest <= width:
        return before, after
    at = _first_difference(before, after)
    if before == after or at < width * 2 // 3:
        return cut(before, width), cut(after, width)
    start = min(at - width // 2, longest - width + 1)
    return _from(before, start, width), _from(after, start, width)


def cut(text: str, width: int) -> str:
    """A text's beginning, in at most `width` characters.

    >>> cut("0123456789", 5)
    '0123…'
    """
    return text if len(text) <= width else text[: width - 1] + _ELLIPSIS


def _from(text: str, start: int, width: int) -> str:
    return _ELLIPSIS + cut(text[start:], width - 1)


def _first_difference(before: str, after: str) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (old, new) in pairs if old != new), min(len(before), len(after)))
