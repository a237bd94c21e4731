"""Sessions built by hand: bodies sent through the simulator and written down as a recorder does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from ctxlab.cache import PromptCache
from ctxlab.sessions import Exchange, Line, Session
from tests.cache.requests import Clock, simulator

START = 1_796_050_800.0


def session(*exchanges: Exchange) -> Session:
    return Session("s", "requests", (), exchanges)


def used(  # noqa: PLR0913  usage has as many numbers as it has
    read: int = 0,
    write: int = 0,
    uncached: int = 0,
    at: float | None = 0.0,
    *,
    hour: int = 0,
    stream: str = "main",
    model: str = "claude-opus-5",
    output: int = 0,
    **more: Any,
) -> Exchange:
    """An exchange of which only usage is known."""
    usage = {
        "input_tokens": uncached,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write + hour,
        "cache_creation": {
            "ephemeral_5m_input_tokens": write,
            "ephemeral_1h_input_tokens": hour,
        },
        "output_tokens": output,
    }
    return Exchange(None if at is None else START + at, model, usage, stream, **more)


def recorded(  # noqa: PLR0913  a recording has as many circumstances
    folder: Path,
    bodies: Sequence[tuple[float, dict[str, Any]]],
    cache: PromptCache | None = None,
    *,
    clock: Clock | None = None,
    with_bodies: bool = True,
    at_once: bool = False,
) -> Session:
    """Bodies sent at these seconds through the simulator, and the log that tells of it."""
    clock = clock or Clock()
    cache = cache or simulator(clock)
    path, exchanges, pending, offset = folder / "log.jsonl", [], [], 0
    with path.open("wb") as file:
        for at, body in bodies:
            clock.now = START + at
            sent = cache.begin(body)
            pending.append(sent)
            if not at_once:
                sent.finish()
            raw = orjson.dumps({"request": body}) + b"\n"
            file.write(raw)
            usage = dict(sent.usage)
            exchanges.append(
                Exchange(
                    time=clock.now,
                    model=body["model"],
                    usage=usage,
                    stream="main",
                    diagnostics=usage.pop("diagnostics"),
                    message_id=usage.pop("message_id"),
                    lines=(Line(path, offset, len(raw)),),
                    has_body=with_bodies,
                )
            )
            offset += len(raw)
    for sent in pending:
        sent.finish()
    return Session("s", "requests", (path,), tuple(exchanges))
