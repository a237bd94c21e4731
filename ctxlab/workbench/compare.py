"""Two runs side by side: what differs in their inputs, then every row joined on its key.

`compare_runs(before, after)` reads two run directories (manifests and tables, nothing else) and
decides nothing by itself: the rules were recorded with the tables, and `verdicts` applies them.

A row whose values are the same is `same`, whatever else differs. One that is not is judged, but for
where the measurement itself was changed, which is no regression: it is `not comparable` where

| what differs                                   | because                                        |
|------------------------------------------------|------------------------------------------------|
| the notebook's source                          | it measures something else now                 |
| a fetched input, under the same path           | a server or a package moved, nobody here       |
| the machine, for tables of measured times      | times are a machine's own                      |

ctxlab's own source, the commit and the packages are what a comparison is there to judge.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctxlab.errors import InputError
from ctxlab.workbench import stores
from ctxlab.workbench.changes import InputChange as InputChange
from ctxlab.workbench.changes import drifted, input_changes
from ctxlab.workbench.digests import content
from ctxlab.workbench.joined import Pair, joined
from ctxlab.workbench.manifest import Manifest, Table, read_manifest
from ctxlab.workbench.verdicts import Verdict, judge, summed

BAD: frozenset[Verdict] = frozenset({"worse", "missing", "failed"})
GOOD: frozenset[Verdict] = frozenset({"better", "fixed"})
_MACHINE = ("system", "architecture", "processor", "cpus")


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


def compare_runs(before: str | Path, after: str | Path, *, verify: bool = True) -> Comparison:
    """Hold the run directory `after` against `before`.

    Tables of one hash are the same; with `verify` the files are held against that hash first.

    Raises:
        InputError: a directory without a readable manifest, a table that is not as recorded.
    """
    old, new = read_manifest(before), read_manifest(after)
    counts: Counter[str] = Counter()
    rows = _status_rows(old, new)
    if not rows:
        with _no_collection():
            for name in {**old.tables, **new.tables}:
                runs = (Path(before), old), (Path(after), new)
                if verify:
                    _verify(runs, name)
                rows += _table(*runs, name, counts)
    counts.update(row.verdict for row in rows)
    inputs = tuple(input_changes(old, new))
    found = dict(sorted((+counts).items()))
    return Comparison(new.entry, _place(before), _place(after), inputs, tuple(rows), found)


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


def _place(run: str | Path) -> str:
    return stores.of(Path(run)).told(Path(run))


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


def _verify(runs: tuple[tuple[Path, Manifest], ...], name: str) -> None:
    """A file that was damaged since is no table of the run.

    Raises:
        InputError: it is not there, or not what was recorded.
    """
    for folder, told in runs:
        recorded = told.tables.get(name)
        if recorded is None:
            continue
        path = folder / recorded.path
        try:
            found = content(path).sha256
        except InputError as error:
            raise InputError(
                f"the table is not as its manifest says: {error.message}", path=path
            ) from None
        if found != recorded.sha256:
            raise InputError(
                "the table is not as its manifest says: it was changed since", path=path
            )


def _table(
    old: tuple[Path, Manifest], new: tuple[Path, Manifest], name: str, counts: Counter[str]
) -> list[RowChange]:
    """The rows of one table that are not the same; those that are, are counted."""
    before, after = old[1].tables.get(name), new[1].tables.get(name)
    if before and after and before.sha256 == after.sha256:
        counts["same"] += after.rows
        return []
    found = joined((old[0], before), (new[0], after))
    judged = (_row(name, key, pair, after or before) for key, pair in found.pairs)
    rows = [row for row in judged if row is not None]
    counts["same"] += found.same + len(found.pairs) - len(rows)
    measured = any(table.measured for table in (before, after) if table)
    if _comparable(old[1], new[1], measured=measured):
        return rows
    return [RowChange(row.table, row.key, "not comparable", row.cells) for row in rows]


def _comparable(old: Manifest, new: Manifest, *, measured: bool) -> bool:
    if old.notebook.source_sha256 != new.notebook.source_sha256 or drifted(old, new):
        return False
    return not measured or _machine(old) == _machine(new)


def _machine(manifest: Manifest) -> list[Any]:
    return [manifest.machine.get(what) for what in _MACHINE]


def _row(name: str, key: str, pair: Pair, recorded: Table | None) -> RowChange | None:
    """None where no rule sees a difference."""
    assert recorded is not None
    if pair.before is None or pair.after is None:
        return RowChange(name, key, "new" if pair.before is None else "missing")
    cells = tuple(_cells(pair, recorded))
    found = {cell.verdict for cell in cells}
    verdict: Verdict | None = next((each for each in ("worse", "better") if each in found), None)
    return RowChange(name, key, verdict, cells) if verdict else None


def _cells(pair: Pair, recorded: Table) -> Iterator[CellChange]:
    for column, rule in recorded.metrics.items():
        old, new = pair.cells(column)
        if old != new:
            verdict, note = judge(rule, old, new, measured=recorded.measured)
            yield CellChange(column, summed(old), summed(new), verdict, note)
