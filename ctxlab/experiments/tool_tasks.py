"""Tasks as users speak, each with the tools that would do it (`data/tool_tasks/`).

A task never says its tool's own name: who knows the name needs no search.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError
from ctxlab.loading import joined_name

TASKS = "data/tool_tasks/tasks.json"


@dataclass(frozen=True)
class Task:
    """Something a user asks for."""

    id: str
    task: str
    """What the user says."""
    keywords: tuple[str, ...]
    """What a model would search for."""
    tools: tuple[str, ...]
    """Joined names (`mcp__server__tool`) of the tools that would do it; any is right."""


def load_tasks(path: str | Path = TASKS) -> list[Task]:
    """The tasks of a file.

    >>> load_tasks()[0].tools
    ('mcp__git__git_status',)

    Raises:
        InputError: not there, not JSON, or a task that is none (with its number and field).
    """
    try:
        entries = json.loads(project.resolve(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        told = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise InputError(f"cannot be read: {told}", path=path) from None
    except json.JSONDecodeError as error:
        place = f"{error.lineno}:{error.colno}"
        raise InputError(f"not JSON: {error.msg}", path=path, place=place) from None
    if not isinstance(entries, list):
        raise InputError("expected a list of tasks", path=path)
    tasks = [_task(entry, path, f"[{number}]") for number, entry in enumerate(entries)]
    seen: set[str] = set()
    for number, task in enumerate(tasks):
        if task.id in seen:
            raise InputError(f"{task.id!r} is used twice", path=path, place=f"[{number}].id")
        seen.add(task.id)
    return tasks


def feasible(tasks: Iterable[Task], names: Iterable[str]) -> list[Task]:
    """The tasks that at least one of these tools would do; none in a registry of other tools."""
    there = set(names)
    return [task for task in tasks if there.intersection(task.tools)]


def _task(entry: Any, path: str | Path, place: str) -> Task:
    if not isinstance(entry, dict):
        raise InputError("expected an object", path=path, place=place)
    for name in ("id", "task"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise InputError("expected a text", path=path, place=f"{place}.{name}")
    for name in ("keywords", "tools"):
        value = entry.get(name)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise InputError("expected a list of texts", path=path, place=f"{place}.{name}")
    for tool in entry["tools"]:
        if "/" not in tool:
            raise InputError(f"expected server/tool, found {tool!r}", path=path, place=place)
    names = (joined_name(*tool.split("/", 1)) for tool in entry["tools"])
    return Task(entry["id"], entry["task"], tuple(entry["keywords"]), tuple(names))
