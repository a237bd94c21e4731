"""Two runs side by side: what differs in their inputs, then every row joined on its key.

`compare_runs(before, after)` reads two run directories (manifests and tables, nothing else) and
decides nothing by itself: the rules were recorded with the tables, and `verdicts` applies them.
Where the notebook's source differs, rows are `not comparable`: a measurement that was changed is
not a regression.
"""

from __future__ import annotations

import csv
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctxlab.errors import InputError
from ctxlab.workbench.manifest import Manifest, Table, read_manifest
from ctxlab.workbench.rules import Rule
from ctxlab.workbench.verdicts import Verdict, judge

REPEAT = "repeat"
"""The key column of a measured table that numbers the repeats of one measurement."""

BAD: frozenset[Verdict] = frozenset({"worse", "missing", "failed"})
_Row = Mapping[str, str]


@dataclass(frozen=True)
class InputChange:
    """One input that differs: `what` as a path into the manifest, such as `parameters.turns`."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class CellChange:
    """One column of one row."""

    column: str
    before: str
    after: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class RowChange:
    """One row that is not the same: its table, its key, its verdict (the worst of its cells)."""

    table: str
    key: str
    verdict: Verdict
    cells: tuple[CellChange, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """What `compare_runs` found: `counts` of every row, `rows` only those that are not the same."""

    entry: str
    before: str
    after: str
    inputs: tuple[InputChange, ...]
    rows: tuple[RowChange, ...]
    counts: Mapping[str, int]

    @property
    def bad(self) -> bool:
        """Whether anything is worse, missing or failed: exit code 1."""
        return any(self.counts.get(verdict) for verdict in BAD)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self) | {"counts": dict(self.counts), "bad": self.bad}


def compare_runs(before: str | Path, after: str | Path) -> Comparison:
    """Hold the run directory `after` against `before`.

    Raises:
        InputError: a directory without a readable manifest, a table that is not as recorded.
    """
    old_dir, new_dir = Path(before), Path(after)
    old, new = read_manifest(old_dir), read_manifest(new_dir)
    rows, same = _status_rows(old, new), 0
    if not rows:
        found = list(_tables(old_dir, new_dir, old, new))
        rows = [row for row in found if row.verdict != "same"]
        same = len(found) - len(rows)
    counts = Counter[str]({"same": same}) + Counter(row.verdict for row in rows)
    inputs = tuple(_input_changes(old, new))
    return Comparison(
        new.entry, str(before), str(after), inputs, tuple(rows), dict(sorted(counts.items()))
    )


def _status_rows(old: Manifest, new: Manifest) -> list[RowChange]:
    """The one row that stands for a run with a failure on either side; none when both succeeded."""
    verdict: Verdict = "failed" if new.status == "failed" else "fixed"
    if (old.status, new.status) == ("succeeded", "succeeded"):
        return []
    cell = CellChange("status", _status(old), _status(new), verdict)
    return [RowChange("run", new.entry, verdict, (cell,))]


def _status(manifest: Manifest) -> str:
    error = manifest.error
    return f"failed: {error.ename}: {error.evalue}" if error else manifest.status


def _input_changes(old: Manifest, new: Manifest) -> Iterator[InputChange]:
    before, after = dict(_flat_inputs(old)), dict(_flat_inputs(new))
    for what in {**after, **before}:
        if before.get(what) != after.get(what):
            yield InputChange(what, before.get(what), after.get(what))


def _flat_inputs(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    """What a run was made of, as paths into its manifest; what matters most comes first."""
    yield from ((f"parameters.{name}", value) for name, value in manifest.parameters.items())
    yield "notebook.source_sha256", manifest.notebook.source_sha256
    yield from ((f"data.{item.path}", item.sha256) for item in manifest.data)
    yield from (("models", manifest.models), ("tokenizer", manifest.tokenizer))
    yield from (("git.commit", manifest.git.commit), ("git.dirty", manifest.git.dirty))
    yield "environment.python", manifest.environment.python
    yield "environment.lock_sha256", manifest.environment.lock_sha256
    packages = manifest.environment.packages.items()
    yield from ((f"environment.packages.{name}", version) for name, version in packages)


def _tables(old_dir: Path, new_dir: Path, old: Manifest, new: Manifest) -> Iterator[RowChange]:
    comparable = old.notebook.source_sha256 == new.notebook.source_sha256
    for name in {**old.tables, **new.tables}:
        before, after = old.tables.get(name), new.tables.get(name)
        for row in _rows(name, (old_dir, before), (new_dir, after)):
            if comparable or row.verdict == "same":
                yield row
            else:
                yield RowChange(row.table, row.key, "not comparable", row.cells)


def _rows(
    name: str, old: tuple[Path, Table | None], new: tuple[Path, Table | None]
) -> Iterator[RowChange]:
    (_, before), (_, after) = old, new
    recorded = after or before
    assert recorded is not None
    if before and after and before.sha256 == after.sha256:
        yield from (RowChange(name, "", "same") for _ in range(after.rows))
        return
    rows_before, rows_after = _read_table(*old, recorded.key), _read_table(*new, recorded.key)
    for key in {**rows_before, **rows_after}:
        yield _row(name, key, (rows_before.get(key), rows_after.get(key)), recorded.metrics)


def _read_table(
    folder: Path, recorded: Table | None, key: list[str]
) -> dict[tuple[str, ...], list[_Row]]:
    """Rows by key; the repeats of a measured value stand together in one list."""
    if recorded is None:
        return {}
    joined_on = [column for column in key if column != REPEAT]
    path = folder / recorded.path
    found: dict[tuple[str, ...], list[_Row]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                found.setdefault(tuple(row[column] for column in joined_on), []).append(row)
    except (OSError, KeyError, csv.Error) as error:
        raise InputError(f"the table is not as its manifest says: {error!r}", path=path) from error
    return found


def _row(
    table: str,
    key: tuple[str, ...],
    rows: tuple[list[_Row] | None, list[_Row] | None],
    metrics: Mapping[str, Rule],
) -> RowChange:
    before, after = rows
    told = " · ".join(key)
    if before is None or after is None:
        return RowChange(table, told, "new" if before is None else "missing")
    if before == after:
        return RowChange(table, told, "same")
    cells = tuple(_cells(before, after, metrics))
    found = {cell.verdict for cell in cells}
    worst: Verdict = "worse" if "worse" in found else "better" if "better" in found else "same"
    return RowChange(table, told, worst, cells)


def _cells(
    before: list[_Row], after: list[_Row], metrics: Mapping[str, Rule]
) -> Iterator[CellChange]:
    for column, rule in metrics.items():
        old = [row.get(column) or "" for row in before]
        new = [row.get(column) or "" for row in after]
        if old != new:
            verdict, note = judge(rule, old, new)
            yield CellChange(column, _told(old), _told(new), verdict, note)


def _told(cells: list[str]) -> str:
    if len(cells) == 1:
        return cells[0]
    return f"median {statistics.median(map(float, cells)):.6g} of {len(cells)}"
