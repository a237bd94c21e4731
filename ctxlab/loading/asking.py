"""The questions themselves: the `mcp` SDK, one task a server (imported when servers are asked)."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Any

import anyio
import httpx2
from mcp import Client, ClientSession, MCPError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED
from pydantic import TypeAdapter, ValidationError

from ctxlab.loading.config import McpServer
from ctxlab.loading.listing import ServerFailure, ServerTools

_PAGES = 1000
_ENDED = "it ended before it answered"
_AS_SENT = TypeAdapter(dict[str, Any])

# What the SDK logs about a server that talks nonsense is part of our one line: without a handler
# Python would print each as a traceback.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class _Refused(Exception):
    """An answer we do not take, in words."""


@dataclass
class _Heard:
    """What came along with the answers, to explain a failure."""

    noise: int = 0
    """Messages that were no JSON-RPC."""
    status: str = ""
    """The last HTTP status that was an error."""

    async def message(self, message: object) -> None:
        self.noise += isinstance(message, Exception)

    async def response(self, response: httpx2.Response) -> None:
        if response.is_error:
            self.status = f"HTTP {response.status_code} {response.reason_phrase}".strip()

    def told(self) -> list[str]:
        noise = f"{self.noise} messages on stdout were no JSON-RPC" if self.noise else ""
        return [self.status, noise]


async def ask_all(servers: list[McpServer], timeout: float) -> list[ServerTools | ServerFailure]:  # noqa: ASYNC109  the limit is each server's
    """Ask all servers at once; an answer or a failure for each, in their order."""
    answers: dict[int, ServerTools | ServerFailure] = {}

    async def ask(place: int, server: McpServer) -> None:
        answers[place] = await _ask(server, timeout)

    async with anyio.create_task_group() as group:
        for place, server in enumerate(servers):
            group.start_soon(ask, place, server)
    return [answers[place] for place in range(len(servers))]


async def _ask(server: McpServer, timeout: float) -> ServerTools | ServerFailure:  # noqa: ASYNC109  as above
    start = anyio.current_time()
    answer = await _connect(server, "auto", timeout, start)
    if isinstance(answer, ServerFailure) and answer.reason.startswith(_ENDED):
        # The newer handshake begins with a question that some older servers end at: once more,
        # with theirs. A server that ends for reasons of its own says so twice.
        answer = await _connect(server, "legacy", timeout, start)
    return answer


async def _connect(
    server: McpServer,
    handshake: str,
    timeout: float,  # noqa: ASYNC109  as above
    start: float,
) -> ServerTools | ServerFailure:
    heard, answer = _Heard(), None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        try:
            with anyio.fail_after(start + timeout - anyio.current_time()):
                async with Client(
                    _transport(server, errlog, heard),
                    message_handler=heard.message,
                    cache=None,
                    mode=handshake,
                ) as client:
                    answer = await _answer(server, client)
        except Exception as error:  # noqa: BLE001  whatever a server does is its failure, not ours
            if answer:  # only its leaving went wrong
                return answer
            reason = _reason(_leaf(error), server, timeout)
            told = [reason, *heard.told(), _last_lines(errlog)]
            return ServerFailure(server.name, "; ".join(filter(None, told)))
    return answer


@asynccontextmanager
async def _transport(server: McpServer, errlog: IO[str], heard: _Heard) -> AsyncGenerator[Any]:
    if server.command:
        parameters = StdioServerParameters(
            command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
        )
        async with stdio_client(parameters, errlog) as streams:  # type: ignore[arg-type]
            yield streams
    else:
        hooks = {"response": [heard.response]}
        # The time limit is the whole question's, not a request's.
        async with (
            httpx2.AsyncClient(
                headers=dict(server.headers), timeout=None, event_hooks=hooks
            ) as http,
            streamable_http_client(
                server.url, http_client=http, max_sse_event_size=None
            ) as streams,
        ):
            yield streams


async def _answer(server: McpServer, client: Client) -> ServerTools:
    tools, answer = await _pages(client.session) if client.server_capabilities.tools else ([], {})
    return ServerTools(
        server.name,
        tuple(tools),
        instructions=client.instructions or "",
        version=client.server_info.version if client.server_info else "",
        protocol=client.protocol_version,
        answer=answer,
        always_load=server.always_load,
    )


async def _pages(session: ClientSession) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The tools of all pages, and what else stands in the first; a cursor seen twice ends it."""
    tools: list[dict[str, Any]] = []
    answer: dict[str, Any] = {}
    cursors: list[str] = []
    while True:
        params = types.PaginatedRequestParams(cursor=cursors[-1]) if cursors else None
        # The SDK's own list_tools() would lose key order, nulls and unknown fields.
        page = await session.send_request(types.ListToolsRequest(params=params), _AS_SENT)  # type: ignore[type-var]
        tools += page.pop("tools")
        cursor = page.pop("nextCursor", None)
        answer = answer or page
        if not cursor or cursor in cursors:
            return tools, answer
        cursors.append(cursor)
        if len(cursors) >= _PAGES:
            raise _Refused(f"its tool list does not end: {_PAGES:,} pages, {len(tools):,} tools")


def _leaf(error: BaseException) -> BaseException:
    """The one exception that says most: groups nest, and closed streams only follow from others."""
    while isinstance(error, BaseExceptionGroup):
        telling = [e for e in error.exceptions if not isinstance(e, anyio.ClosedResourceError)]
        error = (telling or error.exceptions)[0]
    return error


def _reason(error: BaseException, server: McpServer, timeout: float) -> str:
    match error:
        case TimeoutError():
            return f"no answer within {timeout:g} s"
        case MCPError():
            return _mcp_reason(error)
        case ValidationError():
            return f"its answer is no tool list: {_first_error(error)}"
        case httpx2.TransportError():
            return f"cannot be reached at its url ({error or type(error).__name__})"
        case OSError():
            return f"{error.filename or server.command}: {error.strerror or error}"
        case _:
            return str(error) or type(error).__name__


def _mcp_reason(error: MCPError) -> str:
    # Servers use this code for errors of their own, too.
    if error.error.code == CONNECTION_CLOSED and error.error.message == "Connection closed":
        return _ENDED
    return f"it answered with an error: {error.error.message}"


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"/{'/'.join(str(part) for part in first['loc'])}: {first['msg']}"


def _last_lines(stream: IO[str], lines: int = 3, width: int = 200) -> str:
    """The last lines of a server's stderr in one, or nothing."""
    stream.seek(0)
    told = [line.strip()[:width] for line in stream if line.strip()]
    return f"its last words: {' | '.join(told[-lines:])}" if told else ""
