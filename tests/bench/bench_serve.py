"""The local endpoint: a request through `ctxlab serve` against its handler called in process."""

from __future__ import annotations

import http.client
import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from ctxlab.cache import MessagesHandler
from tests.bench import Figure, interleaved
from tests.bench.bench_cache import session
from tests.serving.processes import serving


def own(body: dict[str, Any], client: int) -> dict[str, Any]:
    """The body as this client's conversation has it."""
    hello = {"role": "user", "content": f"client {client}"}
    return {**body, "messages": [hello, *body["messages"]]}


def figures() -> Iterator[Figure]:
    conversations = [[json.dumps(own(body, n)).encode() for body in session()] for n in range(4)]
    handler = MessagesHandler()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), "--latency", "0") as served,
        ThreadPoolExecutor(len(conversations)) as pool,
    ):

        def converse(bodies: list[bytes]) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", served.port)
            for body in bodies:
                connection.request("POST", "/v1/messages", body)
                assert connection.getresponse().read()
            connection.close()

        def ours() -> None:
            list(pool.map(converse, conversations))

        def reference() -> None:
            for body in chain(*conversations):
                assert b"".join(handler.answer("POST", "/v1/messages", {}, body).chunks)

        ours()  # both have counted every block
        reference()
        mine, theirs = interleaved(ours, reference, 3)
    requests = sum(map(len, conversations))
    size = sum(map(len, chain(*conversations))) / requests / 1e3
    detail = f"({requests / mine:.0f} requests/s of {size:.0f} KB, recorded and explained)"
    against = "the handler in process, which records nothing"
    yield Figure("a request through ctxlab serve", mine / theirs, 12, against, detail=detail)
