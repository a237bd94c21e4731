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
from itertools import pairwise

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_CJK}]{{2,}}")
_WORD = re.compile(r"[^\W_]+")
_WORD_OR_RUN = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])[^\W_])+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[^A-Z]+")


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for word in (_WORD if text.isascii() else _WORD_OR_RUN).findall(text):
        lower = word.lower()
        found.append(lower)
        if word[1:] != lower[1:] and not word.isupper():
            found += [part.lower() for part in _HUMP.findall(word)]
        elif not word.isascii() and _RUN.fullmatch(word):
            found[-1:] = [first + second for first, second in pairwise(word)]
    return found
