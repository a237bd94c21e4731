"""A file with one request: a Messages API body, or one line of a request log.

Not handled: a file with many requests, which `ctxlab audit` and `ctxlab lint` read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from ctxlab.cache.validation import SAMPLING
from ctxlab.errors import InputError
from ctxlab.sessions.reading.lines import BOM

_WIDE = (b"\xff\xfe", b"\xfe\xff")


def body_of(path: Path) -> dict[str, Any]:
    """The request body of a file, without parameters that later versions of the API refuse.

    Raises:
        InputError: there is none.
        OSError: the file cannot be read.
    """
    value = _value(path)
    if isinstance(value, Mapping) and isinstance(value.get("request"), Mapping):
        value = value["request"]
    if not isinstance(value, Mapping) or not {"model", "messages"} <= set(value):
        raise InputError(
            'no request body: a JSON object with model and messages, or {"request": {…}}', path=path
        )
    return {key: item for key, item in value.items() if key not in SAMPLING}


def text_of(body: Mapping[str, Any], path: Path) -> bytes:
    """A body as it is sent.

    Raises:
        InputError: it is nested deeper than can be written.
    """
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        raise InputError("nested too deep to be compared: 250 levels are read", path=path) from None


def _value(path: Path) -> Any:
    raw = path.read_bytes()
    if raw.startswith(_WIDE):
        raise InputError("UTF-16: a request is JSON in UTF-8", path=path)
    try:
        return orjson.loads(raw.removeprefix(BOM))
    except orjson.JSONDecodeError as error:
        if raw.strip().count(b"\n") and path.suffix == ".jsonl":
            raise InputError(
                "more than one line: give a file with one request", path=path
            ) from None
        raise InputError(f"not JSON: {error.msg}", path=path, place=error.lineno) from None
