"""The manifest: what a run was made of and what it made, as `manifest.json` in its directory.

Every key is always there, in failed runs too (empty or null). Keys are sorted, so that two
manifests can be compared line by line. No secret and no environment variable's value is in it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ctxlab.errors import InputError
from ctxlab.workbench.rules import Rule

FILE = "manifest.json"
SCHEMA = 1


@dataclass(frozen=True)
class Failure:
    """Why a run failed."""

    ename: str
    """The exception's class: the notebook's own, `TimeoutError`, `DeadKernelError`, …"""
    evalue: str
    """Its text, with secrets masked."""
    cell: int | None
    """The n of `In [n]` where it was raised; null when no cell had begun."""


@dataclass(frozen=True)
class Source:
    """The notebook that ran."""

    path: str
    """Relative to the project's root where it is inside."""
    source_sha256: str
    """Over kernel name and each cell's type, source and tags (see `notebook.source_sha256`)."""


@dataclass(frozen=True)
class Git:
    """The checkout; all null where there is none."""

    commit: str | None
    branch: str | None
    """Null on a detached head."""
    dirty: bool | None
    """Whether anything differs from the commit, new files included."""


@dataclass(frozen=True)
class Environment:
    """What ran it."""

    python: str
    """Such as `3.11.7`."""
    lock_sha256: str | None
    """Of requirements.lock."""
    packages: dict[str, str]
    """Installed distributions and their versions."""


@dataclass(frozen=True)
class Datum:
    """A file or tree that a parameter declared `Path` names."""

    path: str
    """As it was passed."""
    sha256: str
    """Of a file its content's; of a tree see `digests.tree`."""
    bytes: int
    """Of all regular files in it."""


@dataclass(frozen=True)
class Table:
    """A recorded table."""

    path: str
    """Of the CSV, relative to the run directory."""
    sha256: str
    rows: int
    key: list[str]
    """The columns that tell its rows apart."""
    columns: dict[str, str]
    """Column → kind, see `tables`."""
    metrics: dict[str, Rule]
    """Column → how it is compared."""
    measured: bool
    """Holds measured times: not byte-equal between runs, and not expected to be."""


@dataclass(frozen=True)
class Chart:
    """A recorded chart."""

    path: str
    """Of the SVG, relative to the run directory."""
    sha256: str
    alt: str
    """What it shows, in words."""


@dataclass(frozen=True)
class Manifest:
    """One run."""

    entry: str
    """The plan's name for it; the directory above the run's."""
    run_id: str
    """UTC start and first 8 hex of inputs_sha256; the run directory's name."""
    status: Literal["succeeded", "failed"]
    error: Failure | None
    started: str
    """UTC, ISO 8601 with `Z`."""
    seconds: float
    """From before the kernel's start until after its end."""
    parameters: dict[str, Any]
    """Every parameter's value but output_dir's."""
    parameters_passed: dict[str, Any]
    """Those that were passed."""
    notebook: Source
    git: Git
    environment: Environment
    data: list[Datum]
    """Sorted by path."""
    seed: Any
    """The parameter `seed`, null where there is none."""
    models: list[str]
    """The parameters `model` and `models`, and what the notebook recorded."""
    tokenizer: str | None
    machine: dict[str, Any]
    """system, architecture, processor, cpus, memory_bytes."""
    tables: dict[str, Table]
    charts: dict[str, Chart]
    inputs_sha256: str
    """Known before the kernel starts, see `identity`."""
    api_usage: dict[str, dict[str, int]] | None
    """Model → usage sums; null when no live API was called."""
    schema: int = SCHEMA

    def to_json(self) -> str:
        """The file's content."""
        return json.dumps(asdict(self), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_manifest(path: str | Path) -> Manifest:
    """The manifest of a run directory, or of the file itself; keys it does not know are let be.

    Raises:
        InputError: it is not there, is no JSON, has another schema or lacks a key.
    """
    file = Path(path) / FILE if Path(path).is_dir() else Path(path)
    try:
        content = json.loads(file.read_bytes())
        found = content["schema"]
        if found != SCHEMA:
            raise InputError(f"schema {found}; this ctxlab reads schema {SCHEMA}", path=file)
        return _from_json(content)
    except OSError as error:
        raise InputError(error.strerror or str(error), path=file) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"no manifest: {type(error).__name__} {error}", path=file) from None


def _from_json(content: dict[str, Any]) -> Manifest:
    fields = {name: content[name] for name in Manifest.__dataclass_fields__}
    _check_kinds(content, _KINDS)
    return Manifest(
        **fields
        | {
            "error": _record(Failure, content["error"]) if content["error"] else None,
            "notebook": _record(Source, content["notebook"]),
            "git": _record(Git, content["git"]),
            "environment": _record(Environment, content["environment"]),
            "data": [_record(Datum, datum) for datum in content["data"]],
            "tables": tables_from_json(content["tables"]),
            "charts": charts_from_json(content["charts"]),
        }
    )


def tables_from_json(content: dict[str, Any]) -> dict[str, Table]:
    """Tables as the manifest and a notebook's `record.json` hold them."""
    for table in content.values():
        _check_kinds(table, _TABLE_KINDS)
    return {
        name: _record(Table, table | {"metrics": _rules(table["metrics"])})
        for name, table in content.items()
    }


def charts_from_json(content: dict[str, Any]) -> dict[str, Chart]:
    """Charts as the manifest and a notebook's `record.json` hold them."""
    for chart in content.values():
        _check_kinds(chart, _FILE_KINDS)
    return {name: _record(Chart, chart) for name, chart in content.items()}


_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("entry", "run_id", "status", "started", "inputs_sha256"), str),
    **dict.fromkeys(("parameters", "parameters_passed", "notebook", "git", "machine"), dict),
    **dict.fromkeys(("environment", "tables", "charts"), dict),
    **dict.fromkeys(("data", "models"), list),
    "seconds": (int, float),
}
_FILE_KINDS: dict[str, type | tuple[type, ...]] = {"path": str, "sha256": str}
_TABLE_KINDS = _FILE_KINDS | {"rows": int, "key": list, "columns": dict, "metrics": dict}


def _check_kinds(content: dict[str, Any], kinds: dict[str, type | tuple[type, ...]]) -> None:
    """Whether what stands under each key is of its kind: a damaged manifest is no manifest."""
    for name, kind in kinds.items():
        if not isinstance(content[name], kind):
            raise TypeError(f"{name} is {content[name]!r:.40}")
    path = content.get("path")
    if isinstance(path, str) and Path(path).name != path:
        raise ValueError(f"path {path!r:.60} leads out of the run")


def _rules(content: dict[str, Any]) -> dict[str, Rule]:
    return {column: _record(Rule, rule) for column, rule in content.items()}


def _record(kind: Any, content: dict[str, Any]) -> Any:
    return kind(**{name: content[name] for name in kind.__dataclass_fields__})
