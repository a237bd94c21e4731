r"""Tables as files: the same frame gives the same bytes, and comes back as it was.

>>> import pandas as pd
>>> frame = prepared("turns", pd.DataFrame({"turn": [1, 2], "usd": [0.1, None]}), key=["turn"])
>>> to_csv(frame)
b'turn,usd\n1,0.1\n2,\n'
>>> kinds(frame)
{'turn': 'int', 'usd': 'float'}

UTF-8, comma, `\n`; a field is quoted when it has to be; floats in the shortest form that reads
back equal; a missing value is an empty field, an empty text is `""`. What cannot be UTF-8 (lone
surrogates of undecodable bytes) stands as `\udc80`.

A kind is `int float bool str time`, with `?` behind it where values are missing (floats have NaN
for that), or `mixed`: text and numbers in one column, which comes back as text. Not handled: nested
values, intervals, time spans.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.errors import InputError, UsageError

if TYPE_CHECKING:
    import pandas as pd

_SPECIAL = frozenset('",\r\n')
_DTYPES = {"int": "int64", "int?": "Int64", "float": "float64", "bool": "bool", "bool?": "boolean"}


def prepared(name: str, frame: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """The frame as it is saved: named index levels become columns, an unnamed numbering goes.

    Raises:
        UsageError: columns that are no distinct names, an index that would be lost, a key that is
            not there, has missing values or does not tell the rows apart.
    """
    import pandas as pd  # noqa: PLC0415  1.3 s that the command line should not pay

    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"table {name}: a DataFrame is recorded, not {type(frame).__name__}")
    flat = _without_index(name, frame)
    columns = list(flat.columns)
    if not columns or not all(isinstance(column, str) and column.strip() for column in columns):
        raise UsageError(f"table {name}: each column has a name, found {columns!r:.120}")
    if len(set(columns)) != len(columns):
        twice = sorted({column for column in columns if columns.count(column) > 1})
        raise UsageError(f"table {name}: the columns {', '.join(twice)} stand twice")
    _check_key(name, flat, key)
    return flat


def _without_index(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    named = [level for level in frame.index.names if level is not None]
    if len(named) == frame.index.nlevels:
        if set(named) & set(frame.columns):
            raise UsageError(
                f"table {name}: the index {', '.join(map(str, named))} is a column too"
            )
        return frame.reset_index()
    if frame.index.nlevels == 1 and pd.api.types.is_integer_dtype(frame.index.dtype):
        return frame.reset_index(drop=True)
    raise UsageError(f"table {name}: the index would be lost; name it or reset it")


def _check_key(name: str, frame: pd.DataFrame, key: Sequence[str]) -> None:
    if isinstance(key, str) or not key:
        raise UsageError(f"table {name}: key is a list of the columns that tell its rows apart")
    unknown = [column for column in key if column not in frame.columns]
    if unknown:
        raise UsageError(f"table {name}: no column {unknown[0]!r} for the key")
    if frame[list(key)].isna().to_numpy().any():
        raise UsageError(f"table {name}: the key {', '.join(key)} has missing values")
    doubled = frame[frame.duplicated(list(key))]
    if len(doubled):
        row = ", ".join(f"{column}={doubled.iloc[0][column]!r:.60}" for column in key)
        raise UsageError(
            f"table {name}: the key {', '.join(key)} does not tell {len(doubled)} rows apart, "
            f"the first is {row}"
        )


def kinds(frame: pd.DataFrame) -> dict[str, str]:
    """Each column's kind, in order.

    Raises:
        UsageError: a column holds what a table cannot (a list, a set, an object).
    """
    return {column: _kind(column, frame[column]) for column in frame.columns}


def _kind(column: str, values: pd.Series[Any]) -> str:
    import pandas as pd  # noqa: PLC0415

    there = values.dropna()
    missing = "?" if len(there) < len(values) else ""
    if pd.api.types.is_float_dtype(values.dtype):
        return "float"
    for kind, test in (
        ("bool", pd.api.types.is_bool_dtype),
        ("int", pd.api.types.is_integer_dtype),
        ("time", pd.api.types.is_datetime64_any_dtype),
    ):
        if test(values.dtype) and values.dtype != object:
            return kind + missing
    found = {_kind_of_value(column, value) for value in there}
    if found <= {"int", "float"} and "float" in found:
        return "float"
    if len(found) > 1:
        return "mixed"
    kind = found.pop() if found else "str"
    if kind == "str" and missing and (there == "").any():
        raise UsageError(f"column {column!r}: both empty text and missing values; choose one")
    return kind + missing


def _kind_of_value(column: str, value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    for kind, types in (("bool", bool), ("int", int), ("float", float), ("str", str)):
        if isinstance(plain, types):
            return kind
    if isinstance(plain, date):  # datetimes and pandas' timestamps are dates too
        return "time"
    raise UsageError(
        f"column {column!r}: a table holds text, numbers, booleans and times, not {plain!r:.60}"
    )


def to_csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV: equal frames give equal bytes, whatever pandas or Python wrote them."""
    columns = [_fields(frame[column]) for column in frame.columns]
    rows = [",".join(map(_quoted, frame.columns)), *map(",".join, zip(*columns, strict=True))]
    return "".join(f"{row}\n" for row in rows).encode(errors="backslashreplace")


def _fields(values: pd.Series[Any]) -> list[str]:
    missing = values.isna().tolist()
    pairs = zip(values.tolist(), missing, strict=True)
    return ["" if gone else _field(value) for value, gone in pairs]


def _field(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, str):
        return _quoted(plain)
    if isinstance(plain, date):
        return plain.isoformat()
    if isinstance(plain, float) and not math.isfinite(plain):
        return "inf" if plain > 0 else "-inf"
    return repr(plain)


def _quoted(text: str) -> str:
    if text and _SPECIAL.isdisjoint(text) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def from_csv(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    """A saved table with the kinds it was saved with, its columns in the file's order.

    A manifest sorts its keys, so `columns` may come in any order.

    Raises:
        InputError: the file is not there, or not the table that `columns` describe.
    """
    import pandas as pd  # noqa: PLC0415

    try:
        frame = pd.read_csv(
            path,
            dtype={name: _DTYPES.get(kind, "str") for name, kind in columns.items()},
            keep_default_na=False,
            na_values={name: [""] for name, kind in columns.items() if _has_missing(kind)},
        )
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"not the table that was saved: {error}", path=path) from None
    if set(frame.columns) != set(columns):
        raise InputError(f"its columns are not {', '.join(columns)}", path=path)
    for name, kind in columns.items():
        if kind.startswith("time"):
            frame[name] = pd.to_datetime(frame[name], format="ISO8601")
    return frame


def _has_missing(kind: str) -> bool:
    return kind.endswith("?") or kind in ("float", "mixed")
