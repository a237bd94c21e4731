"""A small MCP server over streamable HTTP: the SDK's own, on a free port that it prints."""

import socket
import sys

import uvicorn
from mcp import types
from mcp.server import Server
from starlette.responses import PlainTextResponse

TOOL = {"name": "now", "description": "The time.", "inputSchema": {"type": "object"}}


async def list_tools(context, params):
    if sys.argv[1:] == ["pages"]:
        number = int(params.cursor) if params and params.cursor else 0
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(TOOL | {"name": f"t{number}"})],
            next_cursor=str(number + 1) if number < 2 else None,
        )
    big = {"description": "x" * 3_000_000} if sys.argv[1:] == ["huge"] else {}
    return types.ListToolsResult(tools=[types.Tool.model_validate(TOOL | big)])


def guarded(app):
    """Without the right token there is nothing to see."""

    async def call(scope, receive, send):
        headers = dict(scope.get("headers", []))
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer secret":
            await PlainTextResponse("who are you?", 401)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return call


def main():
    server = Server("small", version="9", instructions="Over HTTP.", on_list_tools=list_tools)
    app = server.streamable_http_app()
    if sys.argv[1:] == ["guarded"]:
        app = guarded(app)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
