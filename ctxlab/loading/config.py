"""MCP servers as a `.mcp.json` names them.

    {"mcpServers": {"git":  {"command": "uvx", "args": ["mcp-server-git"]},
                    "docs": {"type": "http", "url": "${DOCS_URL:-http://127.0.0.1:8000/mcp}"}}}

`${VAR}` and `${VAR:-default}` are expanded in command, args, env, url and headers, as Claude Code
does (source: `tool-search`). Keys that other clients add are left alone. Not handled: `sse`, the
transport that streamable HTTP replaced, and servers that ask for a login.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_HTTP = ("http", "streamable-http")


@dataclass(frozen=True)
class McpServer:
    """How one MCP server is reached: a command over stdio, or an address over streamable HTTP."""

    name: str
    """Its key in `mcpServers`; tool names carry it as `mcp__name__tool`."""
    command: str = ""
    """The program to start; empty for an http server."""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Added to the few variables that are safe to pass on (HOME, PATH, USER, …)."""
    cwd: str | None = None
    """Where the program runs; None is where we run."""
    url: str = ""
    """The address of an http server; empty for a command."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    always_load: bool = False
    """`alwaysLoad`: its tools are never deferred."""


@dataclass(frozen=True)
class _Place:
    """Where in the file we are, for errors, and the variables that hold there."""

    path: Path
    pointer: str
    env: Mapping[str, str]

    def at(self, key: str | int) -> _Place:
        token = str(key).replace("~", "~0").replace("/", "~1")
        return _Place(self.path, f"{self.pointer}/{token}", self.env)

    def refuse(self, message: str) -> InputError:
        return InputError(message, path=self.path, place=self.pointer)


def read_servers(path: str | Path, env: Mapping[str, str] | None = None) -> list[McpServer]:
    """The servers of a `.mcp.json`, in the file's order; `env` (default: ours) fills `${VAR}`.

    Raises:
        InputError: not there, no JSON (with line and column), or a field that is not what the
            form asks for (with its JSON pointer).
    """
    file = project.resolve(path)
    document = _json(file)
    place = _Place(file, "", os.environ if env is None else env)
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise place.refuse('expected {"mcpServers": {"name": {"command": …} or {"url": …}}}')
    inside = place.at("mcpServers")
    return [_server(name, entry, inside.at(name)) for name, entry in servers.items()]


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", path=file) from error
    except json.JSONDecodeError as error:
        where = f"{error.lineno}:{error.colno}"
        raise InputError(f"no valid JSON: {error.msg}", path=file, place=where) from error


def _server(name: str, entry: Any, place: _Place) -> McpServer:
    if not isinstance(entry, dict):
        raise place.refuse("expected an object with a command or a url")
    kind = entry.get("type", "http" if "url" in entry and "command" not in entry else "stdio")
    if kind not in ("stdio", *_HTTP):
        raise place.at("type").refuse(f"expected stdio or http, found {kind!r}")
    always = entry.get("alwaysLoad", False)
    if not isinstance(always, bool):
        raise place.at("alwaysLoad").refuse(f"expected true or false, found {always!r}")
    if kind in _HTTP:
        return McpServer(
            name,
            url=_url(entry, place),
            headers=_texts(entry, "headers", place),
            always_load=always,
        )
    return McpServer(
        name,
        command=_text(entry, "command", place),
        args=_arguments(entry, place),
        env=_texts(entry, "env", place),
        cwd=_text(entry, "cwd", place) if "cwd" in entry else None,
        always_load=always,
    )


def _url(entry: dict[str, Any], place: _Place) -> str:
    url = _text(entry, "url", place)
    if not url.startswith(("http://", "https://")):
        raise place.at("url").refuse("expected an address that starts with http:// or https://")
    return url


def _text(entry: dict[str, Any], key: str, place: _Place) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise place.at(key).refuse("expected a text that is not empty")
    return _expand(value, place.at(key))


def _arguments(entry: dict[str, Any], place: _Place) -> tuple[str, ...]:
    values, inside = entry.get("args", []), place.at("args")
    if not isinstance(values, list):
        raise inside.refuse("expected a list of texts")
    return tuple(_item(value, inside.at(index)) for index, value in enumerate(values))


def _texts(entry: dict[str, Any], key: str, place: _Place) -> dict[str, str]:
    values, inside = entry.get(key) or {}, place.at(key)
    if not isinstance(values, dict):
        raise inside.refuse("expected an object of texts")
    return {name: _item(value, inside.at(name)) for name, value in values.items()}


def _item(value: Any, place: _Place) -> str:
    if not isinstance(value, str):
        raise place.refuse(f"expected a text, found {json.dumps(value)}")
    return _expand(value, place)


def _expand(text: str, place: _Place) -> str:
    """`text` with `${VAR}` filled in; an empty variable counts as unset where a default stands."""

    def fill(match: re.Match[str]) -> str:
        name, default = match.groups()
        value = place.env.get(name)
        if default is not None:
            return value or default
        if value is None:
            raise place.refuse(f"${{{name}}} is not set; set it, or write ${{{name}:-default}}")
        return value

    return _VARIABLE.sub(fill, text)
