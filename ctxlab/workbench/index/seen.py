"""The runs in a results directory, read fast: of thousands only the newest are kept whole.

A manifest is only data here: a run that lacks a key, or has another schema, is shown as far as it
goes; a directory whose manifest cannot be read is named and left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ctxlab.workbench.results import BASELINE, COMPARISONS, RUN_ID

_WHOLE = 2
"""Newest runs whose manifests are kept: the newest, and what it is held against."""
_VALUE = 60


@dataclass(frozen=True)
class Seen:
    """A run as the index has it."""

    entry: str
    run_id: str
    status: str
    """`succeeded`, `failed` or `unknown`."""
    started: str
    seconds: object
    commit: str
    passed: str
    """The parameters that were passed, in a line."""
    error: str
    manifest: Mapping[str, Any]
    """Empty but for the newest runs and the newest that succeeded."""

    @property
    def place(self) -> str:
        """The run directory, relative to the results directory."""
        return f"{self.entry}/{self.run_id}"


@dataclass
class Entry:
    """An entry and its runs, newest first."""

    name: str
    runs: list[Seen] = field(default_factory=list)
    baseline: Mapping[str, Any] = field(default_factory=dict)
    """The accepted run's manifest; empty where there is none."""

    @property
    def newest(self) -> Seen:
        """The newest run, whatever became of it."""
        return self.runs[0]

    @property
    def succeeded(self) -> Seen | None:
        """The newest run that succeeded."""
        return next((run for run in self.runs if run.status == "succeeded"), None)


@dataclass
class Everything:
    """All entries, and the directories that are no runs."""

    entries: list[Entry] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


def everything(results: Path) -> Everything:
    """Every entry with its runs, ordered by notebook and name."""
    found = Everything()
    for folder in sorted(_folders(results)):
        if folder in (BASELINE, COMPARISONS):
            continue
        entry = _entry(results, folder, found.foreign)
        if entry.runs:
            found.entries.append(entry)
        elif not any(name.startswith(f"{folder}/") for name in found.foreign):
            found.foreign.append(folder)
    found.entries.sort(key=_order)
    return found


def part(value: object, name: str) -> Mapping[str, Any]:
    """A mapping inside a mapping; empty where there is none."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _order(entry: Entry) -> tuple[str, str]:
    notebook = entry.newest.manifest.get("notebook")
    path = notebook.get("path") if isinstance(notebook, Mapping) else None
    return (path if isinstance(path, str) else "~", entry.name)


def _entry(results: Path, name: str, foreign: list[str]) -> Entry:
    entry = Entry(name, baseline=_manifest(f"{results}/{BASELINE}/{name}") or {})
    for run_id in sorted(_folders(results / name), reverse=True):
        manifest = _manifest(f"{results}/{name}/{run_id}") if RUN_ID.fullmatch(run_id) else None
        if manifest is None:
            foreign.append(f"{name}/{run_id}")
        else:
            first = manifest.get("status") == "succeeded" and entry.succeeded is None
            whole = first or len(entry.runs) < _WHOLE
            entry.runs.append(_seen(name, run_id, manifest, whole=whole))
    return entry


def _folders(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as found:
            yield from [
                path.name for path in found if not path.name.startswith(".") and path.is_dir()
            ]
    except OSError:
        return


def _manifest(folder: str) -> Mapping[str, Any] | None:
    try:
        with open(f"{folder}/manifest.json", "rb") as file:  # noqa: PTH123  thousands of them
            content = file.read()
    except OSError:
        return None
    try:
        manifest = orjson.loads(content)
    except orjson.JSONDecodeError:
        manifest = _leniently(content)
    return manifest if isinstance(manifest, dict) else None


def _leniently(content: bytes) -> object:
    try:
        return json.loads(content)  # lone surrogates and NaN, which orjson refuses
    except (ValueError, RecursionError):
        return None


def _seen(entry: str, run_id: str, manifest: Mapping[str, Any], *, whole: bool) -> Seen:
    status, git = manifest.get("status"), manifest.get("git")
    commit = git.get("commit") if isinstance(git, dict) else None
    return Seen(
        entry,
        run_id,
        status if status in ("succeeded", "failed") else "unknown",
        _text(manifest.get("started")),
        manifest.get("seconds"),
        _text(commit)[:8],
        _passed(manifest.get("parameters_passed")),
        _error(manifest.get("error")),
        manifest if whole else {},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _passed(parameters: object) -> str:
    if not isinstance(parameters, dict):
        return ""
    return ", ".join(f"{name} = {_value(value)}" for name, value in parameters.items())


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def _error(error: object) -> str:
    if not isinstance(error, dict):
        return ""
    return ": ".join(filter(None, (_text(error.get("ename")), _text(error.get("evalue")))))
