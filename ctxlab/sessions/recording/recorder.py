"""`Recorder`: an httpx2 transport that saves what passes through it in a request log.

    client = anthropic.Anthropic(http_client=httpx2.Client(transport=Recorder("log.jsonl")))
    asking = anthropic.AsyncAnthropic(
        http_client=httpx2.AsyncClient(transport=Recorder("log.jsonl"))
    )

The caller's requests and the answer's bytes pass untouched; `exchange` says what a line holds. An
answer that the caller never reads or closes is recorded with the next exchange, or when the process
ends. Not handled: a process that is killed (its open exchanges are lost, the file stays readable).
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from threading import Lock

import anyio
import anyio.to_thread
import httpx2

from ctxlab.cache.transport import AsyncSimulatedTransport, SimulatedTransport
from ctxlab.errors import UsageError
from ctxlab.sessions.recording.exchange import Recording, Sent
from ctxlab.sessions.recording.request_log import RequestLog

Transport = httpx2.BaseTransport | httpx2.AsyncBaseTransport
_open: set[Recording] = set()
_abandoned: deque[Recording] = deque()  # filled by the garbage collector, which must not write


class Recorder(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Records each exchange of an httpx2 client: each POST, no other asks a model.

    One class for `httpx2.Client(transport=…)` and `httpx2.AsyncClient(transport=…)`.

    Args:
        path: the log; it is appended to, and made for its owner's eyes when it is not there.
        transport: what sends the requests, by default the network.
        agent: a name for the log's lines, where several agents write to one log.
        clock: seconds since the epoch; a simulated cache's clock goes with a simulated transport.

    Raises:
        UsageError: a transport of another library; when a request is sent: a client of another
            library, or a `transport` that only serves the other kind of client.
    """

    def __init__(
        self,
        path: str | Path,
        transport: Transport | None = None,
        agent: str = "",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """See the class."""
        if not isinstance(transport, httpx2.BaseTransport | httpx2.AsyncBaseTransport | None):
            raise UsageError(f"transport is one of httpx2, not a {_whose(transport)}")
        self._log, self._agent, self._clock = RequestLog(path), agent, clock
        self._sync = transport if isinstance(transport, httpx2.BaseTransport) else None
        self._async = transport if isinstance(transport, httpx2.AsyncBaseTransport) else None
        self._given, self._lock = transport, Lock()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request, and record what comes of it once the answer was read or closed."""
        _check(request)
        transport = self._for_client()
        _settle()
        if request.method != "POST":
            return transport.handle_request(request)
        body = request.read() if _worth_reading(request) else b""
        recording = self._opened(request, body)
        try:
            response = transport.handle_request(request)
        except BaseException as error:
            recording.fails(error)
            _close(recording, ended=False)
            raise
        recording.begins(response.status_code, response.headers)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        return _passed_on(response, _Tapped(response.stream, recording))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The same for an `AsyncClient`; the log is written off the event loop."""
        _check(request)
        transport = self._for_async_client()
        if _abandoned:
            await anyio.to_thread.run_sync(_settle)
        if request.method != "POST":
            return await transport.handle_async_request(request)
        body = await request.aread() if _worth_reading(request) else b""
        recording = self._opened(request, body)
        try:
            response = await transport.handle_async_request(request)
        except BaseException as error:
            recording.fails(error)
            await _aclose(recording, ended=False)
            raise
        recording.begins(response.status_code, response.headers)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return _passed_on(response, _AsyncTapped(response.stream, recording))

    def close(self) -> None:
        """Close the transport that sends."""
        _settle()
        if self._sync is not None:
            self._sync.close()

    async def aclose(self) -> None:
        """Close the transport that sends."""
        await anyio.to_thread.run_sync(_settle)
        if self._async is not None:
            await self._async.aclose()

    def _for_client(self) -> httpx2.BaseTransport:
        if self._sync is None:
            if self._given is not None:
                raise UsageError(f"{_whose(self._given)} serves httpx2.AsyncClient, not Client")
            with self._lock:
                self._sync = self._sync or httpx2.HTTPTransport()
        return self._sync

    def _for_async_client(self) -> httpx2.AsyncBaseTransport:
        if self._async is None:
            if self._given is not None:
                raise UsageError(f"{_whose(self._given)} serves httpx2.Client, not AsyncClient")
            with self._lock:
                self._async = self._async or httpx2.AsyncHTTPTransport()
        return self._async

    def _opened(self, request: httpx2.Request, body: bytes) -> Recording:
        headers = {name.lower(): value for name, value in request.headers.items()}
        simulated = isinstance(self._given, SimulatedTransport | AsyncSimulatedTransport)
        sent = Sent(request.url.path, headers, body, self._agent, simulated)
        recording = Recording(self._log, sent, self._clock)
        _open.add(recording)
        return recording


AsyncRecorder = Recorder
"""The name that async code looks for."""


class _Tapped(httpx2.SyncByteStream):
    """A response's bytes on their way to the caller."""

    def __init__(self, stream: httpx2.SyncByteStream, recording: Recording) -> None:
        self._stream, self._recording, self._ended = stream, recording, False
        weakref.finalize(self, _abandoned.append, recording).atexit = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._stream:
                self._recording.saw(chunk)
                yield chunk
            self._ended = True
        except Exception as error:
            self._recording.fails(error)
            raise

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            _close(self._recording, ended=self._ended)


class _AsyncTapped(httpx2.AsyncByteStream):
    """The same for `async` code."""

    def __init__(self, stream: httpx2.AsyncByteStream, recording: Recording) -> None:
        self._stream, self._recording, self._ended = stream, recording, False
        weakref.finalize(self, _abandoned.append, recording).atexit = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                self._recording.saw(chunk)
                yield chunk
            self._ended = True
        except Exception as error:
            self._recording.fails(error)
            raise

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            await _aclose(self._recording, ended=self._ended)


def _worth_reading(request: httpx2.Request) -> bool:
    """Files that are uploaded are no part of a context."""
    return "json" in request.headers.get("content-type", "json")


def _check(request: object) -> None:
    """A client of another library asks in a form of its own, and fails over our answer."""
    if not isinstance(request, httpx2.Request):
        library = type(request).__module__.partition(".")[0]
        raise UsageError(
            f"a Recorder is a transport of httpx2, not of {library}: give it to httpx2.Client or "
            "httpx2.AsyncClient, which the anthropic SDK takes as http_client"
        )


def _whose(transport: object) -> str:
    kind = type(transport)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"


def _passed_on(
    response: httpx2.Response, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream
) -> httpx2.Response:
    return httpx2.Response(
        response.status_code,
        headers=response.headers,
        stream=stream,
        extensions=response.extensions,
    )


def _close(recording: Recording, *, ended: bool) -> None:
    if recording in _open:
        _open.discard(recording)
        recording.finish(ended=ended)


async def _aclose(recording: Recording, *, ended: bool) -> None:
    """Off the event loop, and even when the caller was cancelled."""
    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(lambda: _close(recording, ended=ended))


def _settle() -> None:
    """Record the answers that were thrown away unread."""
    while _abandoned:
        _close(_abandoned.popleft(), ended=False)


def _end() -> None:
    for recording in list(_open):
        _close(recording, ended=False)


atexit.register(_end)
os.register_at_fork(after_in_child=_open.clear)  # what is open is the parent's
