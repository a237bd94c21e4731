"""Where two versions of one tool differ, and whether the difference means anything.

Equal in meaning are: objects in any order of keys, `required` arrays in any order, numbers of equal
value (`1` and `1.0`), and a tool with and without its breakpoint, which no model reads.

>>> [*differences({"name": "f", "n": 1}, {"n": 1.0, "name": "g"})]
[Difference(pointer='/name', before='f', after='g', semantic=True), \
Difference(pointer='/n', before=1, after=1.0, semantic=False), \
Difference(pointer='', before={'name': 'f', 'n': 1}, after={'n': 1.0, 'name': 'g'}, semantic=False)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from ctxlab.prefix.canonical import canonical
from ctxlab.prefix.faults import escape
from ctxlab.prefix.schema import Role, below, is_names

MARKER = "cache_control"
"""The member of a tool that marks a breakpoint: no part of what is hashed or read."""


class Difference(NamedTuple):
    """One place where two versions of a tool differ."""

    pointer: str
    """RFC 6901, the deepest place that tells the difference."""
    before: Any
    """The value there; None where there was none."""
    after: Any
    semantic: bool
    """False where the meaning is equal and only the bytes differ."""


def differences(
    before: Any, after: Any, role: Role | None = "tool", pointer: str = ""
) -> Iterator[Difference]:
    """The differences between two JSON values, in the order of `before`.

    Objects are followed key by key. Arrays of equal length are followed element by element, unless
    they hold the same elements in another order; that, and arrays of different lengths, is one
    difference at the array. `required` is told whole. A member that is null on one side and absent
    on the other is told at the object that holds it, where the two can be told apart.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, role, pointer)
    elif role == "names" and is_names(before) and is_names(after):
        if list(before) != list(after):
            yield Difference(pointer, before, after, set(before) != set(after))
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        yield from _of_arrays(before, after, role, pointer)
    elif not _same_scalar(before, after):
        yield Difference(pointer, before, after, not _equal_numbers(before, after))


def common_place(found: Sequence[Difference], before: Any, after: Any) -> Difference:
    """Several differences between `before` and `after` as one, at the place that holds them all."""
    if len(found) == 1:
        return found[0]
    columns = zip(*(one.pointer.split("/")[1:] for one in found), strict=False)
    tokens = [column[0] for column in takewhile(lambda column: len({*column}) == 1, columns)]
    for token in tokens:
        before, after = _member(before, token), _member(after, token)
    pointer = "".join(f"/{token}" for token in tokens)
    return Difference(pointer, before, after, any(one.semantic for one in found))


def _member(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return next(child for key, child in value.items() if escape(key) == token)
    return value[int(token)]


def meaning(value: Any, role: Role | None = "tool") -> str:
    """One text for all values of equal meaning.

    >>> meaning({"a": 1, "b": 2.0}) == meaning({"b": 2, "a": 1.0})
    True
    """
    return canonical(_plain(value, role))


def _of_objects(
    before: dict[str, Any], after: dict[str, Any], role: Role | None, pointer: str
) -> Iterator[Difference]:
    untold = False
    for key in [*before, *(key for key in after if key not in before)]:
        place, old, new = f"{pointer}/{escape(key)}", before.get(key), after.get(key)
        if role == "tool" and key == MARKER:
            if (key in before, canonical(old)) != (key in after, canonical(new)):
                yield Difference(place, old, new, semantic=False)
        elif key in before and key in after:
            yield from differences(old, new, below(role, key), place)
        elif old is new is None:
            untold = True
        else:
            yield Difference(place, old, new, semantic=True)
    if untold:
        yield Difference(pointer, before, after, semantic=True)
    if [key for key in before if key in after] != [key for key in after if key in before]:
        yield Difference(pointer, before, after, semantic=False)


def _of_arrays(
    before: list[Any] | tuple[Any, ...],
    after: list[Any] | tuple[Any, ...],
    role: Role | None,
    pointer: str,
) -> Iterator[Difference]:
    if len(before) != len(after):
        yield Difference(pointer, before, after, semantic=True)
        return
    found = [
        [*differences(old, new, role, f"{pointer}/{index}")]
        for index, (old, new) in enumerate(zip(before, after, strict=True))
    ]
    edits = sum(any(one.semantic for one in ones) for ones in found)
    if edits > 1 and _counts(before, role) == _counts(after, role):
        yield Difference(pointer, before, after, semantic=True)
        return
    for ones in found:
        yield from ones


def _counts(items: list[Any] | tuple[Any, ...], role: Role | None) -> Counter[str]:
    return Counter(meaning(item, role) for item in items)


def _same_scalar(before: Any, after: Any) -> bool:
    if _is_number(before) and _is_number(after):
        return canonical(before) == canonical(after)
    return isinstance(before, bool) == isinstance(after, bool) and bool(before == after)


def _equal_numbers(before: Any, after: Any) -> bool:
    return _is_number(before) and _is_number(after) and bool(before == after)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any, role: Role | None) -> Any:
    if isinstance(value, dict):
        return {key: _plain(child, below(role, key)) for key, child in value.items()}
    if role == "names" and is_names(value):
        return sorted(set(value))
    if isinstance(value, list | tuple):
        return [_plain(item, role) for item in value]
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole else value
