"""The server's life: listen, say where, serve until a signal ends it."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import signal
import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ctxlab.errors import UsageError
from ctxlab.serving.options import Options

if TYPE_CHECKING:
    import uvicorn

    from ctxlab.serving.telling import Teller

_BACKLOG = 2_048
_GRACE = 5
"""Seconds that requests under way have to end when the server does."""
_QUIET = 60.0
"""Seconds in which the same trouble is not told again."""
Say = Callable[[str], None]


def serve(options: Options, say: Say, warn: Say) -> None:
    """Serve until SIGTERM (returns) or Ctrl-C (KeyboardInterrupt).

    Args:
        options: see there.
        say: prints one line; the first one says the base URL to export.
        warn: prints what people should know first.

    Raises:
        UsageError: the port cannot be had, or the upstream is this very server.
        OSError: the record cannot be written.
    """
    _check_record(options)
    with listening(options.host, options.port) as listener:
        address = listener.getsockname()
        if options.upstream and is_itself(options.upstream, address):
            raise UsageError("--upstream is the address of this server: requests would never end")
        if not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback:
            warn(
                f"warning: {options.host} can be reached from other machines; whoever reaches it "
                "can ask in your name and fills your log"
            )
        say(f"export ANTHROPIC_BASE_URL={base_url(address)}")
        whose = f"forwarded to {_shown(options)}" if options.upstream else "simulated"
        say(f"answers are {whose}; recorded in {options.record}; Ctrl-C ends it")
        _serve(options, listener, say, warn)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; connections wait in it until they are served.

    Raises:
        UsageError: nobody can listen there.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen on {host} port {port}: {told}") from None


def is_itself(upstream: str, address: tuple[Any, ...]) -> bool:
    """Whether an address leads to the socket that listens at another one.

    >>> is_itself("http://localhost:8787/x", ("127.0.0.1", 8787))
    True
    >>> is_itself("http://localhost:8788/x", ("127.0.0.1", 8787))
    False
    """
    parts = urlsplit(upstream)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if port != address[1]:
        return False
    own = ipaddress.ip_address(address[0].partition("%")[0])
    with suppress(OSError, ValueError):
        for *_, found in socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM):
            there = ipaddress.ip_address(str(found[0]).partition("%")[0])
            if there == own or there.is_unspecified or (own.is_unspecified and _is_ours(there)):
                return True
    return False


def _is_ours(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Only an address of this machine can be bound."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004  IPv4
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def base_url(address: tuple[Any, ...]) -> str:
    """What an agent is pointed at.

    >>> base_url(("::1", 8787, 0, 0))
    'http://[::1]:8787'
    """
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{host}:{address[1]}"


def _serve(options: Options, listener: socket.socket, say: Say, warn: Say) -> None:
    from ctxlab.serving.telling import Teller  # noqa: PLC0415  imports the audit

    teller = Teller(say)
    try:
        asyncio.run(_run(options, listener, teller, warn))
    finally:
        teller.close()


async def _run(options: Options, listener: socket.socket, teller: Teller, warn: Say) -> None:
    from ctxlab.serving.endpoint import Endpoint  # noqa: PLC0415  imports servers and clients
    from ctxlab.sessions.recording.request_log import RequestLog  # noqa: PLC0415  as above

    asyncio.get_running_loop().set_exception_handler(_Troubles(warn))
    async with AsyncExitStack() as stack:
        if options.upstream is None:
            door: Any = _simulated(options)
        else:
            from ctxlab.serving.upstream import Upstream  # noqa: PLC0415  as above

            door = Upstream(options.upstream, options.timeout)
            stack.push_async_callback(door.aclose)
        endpoint = Endpoint(
            door,
            RequestLog(options.record),
            teller.ended,
            max_body=options.max_body,
            simulated=options.upstream is None,
        )
        await _server(endpoint).serve(sockets=[listener])


class _Troubles:
    """Tells what the event loop could not do, such as take a connection, in one line and once."""

    def __init__(self, warn: Say) -> None:
        self._warn = warn
        self._told: dict[str, float] = {}

    def __call__(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        what = getattr(error, "strerror", None) or type(error).__name__
        now = time.monotonic()
        if now - self._told.get(what, -_QUIET) >= _QUIET:
            self._told[what] = now
            self._warn(f"warning: {what}: {str(context.get('message')).splitlines()[0]}")


def _simulated(options: Options) -> Any:
    from ctxlab.cache.handler import MessagesHandler  # noqa: PLC0415  as above
    from ctxlab.cache.replies import Script  # noqa: PLC0415  as above
    from ctxlab.cache.simulator import PromptCache  # noqa: PLC0415  as above
    from ctxlab.serving.simulated import Simulated  # noqa: PLC0415  as above

    least = options.minimum_tokens
    rules = None if least is None else {"minimum_tokens": least}
    # Logs of several runs of the server may be read together: their ids are told apart.
    cache = PromptCache(rules, run=f"{secrets.token_hex(4)}_")
    replies = None if options.replies is None else Script(options.replies, options.then)
    return Simulated(MessagesHandler(cache, replies), options.latency)


def _server(endpoint: Any) -> uvicorn.Server:
    import uvicorn  # noqa: PLC0415  as above

    from ctxlab.serving.protocol import ApiProtocol  # noqa: PLC0415  as above

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if sig == signal.SIGTERM:  # asked to end: that is no failure
                self.should_exit = True
            else:
                super().handle_exit(sig, frame)

    return Server(
        uvicorn.Config(
            endpoint,
            http=ApiProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_GRACE,
        )
    )


def _check_record(options: Options) -> None:
    """A record that cannot be written is told before anybody relies on it."""
    from ctxlab.sessions.recording.request_log import append_nothing  # noqa: PLC0415  as above

    append_nothing(options.record)


def _shown(options: Options) -> str:
    from ctxlab.sessions.recording.hiding import masked_path  # noqa: PLC0415  as above

    return masked_path(options.upstream or "")
