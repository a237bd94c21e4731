"""The tools of several servers as one registry (notebook 09): fetched, a file, or a `.mcp.json`.

A server that does not answer is kept by name and reason: the article's total moved by some twenty
thousand tokens when four of its servers failed and nothing said so (source: `tool-search`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ctxlab.errors import DataError, InputError
from ctxlab.loading import (
    Listing,
    ServerFailure,
    join_tools,
    joined_name,
    list_many,
    read_servers,
)
from ctxlab.prefix import read_tools

Tool = dict[str, Any]
ALONE = "(no server)"
"""The server of a tool whose name is not `mcp__server__tool`."""


@dataclass(frozen=True)
class Registry:
    """Tools in the order in which a client sends them."""

    tools: tuple[Tool, ...]
    instructions: Mapping[str, str] = field(default_factory=dict)
    """Server → what it tells the model about itself; unknown for a file of tools."""
    always_load: tuple[str, ...] = ()
    """Names of the tools that their servers ask to keep upfront."""
    failed: tuple[ServerFailure, ...] = ()

    @property
    def servers(self) -> list[str]:
        """The servers in the tools' order."""
        return list(dict.fromkeys(server_of(tool) for tool in self.tools))

    def of(self, server: str) -> list[Tool]:
        """One server's tools."""
        return [tool for tool in self.tools if server_of(tool) == server]

    def without(self, servers: Sequence[str]) -> Registry:
        """The registry when these servers do not answer."""
        tools = tuple(tool for tool in self.tools if server_of(tool) not in servers)
        names = {tool["name"] for tool in tools}
        said = {name: text for name, text in self.instructions.items() if name not in servers}
        kept = tuple(name for name in self.always_load if name in names)
        return Registry(tools, said, kept, self.failed)


def server_of(tool: Mapping[str, Any]) -> str:
    """The server in a joined name.

    >>> server_of({"name": "mcp__git__git_log"}), server_of({"name": "read_file"})
    ('git', '(no server)')
    """
    parts = str(tool["name"]).split("__", 2)
    return parts[1] if len(parts) == 3 and parts[0] == "mcp" else ALONE  # noqa: PLR2004  as written


def own_name(tool: Mapping[str, Any]) -> str:
    """The name that the server itself gives the tool.

    >>> own_name({"name": "mcp__git__git_log"})
    'git_log'
    """
    return str(tool["name"]).split("__", 2)[2] if server_of(tool) != ALONE else str(tool["name"])


def load(toolset: str | Path, servers: str | Path = "") -> Registry:
    """The registry of a `.mcp.json` when there is one, else of a file of tools.

    Raises:
        InputError: a file that is not what it should be (path and place), or holds no tool.
        DataError: no server answered; each is named with its reason.
    """
    if str(servers) not in ("", "."):
        return joined(list_many(read_servers(servers)))
    tools = read_tools(toolset)
    if not tools:
        raise InputError("no tools: there is nothing to load or to search", path=toolset)
    return Registry(tuple(tools))


def joined(listing: Listing) -> Registry:
    """What servers answered, as one registry.

    Raises:
        DataError: none gave a tool.
    """
    tools = join_tools(listing.servers)
    if not tools:
        told = "; ".join(f"{failure.name}: {failure.reason}" for failure in listing.failed)
        raise DataError(f"no MCP server gave a tool; {told or 'none is named'}")
    always = [
        joined_name(server.name, name)
        for server in listing.servers
        for name in server.always_loaded()
    ]
    said = {server.name: server.instructions for server in listing.servers if server.instructions}
    return Registry(tuple(tools), said, tuple(always), listing.failed)


def answers(registry: Registry) -> pd.DataFrame:
    """Every server that was asked: columns server, tools, answer (`answered`, or why not)."""
    rows = [(server, len(registry.of(server)), "answered") for server in registry.servers]
    rows += [(failure.name, 0, failure.reason) for failure in registry.failed]
    return pd.DataFrame(rows, columns=["server", "tools", "answer"])
