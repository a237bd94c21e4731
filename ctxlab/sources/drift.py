"""What moved in a server's tool list since it was recorded, tool by tool.

`data/tool_digests.json` holds a short hash of each tool of the recorded lists, in their order: the
lists themselves are their authors', and are not committed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError

_DIGITS = 12


def compact(value: Any) -> bytes:
    """JSON without white space, in the order it was sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def tools_sha256(tools: Sequence[Mapping[str, Any]]) -> str:
    """Hash of a tool list as sent: the server's own order of tools and keys counts.

    >>> tools_sha256([{"a": 1, "b": 2}]) == tools_sha256([{"b": 2, "a": 1}])
    False
    """
    return hashlib.sha256(compact(tools)).hexdigest()


def digests(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name → short hash of each tool as sent, in order.

    >>> list(digests([{"name": "now"}, {"name": "convert"}]))
    ['now', 'convert']
    """
    return {tool["name"]: hashlib.sha256(compact(tool)).hexdigest()[:_DIGITS] for tool in tools}


def moved(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """A line for each tool that was added, removed or edited, and one when the order changed.

    >>> moved({"a": "1", "b": "2", "c": "3"}, {"c": "3", "b": "9", "d": "4"})
    ['d: added', 'a: removed', 'b: edited', 'the tools stand in another order']
    """
    lines = [f"{name}: added" for name in after if name not in before]
    lines += [f"{name}: removed" for name in before if name not in after]
    kept = [name for name in before if name in after]
    lines += [f"{name}: edited" for name in kept if before[name] != after[name]]
    if kept != [name for name in after if name in before]:
        lines.append("the tools stand in another order")
    return lines


def digests_file() -> Path:
    """`data/tool_digests.json`: server → tool → short hash."""
    return project.data_dir() / "tool_digests.json"


def recorded(server: str) -> dict[str, str]:
    """The recorded digests of a server's tools; none for a server that has no record yet.

    Raises:
        InputError: the file of digests is no JSON.
    """
    path = digests_file()
    try:
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")).get(server, {})
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise InputError(f"no valid JSON: {error}", path=path) from error
    return found
