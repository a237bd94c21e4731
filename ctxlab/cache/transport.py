"""httpx2 transports that answer from a handler instead of a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from ctxlab.cache.handler import Answer, MessagesHandler


class SimulatedTransport(httpx2.BaseTransport):
    """For `httpx2.Client(transport=…)`."""

    def __init__(self, handler: MessagesHandler) -> None:
        """Answer from `handler`."""
        self._handler = handler

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request in process."""
        answer = self._handler.answer(
            request.method, request.url.path, request.headers, request.read()
        )
        return httpx2.Response(answer.status, headers=answer.headers, content=answer.chunks)


class AsyncSimulatedTransport(httpx2.AsyncBaseTransport):
    """For `httpx2.AsyncClient(transport=…)`.

    Requests that are sent together overlap: each has started before the first response begins.
    """

    def __init__(self, handler: MessagesHandler) -> None:
        """Answer from `handler`."""
        self._handler = handler

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request in process."""
        body = await request.aread()
        answer = self._handler.answer(request.method, request.url.path, request.headers, body)
        await asyncio.sleep(0)
        return httpx2.Response(answer.status, headers=answer.headers, content=_chunks(answer))


async def _chunks(answer: Answer) -> AsyncIterator[bytes]:
    for chunk in answer.chunks:
        yield chunk
