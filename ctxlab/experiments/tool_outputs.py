"""Outputs of real tools to cut: those of a directory, or those made from what `make data` fetched.

>>> made = make_outputs("data/cache/trees", "data/cache/toolsets/registry.json")
>>> len(made), made[0].name, made[0].text[:17]
(13, 'rg.ndjson', '{"type":"begin","')

What is made is the same on every machine: programs whose output holds times or places have them
fixed (`git log`) or left out (`rg --json`, tracebacks).
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from ctxlab import project
from ctxlab.errors import InputError
from ctxlab.experiments.made_history import git_log
from ctxlab.experiments.made_log import service_log
from ctxlab.prefix import read_tools
from ctxlab.tokens import count
from ctxlab.tools import render, search
from ctxlab.tools.encoding import sniff
from ctxlab.tools.ripgrep import executable

_HEAD = 1 << 16
_PARTS = ("db/models/query.py", "contrib/admin")


@dataclass(frozen=True)
class Output:
    """What one tool returned."""

    name: str
    text: str

    @cached_property
    def tokens(self) -> int:
        """`o200k estimate`, counted once."""
        return count(self.text)


def read_outputs(folder: str | Path) -> list[Output]:
    """Every file below a directory, in the order of their names; binary files are left out.

    Raises:
        InputError: no such directory, or no text file in it.
    """
    root = project.resolve(folder)
    if not root.is_dir():
        raise InputError("no such directory of outputs", path=folder)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    texts = ((path.relative_to(root).as_posix(), _text(path.read_bytes())) for path in files)
    found = [Output(name, text) for name, text in texts if text]
    if not found:
        raise InputError("no text file in this directory", path=folder)
    return found


def _text(data: bytes) -> str | None:
    encoding = sniff(data[:_HEAD])
    if encoding is None:
        return None
    return data[encoding.mark :].decode(encoding.codec, "backslashreplace")


def make_outputs(trees: str | Path, toolset: str | Path) -> list[Output]:
    """Outputs of a coding agent's usual tools, over the fetched source trees and tool lists.

    Raises:
        InputError: a tree is not there, or git is not installed.
    """
    root, tools = project.resolve(trees), read_tools(toolset)
    for name in ("django", "flask", "pytest", "requests"):
        if not (root / name).is_dir():
            raise InputError(f"no source tree {name} here; run `make data`", path=trees)
    frame = pd.DataFrame([_row(tool) for tool in tools])
    sources = {path.name: path.read_text(encoding="utf-8") for path in _files(root / "requests")}
    query, admin = (root / "django/django" / part for part in _PARTS)
    return [
        Output("rg.ndjson", _ripgrep(root / "flask", r"def \w+\(self")),
        Output("grep_search.txt", render(search(root / "django", "^from "), "grep")),
        Output("find.txt", "".join(f"{path}\n" for path in _relative(root / "django"))),
        Output("directory_tree.json", json.dumps(_tree(admin), indent=2)),
        Output("tools_list.json", json.dumps({"tools": tools}, ensure_ascii=False)),
        Output("package.json", _package("tqdm")),
        Output("table.json", frame.to_json(orient="records")),
        Output("table.csv", frame.to_csv(index=False, lineterminator="\n")),
        Output("fetch.md", "# Tools\n\n" + "".join(_page(tool) for tool in tools)),
        Output("service.log", service_log()),
        Output("read_file.py", query.read_text(encoding="utf-8")),
        Output("git_log.txt", git_log(sources, "--stat")),
        Output("git_log.diff", git_log(sources, "--patch")),
    ]


def _files(root: Path) -> list[Path]:
    return sorted(root.rglob("*.py"))


def _relative(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in _files(root)]


def _ripgrep(root: Path, pattern: str) -> str:
    """`rg --json` without the lines that tell how long it took."""
    command = [executable(), "--no-config", "--json", "--sort=path", pattern, "."]
    done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    lines = done.stdout.decode().splitlines(keepends=True)
    return "".join(line for line in lines if json.loads(line)["type"] in ("begin", "match"))


def _tree(folder: Path) -> list[dict[str, Any]]:
    """A directory as the filesystem server of MCP lists it."""
    return [
        {"name": path.name, "type": "directory", "children": _tree(path)}
        if path.is_dir()
        else {"name": path.name, "type": "file"}
        for path in sorted(folder.iterdir())
    ]


def _package(name: str) -> str:
    """The metadata of an installed package, with its page as the description."""
    return json.dumps(metadata(name).json, indent=2)


def _row(tool: dict[str, Any]) -> dict[str, Any]:
    properties = tool["input_schema"].get("properties", {})
    return {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "arguments": ", ".join(properties),
        "count": len(properties),
        "required": len(tool["input_schema"].get("required", [])),
    }


def _page(tool: dict[str, Any]) -> str:
    """A tool as a page of documentation has it."""
    schema = json.dumps(tool["input_schema"], indent=2, ensure_ascii=False)
    return f"## {tool['name']}\n\n{tool.get('description', '')}\n\n```json\n{schema}\n```\n\n"
