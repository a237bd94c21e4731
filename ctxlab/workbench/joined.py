"""Two versions of a table, joined on the key that was recorded with them.

The repeats of a measured value (the key column `repeat`) stand together in one pair. Where the key
itself has changed, no row has a partner. Not handled: what a difference means.
"""

from __future__ import annotations

import csv
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

    @property
    def same(self) -> bool:
        """Whether not a character differs."""
        return self.before == self.after and self.columns[0] == self.columns[1]

    def cells(self, column: str) -> tuple[list[str], list[str]]:
        """A column's cells before and after, one for each repeat; empty text where it is absent."""
        old, new = (places.get(column) for places in self.columns)
        return _column(self.before or [], old), _column(self.after or [], new)


def joined(
    before: tuple[Path, Table | None], after: tuple[Path, Table | None]
) -> Iterator[tuple[str, Pair]]:
    """Key as text, and its rows on both sides: of run directory and table before, and after.

    Raises:
        InputError: a table is not as its manifest says.
    """
    old_columns, old = _read(*before)
    new_columns, new = _read(*after)
    columns = (old_columns, new_columns)
    if before[1] and after[1] and before[1].key != after[1].key:
        yield from ((_told(key), Pair(rows, None, columns)) for key, rows in old.items())
        yield from ((_told(key), Pair(None, rows, columns)) for key, rows in new.items())
        return
    for key, rows in old.items():
        yield _told(key), Pair(rows, new.get(key), columns)
    yield from (
        (_told(key), Pair(None, rows, columns)) for key, rows in new.items() if key not in old
    )


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
        with path.open(encoding="utf-8", newline="") as lines, _no_collection():
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


@contextmanager
def _no_collection() -> Iterator[None]:
    """Rows are no garbage: a collector that walks all of them time and again doubles the time."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def _key(columns: dict[str, int], key: list[str]) -> Callable[[list[str]], _Key]:
    places = [columns[name] for name in key if name != REPEAT]
    return itemgetter(*places) if places else lambda _: ""
