"""What MCP servers say they offer, asked over stdio or streamable HTTP.

Tools are kept as sent: order, key order, nulls and unknown fields. A server that fails is named
with its reason; the others count, because a total without four of its servers looks like a
saving (source: `tool-search`).

Each question has a time limit, and the server's process is gone afterwards. Not handled: logins,
sampling and elicitation; a server that asks for one of them is refused by the SDK.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ctxlab.errors import DataError
from ctxlab.loading.config import McpServer

TIMEOUT = 60.0
"""Seconds a server has, from its start to its last page."""


@dataclass(frozen=True)
class ServerTools:
    """One server's answer."""

    name: str
    tools: tuple[dict[str, Any], ...]
    """MCP tools as sent; `join_tools` gives the Messages API's form."""
    instructions: str = ""
    """What the server tells the model about itself; empty when it says nothing."""
    version: str = ""
    """What the server calls its version."""
    protocol: str = ""
    """The protocol version both agreed on."""
    answer: dict[str, Any] = field(default_factory=dict, repr=False)
    """The other fields of the tools/list answer, of its first page."""
    always_load: bool = False

    def always_loaded(self) -> list[str]:
        """Names (the server's own) that are never deferred: all, or those whose `_meta` says so."""
        return [tool["name"] for tool in self.tools if self.always_load or _asks_to_load(tool)]


@dataclass(frozen=True)
class ServerFailure:
    """A server that did not give its tools, and why, in one line."""

    name: str
    reason: str


@dataclass(frozen=True)
class Listing:
    """What many servers said, in the order they were asked."""

    servers: tuple[ServerTools, ...]
    failed: tuple[ServerFailure, ...]


def list_tools(server: McpServer, timeout: float = TIMEOUT) -> ServerTools:
    """Ask one server for its tools; `timeout` in seconds.

    Raises:
        DataError: it could not be started or reached, did not answer in time, or answered with
            something that is no tool list; with the last lines it wrote to stderr.
    """
    answer = list_many([server], timeout)
    if answer.failed:
        raise DataError(f"MCP server {server.name}: {answer.failed[0].reason}")
    return answer.servers[0]


def list_many(servers: Iterable[McpServer], timeout: float = TIMEOUT) -> Listing:
    """Ask all servers at once; `timeout` seconds for each of them."""
    from anyio.from_thread import start_blocking_portal  # noqa: PLC0415  with asyncio, 0.1 s

    from ctxlab.loading.asking import ask_all  # noqa: PLC0415  the mcp SDK takes a second

    asked = list(servers)
    # A loop of our own in a thread of its own: Jupyter's main thread already runs one, and
    # Ctrl-C here cancels the questions instead of waiting for them.
    with start_blocking_portal() as portal:
        answers = portal.call(ask_all, asked, timeout)
    return Listing(
        tuple(answer for answer in answers if isinstance(answer, ServerTools)),
        tuple(answer for answer in answers if isinstance(answer, ServerFailure)),
    )


def _asks_to_load(tool: dict[str, Any]) -> bool:
    meta = tool.get("_meta")
    return isinstance(meta, dict) and meta.get("anthropic/alwaysLoad") is True
