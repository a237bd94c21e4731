"""No secret is ever written: what looks like one is masked in whatever a run leaves behind.

>>> masked("401 for sk-ant-api03-abcdefghijklmnop at https://me:hunter22@host/x")
'401 for *** at https://***@host/x'

Known shapes of keys, passwords in addresses and queries, and the values of this process's
environment variables whose names speak of secrets. Not handled: secrets of no known shape that
come from elsewhere, and recorded tables and charts, which are the experiment's own data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

MASK = "***"
_SHORTEST = 8  # a shorter value would be found in text by chance
_SECRET_VARIABLE = re.compile(
    r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?)(_|$)", re.IGNORECASE
)  # TOKENIZER and MAX_TOKENS are none
_NAMES = (
    r"api[_-]?key|password|passwd|secret|client[_-]?secret|secret[_-]access[_-]key|access[_-]key"
    r"|(?:access|auth|authorization|refresh)[_-]?token"
)
_SHAPES = re.compile(
    r"""
    (?<![A-Za-z0-9])(?:                   # not within other text, such as risk-…
        sk-[A-Za-z0-9_-]{16,}             # Anthropic, OpenAI
        | (?:gh[pousr]_|github_pat_|glpat-)[A-Za-z0-9_-]{20,}
        | xox[abprs]-[A-Za-z0-9-]{10,}
        | (?:AKIA|ASIA)[0-9A-Z]{16}
        | AIza[A-Za-z0-9_-]{35}
        | ya29\.[A-Za-z0-9._-]{16,}       # Google OAuth
        | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+   # JWT
    )
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | (?<=://)[^/\s:@"'<>]*:[^/\s@"'<>]+(?=@)               # user:password@host
    """,
    re.VERBOSE | re.DOTALL,
)
_VALUE = r"(?=[A-Za-z0-9+/_.~=-]*\d)[A-Za-z0-9+/_.~=-]{8,}"  # with a digit: code has few such words
_NAMED = re.compile(
    rf"""
    (?P<before>
        \bbearer\s+(?=\S{{16}})
        | \bauthorization["']?\s*[:=]\s*["']?(?:basic|digest|token)\s+(?=\S{{8}})
    )[A-Za-z0-9._~+/=-]+
    | (?P<query>[?&](?:[\w-]{{0,40}}(?:{_NAMES})|key|token|sig|signature)=)[^&\s"'<>]+
    | (?P<quoted>(?<![\w-])[\w-]{{0,40}}(?:{_NAMES})["']?\s*[=:]\s*["'])[^"'\s]{{8,}}
    | (?P<bare>(?<![\w-])(?:
          [\w-]{{0,40}}(?:{_NAMES})
          | (?-i:[A-Z0-9_]{{0,40}}_(?:KEY|TOKEN|SECRET|PASSWORD|PASS))
      )=){_VALUE}
    """,
    re.IGNORECASE | re.VERBOSE,
)


def masked(text: str) -> str:
    """The text with *** in the place of each secret."""
    for value in _secret_values(os.environ.items()):
        text = text.replace(value, MASK)
    text = _SHAPES.sub(MASK, text)
    return _NAMED.sub(lambda found: f"{found[found.lastgroup or 0]}{MASK}", text)


def masked_json(value: Any) -> Any:
    """The same for every text in a JSON value; keys are names and stay."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list | tuple):
        return [masked_json(item) for item in value]
    if isinstance(value, dict):
        return {key: masked_json(item) for key, item in value.items()}
    return value


def _secret_values(environment: Iterable[tuple[str, str]]) -> list[str]:
    values = {
        value
        for name, value in environment
        if _SECRET_VARIABLE.search(name) and len(value) >= _SHORTEST and not _is_plain(value)
    }
    return sorted(values, key=len, reverse=True)  # one may be another's beginning


def _is_plain(value: str) -> bool:
    """A path or a number, which a variable with such a name may hold: no secret."""
    return value.startswith("/") or value.isdigit()
