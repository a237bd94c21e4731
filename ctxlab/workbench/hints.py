"""The types a parameter may declare, and whether a value fits one.

>>> fit(parse("float"), 3)
3.0
>>> fit(parse("list[int] | None"), [1, 2])
[1, 2]
>>> fit(parse("int"), True)
Traceback (most recent call last):
ctxlab.workbench.hints.Misfit: true is not a whole number
>>> read(parse("str"), "007"), read(parse("int"), "7")
('007', 7)
>>> read(parse("str | None"), "null"), read(parse("str | None"), "7")
(None, '7')

Types are `int float str bool Path list dict None`, `list[…]`, `dict[str, …]`, `Literal[…]`,
`Optional[…]` and unions. Not handled: tuples, sets, dates, types that a notebook defines.
"""

from __future__ import annotations

import ast
import json
import math
import types
import typing
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, Optional, Union

_NAMES: dict[str, Any] = {
    "int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict,
    "Path": Path, "Literal": Literal, "Optional": Optional, "None": None,
}  # fmt: skip
_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    Path: "a path",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_SHOWN = 60


class Misfit(ValueError):
    """A value does not fit its type; the text says so and is to be put behind the place."""


def parse(text: str) -> Any:
    """The type that an annotation's text names.

    Raises:
        Misfit: it names none of those above.
    """
    try:
        return _type(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError):
        raise Misfit(f"`{text}` is no type of a parameter") from None


def _type(node: ast.expr) -> Any:
    match node:
        case ast.Name(name) if name in _NAMES:
            return _NAMES[name]
        case ast.Constant(None):
            return None
        case ast.Constant(str(text)):
            return parse(text)
        case ast.Attribute(ast.Name(), name) if name in _NAMES:  # typing.Literal, pathlib.Path
            return _NAMES[name]
        case ast.BinOp(left, ast.BitOr(), right):
            return Union[_type(left), _type(right)]  # noqa: UP007  `None | None` is no type, this is
        case ast.Subscript(origin, inner):
            return _generic(_type(origin), inner)
    raise Misfit(f"`{ast.unparse(node)}` is no type of a parameter")


def _generic(origin: Any, inner: ast.expr) -> Any:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if origin is Literal:
        return Literal[tuple(ast.literal_eval(part) for part in parts)]
    arguments = tuple(_type(part) for part in parts)
    if origin is dict and (len(arguments) != 2 or arguments[0] is not str):  # noqa: PLR2004  key, value
        raise Misfit("the keys of an object are text: `dict[str, …]`")
    return origin[arguments if len(arguments) > 1 else arguments[0]]


def described(hint: Any) -> str:
    """What fits, in words.

    >>> described(parse("Literal['a', 'b'] | None"))
    'one of "a", "b" or null'
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(described(part) for part in parts)
    if origin is Literal:
        return f"one of {', '.join(map(json.dumps, parts))}"
    if origin is list:
        return f"a list, each item {described(parts[0])}"
    if origin is dict:
        return f"an object, each value {described(parts[1])}"
    return _WORDS[type(None) if hint is None else hint]


def read(hint: Any, text: str) -> Any:
    """A value from the command line: text and paths as written, the rest is JSON.

    Where both may be meant (`int | str`, `Literal["a"] | None`), JSON that is not text and fits
    comes first.

    Raises:
        Misfit: it is not JSON, or does not fit.
    """
    if not takes_text(hint):
        return fit(hint, _json(text, hint))
    try:
        value = json.loads(text)
        return fit(hint, text if isinstance(value, str) else value)
    except ValueError:  # not JSON, or JSON that does not fit: the text itself
        return fit(hint, text)


def _json(text: str, hint: Any) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Misfit(f"{shown(text)} is not JSON; it takes {described(hint)}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def takes_text(hint: Any) -> bool:
    """Whether some text fits."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return any(takes_text(part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is Literal:
        return any(isinstance(part, str) for part in typing.get_args(hint))
    return hint in (str, Path)


def fit(hint: Any, value: Any) -> Any:
    """The value as JSON holds it: whole numbers become floats where a float is declared.

    Paths become text, tuples lists, numpy's numbers Python's. A bool is not a whole number.

    Raises:
        Misfit: it does not fit.
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _fit_any(hint, value)
    plain = as_json(value)
    if origin is Literal:
        fits = any(type(plain) is type(part) and plain == part for part in parts)
    elif origin is list and isinstance(plain, list):
        return [fit(parts[0], item) for item in plain]
    elif origin is dict and isinstance(plain, dict):
        return {key: fit(parts[1], item) for key, item in plain.items()}
    elif hint is float and type(plain) is int:
        return _float(plain)
    else:
        wanted = {None: type(None), Path: str}.get(hint, origin or hint)
        fits = type(plain) is wanted
    if not fits:
        raise Misfit(f"{shown(value)} is not {described(hint)}")
    return plain


def _fit_any(hint: Any, value: Any) -> Any:
    fitting = []
    for part in typing.get_args(hint):
        try:
            fitting.append(fit(part, value))
        except Misfit:
            continue
    if not fitting:
        raise Misfit(f"{shown(value)} is not {described(hint)}")
    plain = as_json(value)
    return next((fitted for fitted in fitting if type(fitted) is type(plain)), fitting[0])


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Misfit(f"{shown(value)} is too large for a number") from None


def as_json(value: Any) -> Any:
    """The same value in JSON's own types.

    Raises:
        Misfit: JSON has no such value (NaN, infinities, sets, keys that are not text, …).
    """
    if isinstance(value, PathLike):
        value = fspath(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # numpy's scalars and arrays
        value = value.tolist()
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Misfit(f"{value} is no JSON number")
    elif isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise Misfit(f"the keys of {shown(value)} are not all text")
        return {as_json(key): as_json(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    elif value is not None and not isinstance(value, bool | int | float):
        raise Misfit(f"{shown(value)} is no JSON value")
    return value


def _check_text(text: str) -> None:
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise Misfit(f"{shown(text)} is not valid UTF-8")


def paths(hint: Any, value: Any) -> Iterator[str]:
    """The paths in a value that fits: text where `Path` is declared; empty text names none."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is Path and value:
        yield value
    elif origin in (Union, types.UnionType):
        for part in parts:
            if _fits(part, value):
                yield from paths(part, value)
                return
    elif origin is list:
        for item in value:
            yield from paths(parts[0], item)
    elif origin is dict:
        for key in sorted(value):
            yield from paths(parts[1], value[key])


def _fits(hint: Any, value: Any) -> bool:
    try:
        fit(hint, value)
    except Misfit:
        return False
    return True


def shown(value: object) -> str:
    """A value in one short line, as JSON where it is JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError):
        text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
