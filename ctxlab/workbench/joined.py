"""Two versions of a table, joined on the key that was recorded with them.

The repeats of a measured value (the key column `repeat`) stand together in one pair. Where the key
itself has changed, no row has a partner. Not handled: what a difference means.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from ctxlab.errors import InputError
from ctxlab.workbench.manifest import Table

REPEAT = "repeat"
"""The key column of a measured table that numbers the repeats of one measurement."""

_Rows = list[list[str]]
_Key = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """The rows of one key, before and after; None where there are none."""

    before: _Rows | None
    after: _Rows | None
    columns: tuple[dict[str, int], dict[str, int]]
    """Column → its place in a row, before and after."""

    def cells(self, column: str) -> tuple[list[str], list[str]]:
        """A column's cells before and after, one for each repeat; empty text where it is absent."""
        old, new = (places.get(column) for places in self.columns)
        return _column(self.before or [], old), _column(self.after or [], new)


@dataclass(frozen=True)
class Joined:
    """Every key of two tables: how many have the very same rows, and the pairs of the others."""

    same: int
    pairs: list[tuple[str, Pair]]
    """Key as text, and its rows."""


def joined(before: tuple[Path, Table | None], after: tuple[Path, Table | None]) -> Joined:
    """Join two versions of a table, each given by its run directory and what was recorded of it.

    Raises:
        InputError: a table is not as its manifest says.
    """
    old_columns, old = _read(*before)
    new_columns, new = _read(*after)
    columns = (old_columns, new_columns)
    partners = new if not (before[1] and after[1]) or before[1].key == after[1].key else {}
    alone = new.keys() - (old.keys() if partners else ())
    changed = old if old_columns != new_columns else (k for k in old if old[k] != partners.get(k))
    pairs = [(_told(key), Pair(old[key], partners.get(key), columns)) for key in changed]
    same = len(old) - len(pairs)
    pairs += [(_told(key), Pair(None, new[key], columns)) for key in new if key in alone]
    return Joined(same, pairs)


def _told(key: _Key) -> str:
    return key if isinstance(key, str) else " · ".join(key)


def _column(rows: _Rows, place: int | None) -> list[str]:
    return ["" if place is None else row[place] for row in rows]


def _read(folder: Path, recorded: Table | None) -> tuple[dict[str, int], dict[_Key, _Rows]]:
    """Columns with their places, and rows by key."""
    if recorded is None:
        return {}, {}
    path = folder / recorded.path
    found: dict[_Key, _Rows] = {}
    ragged = False
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines)
            columns = {name: at for at, name in enumerate(next(reader))}
            key_of = _key(columns, recorded.key)
            for row in reader:
                found.setdefault(key_of(row), []).append(row)
                ragged = ragged or len(row) != len(columns)
    except (OSError, LookupError, StopIteration, ValueError, csv.Error) as error:
        raise InputError(f"the table is not as its manifest says: {error!r}", path=path) from error
    if ragged:
        raise InputError("the table is not as its manifest says: a row lacks fields", path=path)
    return columns, found


def _key(columns: dict[str, int], key: list[str]) -> Callable[[list[str]], _Key]:
    places = [columns[name] for name in key if name != REPEAT]
    return itemgetter(*places) if places else lambda _: ""
