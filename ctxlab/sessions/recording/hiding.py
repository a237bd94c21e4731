"""Secrets out of a line of JSON, byte for byte but for the strings that hold one.

Three kinds are masked: values that are credentials by where they stand (`authorization_token` of an
MCP server, `Authorization` among a tool's headers), what `ctxlab.masking` knows by its shape, and
the credentials that came in the request's own headers. Strings are looked at as they read, whatever
way their letters are escaped; numbers, names of keys and structure stay as they are. Equal strings
are masked to equal ones, so that comparing the beginnings of two requests still works.

>>> hidden(b'{"n": 12345678, "said": "my key is hunter2hunter2"}', ["hunter2hunter2", "12345678"])
b'{"n": 12345678, "said": "my key is ***"}'
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import NamedTuple

import orjson

from ctxlab.masking import MASK, masked

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}\[\]]', re.DOTALL)
_HEADERS = re.compile(r"auth|cookie|token|key|secret|passw|credential", re.IGNORECASE)
_HOLDERS = (
    *("authorization", "authorization_token", "proxy-authorization"),
    *("x-api-key", "api-key", "api_key", "apikey", "x-goog-api-key"),
    *("client_secret", "access_token", "auth_token", "refresh_token"),
)
"""Keys whose strings are credentials, whatever they look like."""
_SERVERS = ("mcp_servers", "tools")
_SERVER_DEPTH = 4  # the request, its servers, one of them, what is sent to it
_LONG = 16
_KEY = re.compile(r"sk-\S{5,}|(?=\S*\d)(?=\S*[A-Za-z])\S{8,}")
_BETWEEN = "\n\x00\n"  # nothing that is masked reaches over it
_KNOWN = 50_000


class _Text(NamedTuple):
    start: int
    end: int
    text: str
    held: bool
    """It is a credential by where it stands."""


def hidden(raw: bytes, credentials: Iterable[str] = ()) -> bytes:
    """JSON with *** in the place of each secret.

    Args:
        raw: JSON that orjson reads.
        credentials: what else must not stand in it.

    Raises:
        ValueError: a string in it is none.
    """
    texts = list(_texts(raw))
    shaped = _without_shapes([each.text for each in texts])
    parts, done = [], 0
    for each, clean in zip(texts, shaped, strict=True):
        told = MASK if each.held else without(clean, credentials)
        if told is not each.text and told != each.text:
            parts += [raw[done : each.start], orjson.dumps(told)]
            done = each.end
    return b"".join([*parts, raw[done:]]) if parts else raw


def without(text: str, credentials: Iterable[str]) -> str:
    """A text with *** in the place of each credential."""
    for credential in credentials:
        text = text.replace(credential, MASK)
    return text


def masked_path(path: str, credentials: Iterable[str] = ()) -> str:
    """A path or an address, each of its steps looked at by itself too.

    >>> masked_path("http://host/sk-ant-api03-abcdefghijklmnop/v1")
    'http://host/***/v1'
    """
    return "/".join(masked(step) for step in without(masked(path), credentials).split("/"))


def credentials_of(headers: Mapping[str, str], models: Sequence[str] = ()) -> list[str]:
    """What of a request's headers must not be written, the longest first.

    Left alone: what is no plausible secret, since `dummy` or `12345678` may stand anywhere, and
    what is part of a model's name.
    """
    words = {
        word
        for name, value in headers.items()
        if _HEADERS.search(name)
        for word in _words(name.lower(), value)
        if _is_secret(word) and not any(word in model for model in models)
    }
    return sorted(words, key=len, reverse=True)


def _words(name: str, value: str) -> list[str]:
    if name == "cookie":
        return [pair.partition("=")[2].strip().strip('"') for pair in value.split(";")]
    return [*value.split(), *value.replace(",", " ").split()]


def _is_secret(word: str) -> bool:
    return len(word) >= _LONG or bool(_KEY.fullmatch(word))


def _texts(raw: bytes) -> Iterator[_Text]:
    """Every string that is a value."""
    path: list[str] = []
    """The key under which each open object and list stands; a list's own key holds in it."""
    key: str | None = None
    for found in _TOKEN.finditer(raw):
        token = found[0]
        if token in b"{[":
            path.append(key if key is not None else path[-1] if path else "")
            key = None
        elif token in b"}]":
            path.pop()
            key = None
        elif found[1] is not None:
            key = _decoded(token[: -len(found[1])])
        else:
            text = _decoded(token)
            held = bool(text) and _is_held(key, path)
            yield _Text(found.start(), found.end(), text, held)
            key = None


def _is_held(key: str | None, path: list[str]) -> bool:
    name = key if key is not None else path[-1] if path else ""
    if name.lower() in _HOLDERS:
        return True
    return len(path) == _SERVER_DEPTH and path[1] in _SERVERS and path[3] in ("headers", "env")


def _decoded(token: bytes) -> str:
    return str(orjson.loads(token)) if b"\\" in token else token[1:-1].decode()


class _Clean:
    """Strings that hold no secret: a session sends the same ones again and again."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._lock = Lock()

    def holds(self, text: str) -> bool:
        return (len(text), hash(text)) in self._known

    def add(self, texts: Iterable[str]) -> None:
        with self._lock:
            self._known.update(((len(text), hash(text)), None) for text in texts)
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)


_clean = _Clean()


def _without_shapes(texts: list[str]) -> list[str]:
    """Each text masked; all in one go, which takes a fraction of the time."""
    new = dict.fromkeys(text for text in texts if not _clean.holds(text))
    told = masked(_BETWEEN.join(new)).split(_BETWEEN) if new else []
    if len(told) != len(new):  # a key without an end, or a text that holds what is between
        told = [masked(text) for text in new]
    found = dict(zip(new, told, strict=True))
    _clean.add(text for text, clean in found.items() if text == clean)
    return [found.get(text, text) for text in texts]
