"""Whose transcript a file is: a session's main file, or one of its agents.

`<session>.jsonl` is a main file; its agents stand in `<session>/subagents/agent-*.jsonl`, and
beside it as `agent-*.jsonl` in older versions, where only their rows name the session.

>>> agent_of(Path("p/5f1c/subagents/agent-ab12.jsonl")), agent_of(Path("p/5f1c.jsonl"))
('ab12', '')
>>> session_of(Path("p/5f1c/subagents/agent-ab12.jsonl"))
'5f1c'
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = "subagents"
_PREFIX = "agent-"


def agent_of(path: Path) -> str:
    """The agent whose transcript it is; empty for a main file."""
    is_agent = path.name.startswith(_PREFIX) or _depth(path) > 0
    return path.stem.removeprefix(_PREFIX) if is_agent else ""


def session_of(path: Path, named: str = "") -> str:
    """The session that a file belongs to; `named` is the one that its rows name."""
    depth = _depth(path)
    if depth:
        return path.parents[depth - 1].name
    return named if named and agent_of(path) else path.stem


def folder_of(path: Path) -> Path:
    """Where the session's main file stands."""
    return path.parents[_depth(path)]


def _depth(path: Path) -> int:
    """How many folders a file stands below its session's main file."""
    folders = path.parts[-2::-1]
    return folders.index(_FOLDER) + 2 if _FOLDER in folders[:-1] else 0
