"""The door to somebody else's server: requests and answers pass through untouched.

Headers that belong to one connection are left out, all others, the authorization too, are passed
on; bodies keep their bytes, compressed ones too. One header is added, by which a server knows a
request that it has forwarded before, and refuses it: the way would have no end. An answer that
streams is passed on as it comes; a JSON answer is taken whole, so that one which breaks off becomes
an error in the API's form, unless it is longer than what is worth holding. Not followed: redirects.
A relative one is passed on; one that leads elsewhere would lead the client past the recorder, so it
is refused.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import httpx2

from ctxlab.masking import masked
from ctxlab.serving.door import Asked, Broken, Failed, Headers, Reply

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
_OURS = frozenset([b"host", b"content-length", b"expect"])
_CONNECT = 10.0
_MOVED = range(300, 400)
_STATUSES = range(200, 600)
_PASSED = b"x-ctxlab-serve"
"""The servers of ours that a request came through."""
_WHOLE = 8 * 1024 * 1024
"""Bytes of an answer that is taken whole."""


class Upstream:
    """Forwards to one address."""

    def __init__(self, url: str, timeout: float) -> None:
        """Forward to `url`, which may be silent for `timeout` seconds at a time."""
        self._base, self._timeout = httpx2.URL(url), timeout
        self._mark = secrets.token_hex(8).encode()
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(timeout, connect=min(_CONNECT, timeout), pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            follow_redirects=False,
        )

    @asynccontextmanager
    async def __call__(self, asked: Asked) -> AsyncIterator[Reply]:
        """The upstream's answer.

        Raises:
            Failed: there is none, or none that could be passed on.
        """
        if self._mark in asked.named.get(_PASSED.decode(), "").encode():
            raise Failed(508, "the upstream leads back to this server: --upstream goes in a circle")
        with self._failures("did not answer"):
            response = await self._client.send(self._request(asked), stream=True)
        try:
            if response.status_code not in _STATUSES:
                told = (
                    f"the upstream answered with the status {response.status_code}, which is none"
                )
                raise Failed(502, told)
            _refuse_leading_away(response)
            headers = _passed_on(response.headers.raw)
            kind = response.headers.get("content-type", "")
            raw, first = response.aiter_raw(), b""
            if kind.startswith("application/json") and asked.method != "HEAD":
                with self._failures("broke off its answer"):
                    first, ended = await _begun(raw)
                if ended:
                    yield Reply(response.status_code, headers, first)
                    return
            reply = Reply(response.status_code, headers)
            yield replace(reply, chunks=self._pieces(first, raw, reply))
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    def _request(self, asked: Asked) -> httpx2.Request:
        path = self._base.raw_path.partition(b"?")[0].rstrip(b"/") + asked.target
        headers = [(name, value) for name, value in _passed_on(asked.headers) if name not in _OURS]
        headers.append((_PASSED, self._mark))
        url = self._base.copy_with(raw_path=path)
        return httpx2.Request(asked.method, url, headers=headers, content=asked.body or None)

    async def _pieces(
        self, first: bytes, raw: AsyncIterator[bytes], reply: Reply
    ) -> AsyncIterator[bytes]:
        """The body as it comes; where a stream of events breaks, its last event says why."""
        if first:
            yield first
        end = b"\n\n"
        try:
            with self._failures("broke off its answer"):
                async for piece in raw:
                    end = (end + piece)[-2:]
                    yield piece
        except Failed as failed:
            if not reply.takes_events:
                raise Broken(failed.message) from None
            yield failed.event_behind(end)

    @contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        try:
            yield
        except httpx2.ConnectTimeout:
            raise Failed(504, "the upstream could not be reached in time") from None
        except httpx2.TimeoutException:
            told = f"the upstream {what}: it was silent for {self._timeout:g} seconds"
            raise Failed(504, told) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, ValueError) as error:
            told = masked(str(error)) or type(error).__name__
            raise Failed(502, f"the upstream {what}: {told}") from None


async def _begun(raw: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """A body as far as it is held, and whether that is all of it."""
    pieces, size = [], 0
    async for piece in raw:
        pieces.append(piece)
        size += len(piece)
        if size > _WHOLE:
            return b"".join(pieces), False
    return b"".join(pieces), True


def _passed_on(headers: Headers) -> Headers:
    """Without those that belong to one connection."""
    named = b",".join(value for name, value in headers if name.lower() == b"connection")
    dropped = _HOP_BY_HOP | {name.strip().lower() for name in named.split(b",")}
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def _refuse_leading_away(response: httpx2.Response) -> None:
    location = response.headers.get("location", "")
    if response.status_code not in _MOVED or not location:
        return
    try:
        parts = urlsplit(location)
        elsewhere = f"{parts.scheme or 'https'}://{parts.hostname}" if parts.netloc else ""
    except ValueError:
        elsewhere = "an address that is none"
    if elsewhere:
        told = f"the upstream redirects to {elsewhere}: give --upstream the address that answers"
        raise Failed(502, told)
