"""The endpoint as an ASGI application: read a request, ask the door, record, pass the reply on.

Whatever goes wrong is told in the API's own form; once a reply has begun that is only possible
inside a stream, and else the connection is aborted, so that no client takes a part for the whole.
When a client has its whole answer, the exchange stands in the log.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from ctxlab.masking import masked
from ctxlab.serving.door import Asked, Broken, Door, Failed, Reply
from ctxlab.serving.telling import printable
from ctxlab.sessions.recording.exchange import Recording, Sent
from ctxlab.sessions.recording.request_log import RequestLog

Finished = Callable[[Asked, Recording], None]
_DRAINED = 4
"""A body over the limit is read on, up to so many times the limit, and thrown away: a client that
is still sending would not see the answer."""
_LAST = re.compile(rb"(?:\A|\n)event: (?:message_stop|error)\b")


class Endpoint:
    """Serves every path through one door.

    Args:
        door: who answers.
        log: where exchanges are recorded.
        finished: is told of each exchange that ended, whole or not; must return at once.
        max_body: bytes of the largest body.
        simulated: what the log says of the answers.
    """

    def __init__(
        self, door: Door, log: RequestLog, finished: Finished, *, max_body: int, simulated: bool
    ) -> None:
        self._door, self._log, self._finished = door, log, finished
        self._max_body, self._simulated = max_body, simulated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a client that hangs up ends it, and the upstream's answer too."""
        assert scope["type"] == "http"
        request = Request(scope, receive)
        body, door, wanted = b"", self._door, True
        try:
            body = await self._read(request)
        except ClientDisconnect:
            return
        except Failed as failed:
            door, wanted = _refusing(failed), not failed.hangs_up
        except anyio.get_cancelled_exc_class():
            await _send_whole(send, _stopped().reply)
            raise
        query = scope["query_string"]
        target = scope["raw_path"] + (b"?" + query if query else b"")
        asked = Asked(scope["method"], scope["path"], target, scope["headers"], body)
        exchange = _Exchange(self, door, asked, send)
        try:
            async with anyio.create_task_group() as group:
                if wanted:  # to listen is to ask for the body, where a client waits to be asked
                    group.start_soon(_watch, receive, group.cancel_scope)
                await exchange.run()
                group.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():  # the server ends, and waits no longer
            await exchange.stop()
            raise

    async def _read(self, request: Request) -> bytes:
        """The body, if it is within the limit."""
        announced = request.headers.get("content-length", "")
        over = announced.isdigit() and int(announced) > self._max_body
        if over and "expect" in request.headers:
            raise self._too_large(hangs_up=True)
        if over and int(announced) > _DRAINED * self._max_body:
            raise self._too_large()
        pieces, total = [], 0
        async for piece in request.stream():
            total += len(piece)
            if total > _DRAINED * self._max_body:
                break
            if total <= self._max_body:
                pieces.append(piece)
        if total > self._max_body:
            raise self._too_large()
        return b"".join(pieces)

    def _too_large(self, *, hangs_up: bool = False) -> Failed:
        told = f"Request exceeds the maximum size of {self._max_body:,} bytes"
        return Failed(413, told, hangs_up=hangs_up)

    def recording(self, asked: Asked) -> Recording:
        """Of an exchange that begins now."""
        sent = Sent(asked.path, asked.named, asked.body, simulated=self._simulated)
        return Recording(self._log, sent)

    def finish(self, asked: Asked, recording: Recording, *, ended: bool) -> None:
        """Write the exchange down, once; only requests that send something are exchanges."""
        if asked.method == "POST":
            recording.finish(ended=ended)
        self._finished(asked, recording)


class _Exchange:
    """One request on its way through."""

    def __init__(self, endpoint: Endpoint, door: Door, asked: Asked, send: Send) -> None:
        self._endpoint, self._door, self._asked, self._send = endpoint, door, asked, send
        self._recording = endpoint.recording(asked)
        self._begun = self._finished = False
        self._takes_events, self._end = False, b""

    async def run(self) -> None:
        """Until the reply was passed on, or could not be."""
        try:
            async with self._door(self._asked) as reply:
                await self._pass_on(reply)
        except Failed as failed:
            await self._pass_on(failed.reply)
        except Broken as broken:
            # A reply without an end makes the server close the connection.
            self._recording.fails({"type": "api_error", "message": str(broken)})
        except Exception as error:  # noqa: BLE001  one request must not end the server
            told = masked(f"{type(error).__name__} in {self._recording.path}: {error}")
            sys.stderr.write(f"ctxlab: {printable(told)}\n")
            if self._begun:
                self._recording.fails(error)
            else:
                await self._pass_on(Failed(500, "internal error of ctxlab serve").reply)
        finally:
            self._finish_now(ended=False)

    async def stop(self) -> None:
        """Tell the client that there will be no more, where that can be told."""
        failed = _stopped()
        if not self._begun:
            await _send_whole(self._send, failed.reply)
        elif self._takes_events:
            event = failed.event_behind(self._end)
            await self._send({"type": "http.response.body", "body": event})

    async def _pass_on(self, reply: Reply) -> None:
        self._recording.begins(reply.status, reply.named)
        if reply.whole is not None:
            self._recording.saw(reply.whole)
            await self._finish()
            self._begun = True
            await _send_whole(self._send, reply)
            return
        assert reply.chunks is not None
        await _send_head(self._send, reply)
        self._begun, self._takes_events, self._end = True, reply.takes_events, b"\n\n"
        passed = 0
        async for chunk in reply.chunks:
            self._recording.saw(chunk)
            passed += len(chunk)
            if passed == reply.length or _LAST.search(chunk):  # a client may wait for no more
                await self._finish()
            await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
            self._end = (self._end + chunk)[-2:]
        await self._finish()
        self._takes_events = False
        await self._send({"type": "http.response.body", "body": b""})

    async def _finish(self) -> None:
        """Off the event loop: a long body takes its time to be written."""
        if not self._finished:
            self._finished = True
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(
                    lambda: self._endpoint.finish(self._asked, self._recording, ended=True)
                )

    def _finish_now(self, *, ended: bool) -> None:
        """At once: whoever was cancelled may have no time left."""
        if not self._finished:
            self._finished = True
            self._endpoint.finish(self._asked, self._recording, ended=ended)


def _stopped() -> Failed:
    return Failed(503, "ctxlab serve was stopped before the answer was whole", hangs_up=True)


def _refusing(failed: Failed) -> Door:
    """A door that opens for nobody."""

    @asynccontextmanager
    async def refuse(_: Asked) -> AsyncIterator[Reply]:
        raise failed
        yield

    return refuse


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    """End the exchange when the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _send_head(send: Send, reply: Reply) -> None:
    headers = list(reply.headers)
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})


async def _send_whole(send: Send, reply: Reply) -> None:
    body = reply.whole or b""
    if reply.length < 0:
        reply = Reply(
            reply.status, [*reply.headers, (b"content-length", str(len(body)).encode())], body
        )
    await _send_head(send, reply)
    await send({"type": "http.response.body", "body": body})
