"""Run directories made by hand: what reports and the index are built from, without a kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MANIFEST: dict[str, Any] = {
    "schema": 1,
    "entry": "tool_mutations",
    "run_id": "20261130T142200Z-3fa9c1d2",
    "status": "succeeded",
    "error": None,
    "started": "2026-11-30T14:22:00Z",
    "seconds": 12.34,
    "parameters": {"toolset": "data/tools/base.json", "seeds": 100},
    "parameters_passed": {"seeds": 100},
    "notebook": {"path": "notebooks/01_tool_mutations.ipynb", "source_sha256": "ab" * 32},
    "git": {"commit": "0123456789abcdef", "branch": "main", "dirty": False},
    "environment": {
        "python": "3.11.7",
        "lock_sha256": "cd" * 32,
        "packages": {"pandas": "3.0", "numpy": "2.4"},
    },
    "data": [{"path": "data/tools/base.json", "sha256": "ef" * 32, "bytes": 1234}],
    "seed": None,
    "models": ["claude-sonnet-4-5"],
    "tokenizer": "o200k_base",
    "machine": {"system": "Linux", "architecture": "x86_64", "processor": "", "cpus": 2},
    "tables": {},
    "charts": {},
    "inputs_sha256": "3fa9c1d2" * 8,
    "api_usage": None,
}

PARAMETERS = 'seeds: int = 10  # draws of the session\noutput_dir: str = ""  # where it is saved'
FAILURE = {"ename": "ZeroDivisionError", "evalue": "division by zero", "cell": 2}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0 L9 9"/></svg>'


def markdown(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(
    source: str, *outputs: Mapping[str, Any], count: int | None = 1, tags: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": {"tags": list(tags)},
        "source": source,
        "execution_count": count,
        "outputs": list(outputs),
    }


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def display(data: Mapping[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": dict(data), "metadata": metadata}


def error(*lines: str) -> dict[str, Any]:
    told = list(lines) or ["\x1b[31mZeroDivisionError\x1b[0m: division by zero"]
    return {"output_type": "error", **FAILURE, "traceback": told}


def made(
    results: Path,
    *cells: Mapping[str, Any],
    entry: str = "tool_mutations",
    run_id: str = "20261130T142200Z-3fa9c1d2",
    files: Mapping[str, str] | None = None,
    **manifest: Any,
) -> Path:
    """A run directory with a notebook of these cells and a manifest that differs as told."""
    folder = results / entry / run_id
    folder.mkdir(parents=True)
    named = [cell | {"id": f"cell-{at}"} for at, cell in enumerate(map(dict, cells))]
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": named}
    (folder / "notebook.ipynb").write_text(json.dumps(content))
    told = MANIFEST | {"entry": entry, "run_id": run_id} | manifest
    (folder / "manifest.json").write_text(json.dumps(told, sort_keys=True))
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder
