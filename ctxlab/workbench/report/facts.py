"""The manifest as rows to read. A manifest that is missing, old or foreign gives what it has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxlab.errors import InputError
from ctxlab.workbench.pages import words
from ctxlab.workbench.parameters import read_parameters

_SHORT = 12


@dataclass(frozen=True)
class Value:
    """A parameter's value in this run."""

    name: str
    value: str
    meaning: str
    passed: bool


@dataclass(frozen=True)
class Kept:
    """A file of the run."""

    path: str
    about: str


class Facts:
    """What a manifest says, each question answered whatever is in it."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.manifest = manifest

    @classmethod
    def of(cls, run_dir: Path) -> Facts:
        """The facts of a run directory; none when its manifest cannot be read."""
        try:
            content = json.loads((run_dir / "manifest.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            content = {}
        return cls(content if isinstance(content, Mapping) else {})

    def text(self, *names: str) -> str:
        """A value as text, empty when it is not there: `text("git", "commit")`."""
        found: Any = self.manifest
        for name in names:
            found = found.get(name) if isinstance(found, Mapping) else None
        return "" if found is None or isinstance(found, Mapping | list) else str(found)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A value as a mapping, empty when it is none."""
        found = self.manifest.get(name)
        return found if isinstance(found, Mapping) else {}

    @property
    def status(self) -> str:
        """`succeeded`, `failed` or `unknown`."""
        status = self.text("status")
        return status if status in ("succeeded", "failed") else "unknown"

    @property
    def error(self) -> str:
        """Such as `ValueError: no such tool`; empty when nothing failed."""
        name, value = self.text("error", "ename"), self.text("error", "evalue")
        return f"{name}: {value}" if name and value else name or value

    def values(self, source: str) -> list[Value]:
        """Every parameter's value, with the meaning that the parameters cell gives it."""
        passed, meanings = self.mapping("parameters_passed"), _meanings(source)
        return [
            Value(name, _shown(value), meanings.get(name, ""), name in passed)
            for name, value in self.mapping("parameters").items()
        ]

    def files(self, run_dir: Path) -> list[Kept]:
        """Tables and charts with what is in them, and the rest of the run; those that are there."""
        kept = [Kept(_path(table), _about_table(table)) for table in self._recorded("tables")]
        kept += [
            Kept(_path(chart), str(chart.get("alt") or "")) for chart in self._recorded("charts")
        ]
        kept += [
            Kept("notebook.ipynb", "the notebook as it ran"),
            Kept("log.txt", "the log of the run"),
            Kept("manifest.json", "what the run was made of and what it made"),
        ]
        return [file for file in kept if _is_inside(run_dir, file.path)]

    def charts(self) -> dict[str, tuple[str, str]]:
        """Chart → path of its SVG, alt text."""
        return {
            str(name): (_path(chart), str(chart.get("alt") or ""))
            for name, chart in self.mapping("charts").items()
            if isinstance(chart, Mapping)
        }

    def rows(self) -> list[tuple[str, str]]:
        """Name and value of what is worth reading at the foot of a report."""
        commit = self.text("git", "commit")[:_SHORT]
        dirty = " with changes" if self.text("git", "dirty") == "True" else ""
        branch = self.text("git", "branch")
        packages = self.mapping("environment").get("packages")
        told = [
            ("Run", self.text("run_id")),
            ("Entry", self.text("entry")),
            ("Started", words.when(self.text("started"))),
            ("Took", words.took(self.manifest.get("seconds"))),
            ("Notebook", self.text("notebook", "path")),
            ("Its source", self.text("notebook", "source_sha256")[:_SHORT]),
            ("Inputs", self.text("inputs_sha256")[:_SHORT]),
            ("Commit", f"{commit}{dirty}{f' on {branch}' if branch else ''}" if commit else ""),
            ("Python", self.text("environment", "python")),
            ("Packages", f"{len(packages)}" if isinstance(packages, Mapping) else ""),
            ("Lock", self.text("environment", "lock_sha256")[:_SHORT]),
            ("Seed", self.text("seed")),
            ("Models", ", ".join(map(str, _list(self.manifest.get("models"))))),
            ("Tokenizer", self.text("tokenizer")),
            ("Machine", self._machine()),
        ]
        return [(name, value) for name, value in told if value]

    def _machine(self) -> str:
        machine = self.mapping("machine")
        names = [
            str(machine[name])
            for name in ("system", "architecture", "processor")
            if machine.get(name)
        ]
        cpus, memory = machine.get("cpus"), machine.get("memory_bytes")
        names += [f"{cpus} CPUs"] if cpus else []
        names += [f"{words.size(memory)} of memory"] if memory else []
        return ", ".join(names)

    def data(self) -> list[Mapping[str, Any]]:
        """Inputs that the parameters named: path, sha256, bytes."""
        return [datum for datum in _list(self.manifest.get("data")) if isinstance(datum, Mapping)]

    def api_usage(self) -> list[tuple[str, str, str]]:
        """Model, field and tokens of what a live API answered."""
        return [
            (str(model), str(field), f"{count:,}" if isinstance(count, int) else str(count))
            for model, sums in self.mapping("api_usage").items()
            if isinstance(sums, Mapping)
            for field, count in sums.items()
        ]

    def _recorded(self, name: str) -> list[Mapping[str, Any]]:
        return [item for item in self.mapping(name).values() if isinstance(item, Mapping)]


def _meanings(source: str) -> dict[str, str]:
    try:
        return {name: one.meaning for name, one in read_parameters(source).items()}
    except InputError:
        return {}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _path(item: Mapping[str, Any]) -> str:
    path = item.get("path")
    return path if isinstance(path, str) else ""


def _about_table(table: Mapping[str, Any]) -> str:
    rows, key = table.get("rows"), _list(table.get("key"))
    told = [f"{rows:,} rows" if isinstance(rows, int) else "", f"by {', '.join(map(str, key))}"]
    told.append("measured times" if table.get("measured") is True else "")
    return ", ".join(part for part in told if part not in ("", "by "))


def _is_inside(run_dir: Path, path: str) -> bool:
    """Whether `path` names a file of the run itself: a manifest is only data."""
    if not path or path != Path(path).name:
        return False
    return (run_dir / path).is_file()
