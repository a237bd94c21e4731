"""The door to the simulated cache: the same handler that `simulated_client` calls in process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import orjson

from ctxlab.cache.handler import Answer, MessagesHandler
from ctxlab.cache.rules import known_models
from ctxlab.serving.door import Asked, Failed, Reply, pairs

_LONGEST = 1.0
_MODELS = "/v1/models"


class Simulated:
    """Answers from a handler; costs nothing.

    An answer begins `latency` seconds after the last request arrived, so that requests which come
    together overlap: each has started before the first answer begins, and each writes what it marks
    (facts `prompt-cache` §1, Concurrency). Nobody waits longer than a second for others.
    """

    def __init__(self, handler: MessagesHandler, latency: float) -> None:
        """Answer from `handler`."""
        self._handler, self._latency = handler, latency
        self._arrived = 0.0
        self._starting = 0

    @asynccontextmanager
    async def __call__(self, asked: Asked) -> AsyncIterator[Reply]:
        """The handler's answer; or what an agent looks at before it asks."""
        looked_at = _looked_at(asked)
        if looked_at is not None:
            yield looked_at
            return
        answer = await self._start(asked)
        await self._begin()
        if asked.method == "POST" and "event-stream" in answer.headers["content-type"]:
            yield Reply(answer.status, pairs(answer.headers), chunks=_pieces(answer))
        else:
            yield Reply(answer.status, pairs(answer.headers), b"".join(answer.chunks))

    async def _start(self, asked: Asked) -> Answer:
        """Lay the request out, off the event loop: a long one takes its time to be counted."""
        self._arrived = time.monotonic()
        self._starting += 1
        try:
            return await anyio.to_thread.run_sync(
                self._handler.answer, asked.method, asked.path, asked.named, asked.body
            )
        finally:
            self._starting -= 1

    async def _begin(self) -> None:
        """Wait until the requests that overlap with this one have started."""
        await anyio.lowlevel.checkpoint()  # a client that hung up meanwhile gets no answer
        if not self._latency:
            return
        limit = time.monotonic() + max(_LONGEST, self._latency)
        while (now := time.monotonic()) < limit:
            left = self._arrived + self._latency - now
            if left <= 0 and not self._starting:
                return
            await anyio.sleep(max(left, 0.001))


async def _pieces(answer: Answer) -> AsyncIterator[bytes]:
    for piece in answer.chunks:
        yield piece


def _looked_at(asked: Asked) -> Reply | None:
    """The address itself, and the models; None for everything else."""
    if asked.method not in ("GET", "HEAD"):
        return None
    path = asked.path.rstrip("/")
    if not path:
        return _json({"service": "ctxlab serve", "simulated": True})
    if path == _MODELS:
        models = [_model(name) for name in known_models()]
        ends = {"first_id": models[0]["id"], "last_id": models[-1]["id"], "has_more": False}
        return _json({"data": models, **ends})
    if path.startswith(f"{_MODELS}/"):
        name = path.removeprefix(f"{_MODELS}/")
        return _json(_model(name)) if name in known_models() else Failed(404, f"no {name}").reply
    return None


def _model(name: str) -> dict[str, Any]:
    return {
        "type": "model",
        "id": name,
        "display_name": f"{name} (simulated)",
        "created_at": "1970-01-01T00:00:00Z",  # the API's own form of a date it does not know
    }


def _json(value: Any) -> Reply:
    return Reply(200, pairs({"content-type": "application/json"}), orjson.dumps(value))
