"""Texts as the words that BM25 counts.

>>> words("Lists getUserEvents of an OAuth_app, page 2")
['lists', 'getuserevents', 'get', 'user', 'events', 'of', 'an', 'oauth', 'o', 'auth', 'app', \
'page', '2']

Identifiers are taken apart: snake_case into its parts, camelCase into its parts and the whole
(else nobody finds `OAuth` by `oauth`). One-letter words count. Chinese, Japanese and Korean, which
write no spaces, count in pairs of characters. Not handled: stems (`mails` does not find `mail`),
synonyms, stop words (their weight is next to nothing anyway). What the API does here is not
published.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_CJK}]{{2,}}")
_WORD_OR_RUN = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])[^\W_])+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[^A-Z]+")


_SPACED = str.maketrans({code: " " for code in range(128) if not chr(code).isalnum()})


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return [part for word in _split(text) for part in _parts(word)]


def count_words(text: str) -> dict[str, int]:
    """How often each word stands in a text."""
    counts: dict[str, int] = {}
    for word, times in Counter(_split(text)).items():
        for part in _parts(word):
            counts[part] = counts.get(part, 0) + times
    return counts


def _split(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_SPACED).split()
    return _WORD_OR_RUN.findall(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=100_000)
def _parts(word: str) -> tuple[str, ...]:
    """A word in lower case; with its humps; a run of Chinese and the like in pairs."""
    lower = word.lower()
    if word[1:] != lower[1:] and not word.isupper():
        return (lower, *(part.lower() for part in _HUMP.findall(word)))
    if not word.isascii() and _RUN.fullmatch(word):
        return tuple(first + second for first, second in pairwise(word))
    return (lower,)
