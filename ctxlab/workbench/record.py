r"""What a notebook leaves behind: tables and charts, shown and, where a run is saved, kept.

>>> import pandas as pd, tempfile
>>> folder = tempfile.mkdtemp()
>>> record = Record(folder)
>>> frame = pd.DataFrame({"mutation": ["append", "prepend"], "kept": [5, 0]})
>>> record.table("mutations", frame, key=["mutation"], metrics={"kept": Rule("exact")})
>>> (Path(folder) / "mutations.csv").read_text()
'mutation,kept\nappend,5\nprepend,0\n'

Beside the files stands `record.json`, which says how they are to be read and compared; the runner
folds it into the run's manifest.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab import project
from ctxlab.errors import UsageError
from ctxlab.workbench import show, svg, tables
from ctxlab.workbench.rules import Rule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDECAR = "record.json"
"""What is recorded, as the manifest has it: tables, charts, models, tokenizer, api_usage."""

UNFINISHED = ".tmp"
"""The end of a file's name while it is written."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ROWS_SHOWN = 40


class Record:
    """Shows tables and charts, and saves them into `output_dir` unless it is empty.

    A relative `output_dir` counts from the project's root. `models` and `tokenizer` are what the
    notebook measured with; they stand in the manifest.
    """

    def __init__(
        self,
        output_dir: str | Path = "",
        *,
        models: Sequence[str] = (),
        tokenizer: str | None = None,
    ) -> None:
        self._folder = project.resolve(output_dir) if str(output_dir) else None
        self._tables: dict[str, Any] = {}
        self._charts: dict[str, Any] = {}
        self._notes = {"models": sorted(models), "tokenizer": tokenizer}
        self._api_usage: dict[str, dict[str, int]] = {}
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._save_sidecar()

    def table(  # noqa: PLR0913  what a table is takes this much
        self,
        name: str,
        frame: pd.DataFrame,
        *,
        key: Sequence[str],
        metrics: Mapping[str, Rule] | None = None,
        units: Mapping[str, str] | None = None,
        columns: Sequence[str] | None = None,
        measured: bool = False,
        shown: int = _ROWS_SHOWN,
    ) -> None:
        """Show the first `shown` rows of a table, and save all of it as `<name>.csv`.

        With `shown=0` one line says how many rows there are and where.

        With `columns` these alone are shown, in this order.

        `key` are the columns that tell rows apart; `metrics` says how columns are compared; `units`
        (column → unit) stand in the headings of columns whose name does not say it.
        `measured` marks times and other values that no second run repeats byte for byte.

        Raises:
            UsageError: a name that is no file name or stands twice, or a frame that is no table
                (see `tables.prepared`), a rule for a column that it cannot compare, or a unit or
                a shown column that is not there.
        """
        self._check_name(name, self._tables, "table")
        flat = tables.prepared(name, frame, key)
        kinds = _checked_kinds(name, flat, metrics or {})
        told = dict(units or {})
        if stray := {*told, *(columns or ())} - kinds.keys():
            raise UsageError(f"table {name}: it has no column {min(stray)!r} to show or to measure")
        saved = self._save(f"{name}.csv", tables.to_csv(flat)) if self._folder else {}
        self._tables[name] = saved | {
            "rows": len(flat),
            "key": list(key),
            "columns": kinds,
            "metrics": {column: asdict(rule) for column, rule in (metrics or {}).items()},
            "units": told,
            "measured": measured,
        }
        self._save_sidecar()
        seen = flat[list(columns)] if columns else flat
        whole = f"all are in {name}.csv" if self._folder else "a run saves them all"
        html = (
            show.table_html(seen, kinds, shown, whole, told)
            if shown
            else show.rows_html(name, len(flat), saved=bool(self._folder))
        )
        head = f"{seen.head(shown).to_string(index=False)}\n" if shown else f"{name} "
        text = f"{head}[{len(flat):,} rows]"
        show.display({"text/html": html, "text/plain": text}, {"ctxlab": {"table": name}})

    def chart(self, name: str, figure: Figure | Axes, *, alt: str) -> None:
        """Show a matplotlib figure, save it as `<name>.svg`, and close it.

        `alt` says in words what the chart shows: whoever does not see it reads that.

        Raises:
            UsageError: no alt text, no figure, or a name that is no file name or stands twice.
        """
        self._check_name(name, self._charts, "chart")
        if not alt.strip():
            raise UsageError(f"chart {name}: alt says in words what the chart shows")
        whole: Any = figure if hasattr(figure, "savefig") else getattr(figure, "figure", None)
        if whole is None:
            raise UsageError(f"chart {name}: a figure is drawn, not {type(figure).__name__}")
        text = svg.drawn(whole, name, alt)
        _close(whole)
        saved = self._save(f"{name}.svg", text.encode()) if self._folder else {}
        self._charts[name] = saved | {"alt": alt}
        self._save_sidecar()
        # As HTML: JupyterLab puts an image/svg+xml into an <img>, which no dark theme reaches.
        show.display({"text/html": text, "text/plain": alt}, {"ctxlab": {"chart": name}})

    def api_usage(self, model: str, usage: Mapping[str, int]) -> None:
        """Add the usage that a live API answered with; the manifest has the sums for each model."""
        sums = self._api_usage.setdefault(model, {})
        for field, tokens in usage.items():
            if isinstance(tokens, int):  # the API's usage nests objects too; their sums stand flat
                sums[field] = sums.get(field, 0) + tokens
        self._save_sidecar()

    def _check_name(self, name: str, taken: Mapping[str, Any], what: str) -> None:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{what} {name!r}: a name is a-z, 0-9, _ and -, at most 64, and begins with neither"
            )
        if self._folder and name in taken:
            raise UsageError(f"{what} {name}: it is recorded already; a run has each name once")

    def _save(self, file: str, content: bytes) -> dict[str, str]:
        assert self._folder is not None
        _replace(self._folder / file, content)
        return {"path": file, "sha256": hashlib.sha256(content).hexdigest()}

    def _save_sidecar(self) -> None:
        if not self._folder:
            return
        notes = {
            "tables": self._tables,
            "charts": self._charts,
            "api_usage": self._api_usage or None,
            **self._notes,
        }
        text = json.dumps(notes, indent=1, ensure_ascii=False)
        _replace(self._folder / SIDECAR, f"{text}\n".encode())


def _replace(file: Path, content: bytes) -> None:
    """Whole or not at all: a kernel may be killed at any moment."""
    beside = file.with_name(f".{file.name}{UNFINISHED}")
    beside.write_bytes(content)
    beside.replace(file)


def _checked_kinds(name: str, frame: pd.DataFrame, metrics: Mapping[str, Rule]) -> dict[str, str]:
    try:
        kinds = tables.kinds(frame)
    except UsageError as error:
        raise UsageError(f"table {name}: {error}") from None
    for column, rule in metrics.items():
        if column not in kinds:
            raise UsageError(f"table {name}: a rule for {column!r}, which is no column")
        numeric = kinds[column].rstrip("?") in ("int", "float", "bool")
        # A column of no rows may have any type.
        if rule.better in ("lower", "higher") and not numeric and len(frame):
            raise UsageError(f"table {name}: {column!r} is no number, so none is {rule.better}")
    return kinds


def _close(figure: Figure) -> None:
    # The inline backend shows what is open at a cell's end: it would stand there twice.
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot:
        pyplot.close(figure)
