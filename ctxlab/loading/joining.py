"""Tools of several MCP servers as one Anthropic tool array, named `mcp__server__tool`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ctxlab.errors import InputError
from ctxlab.loading.listing import ServerTools
from ctxlab.prefix.convert import request_tool

NAME_LIMIT = 64
"""Characters that the Messages API allows in a tool's name (source: `tool-search`)."""

_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")


def joined_name(server: str, tool: str) -> str:
    """The name a client gives a server's tool; what the API forbids in names becomes `_`.

    >>> joined_name("google workspace", "files.list")
    'mcp__google_workspace__files_list'
    """
    return f"mcp__{_FORBIDDEN.sub('_', server)}__{_FORBIDDEN.sub('_', tool)}"


def join_tools(servers: Iterable[ServerTools]) -> list[dict[str, Any]]:
    """All tools of the servers as one Anthropic array, in the servers' order and theirs.

    What the Messages API has no field for (title, annotations, outputSchema, _meta) is left out.
    A schema is the server's own object, in its order.

    Raises:
        InputError: a joined name is longer than 64 characters, two tools get the same one, or a
            tool is none that the Messages API takes; the server and the tool are named.

    >>> now = {"name": "now", "title": "Now", "inputSchema": {"type": "object"}}
    >>> join_tools([ServerTools("clock", (now,))])
    [{'name': 'mcp__clock__now', 'input_schema': {'type': 'object'}}]
    """
    owners: dict[str, str] = {}
    joined = []
    for server in servers:
        for tool in server.tools:
            name, owner = joined_name(server.name, tool["name"]), f"{server.name}/{tool['name']}"
            _check(name, owner, owners)
            joined.append(request_tool({**tool, "name": name}, owner))
    return joined


def _check(name: str, owner: str, owners: dict[str, str]) -> None:
    if len(name) > NAME_LIMIT:
        raise InputError(
            f"tool {owner} becomes {name}, {len(name)} characters; the API takes {NAME_LIMIT}: "
            "give the server a shorter name"
        )
    if name in owners:
        raise InputError(
            f"tools {owners[name]} and {owner} both become {name}: give the servers other names"
        )
    owners[name] = owner
