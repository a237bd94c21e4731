"""The largest tool results of a session, and what truncation would have saved.

Each result goes through our own `TruncatingWrapper` with its default limit. What it saves, it saves
with every request that carries the result: once when it is written to the cache, then at the price
of a read, until the history is compacted. An upper bound: nothing is said of results that the model
would have looked up again in parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ctxlab import tokens
from ctxlab.errors import CtxlabError
from ctxlab.prices.rates import day, price_list
from ctxlab.sessions.auditing.audit import AuditedRequest, audited
from ctxlab.sessions.auditing.counts import Counts
from ctxlab.sessions.context.pieces import Piece, pieces
from ctxlab.sessions.model import Session, check_session, roots
from ctxlab.truncation import MemoryStorage, ResourceStore, TruncatingWrapper

if TYPE_CHECKING:
    import pandas as pd

_MILLION = 1_000_000


@dataclass(frozen=True)
class LargeResult:
    """One tool result that our wrapper would have cut."""

    tool: str
    id: str
    """The call's id."""
    request: int
    """The first request that carried it, from 1, in the order of time."""
    chars: int
    tokens: int
    """o200k estimate, as are the two below."""
    kept: int
    """Tokens of what the wrapper returns, its notice included."""
    saved: int
    """Tokens saved each time the result is sent."""
    sent: int
    """How many requests carried it."""
    saved_in_session: int
    """`saved` over all of them."""
    usd_saved: float
    """The same in money, by what each request read, wrote and sent uncached; NaN where nobody
    knows the price."""


def large_results(session: Session, rows: Sequence[AuditedRequest] | None = None) -> pd.DataFrame:
    """Every tool result above the wrapper's limit, the largest first; columns: `LargeResult`'s."""
    import pandas as pd  # noqa: PLC0415  1.3 s that the command's text does not need

    found = list_large_results(session, rows)
    return pd.DataFrame(found, columns=[field.name for field in fields(LargeResult)])


def list_large_results(
    session: Session, rows: Sequence[AuditedRequest] | None = None
) -> list[LargeResult]:
    """The rows of `large_results`."""
    check_session(session)
    told = audited(session) if rows is None else rows
    threads = roots(row.exchange for row in told)
    found = (_cut(piece, told, threads) for piece in pieces(session))
    kept = [result for result in found if result]
    return sorted(kept, key=lambda result: (-result.tokens, result.request, result.id))


def result_text(block: Mapping[str, Any]) -> str:
    """The text of a tool result; pictures and references have none."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _cut(
    piece: Piece, rows: Sequence[AuditedRequest], threads: Mapping[str, str]
) -> LargeResult | None:
    """The result as the wrapper returns it; None where it is left as it is."""
    text = result_text(piece.block) if piece.origin == "tool results" else ""
    wrapped = _wrapper().wrap(piece.tool or "tool", text)
    if wrapped == text:
        return None
    whole, kept = tokens.count_many([text, wrapped])
    saved = max(0, whole - kept)
    carrying = list(_carrying(piece.request, rows, threads))
    at = _position(piece.request, rows, threads)
    return LargeResult(
        tool=piece.tool,
        id=piece.id,
        request=piece.request + 1,
        chars=len(text),
        tokens=whole,
        kept=kept,
        saved=saved,
        sent=len(carrying),
        saved_in_session=saved * len(carrying),
        usd_saved=sum((_price(row, at) for row in carrying), 0.0) * saved / _MILLION,
    )


def _wrapper() -> TruncatingWrapper:
    """Ours as it comes, but for the ids: a drawn one would have other tokens each time."""
    return TruncatingWrapper(ResourceStore(MemoryStorage(), draw=lambda: "ab12cd34"))


def _carrying(
    first: int, rows: Sequence[AuditedRequest], threads: Mapping[str, str]
) -> Iterator[AuditedRequest]:
    """The request that brought a block, and those after it until the history is compacted."""
    root = threads[rows[first].stream]
    for number, row in enumerate(rows[first:], first):
        if threads[row.stream] != root:
            continue
        if number > first and (row.exchange.compacted or row.cause == "compaction"):
            return
        yield row


def _position(first: int, rows: Sequence[AuditedRequest], threads: Mapping[str, str]) -> int:
    """Tokens before a block: about what the request before it sent and was answered."""
    root = threads[rows[first].stream]
    before = [row.counts for row in rows[:first] if threads[row.stream] == root and row.counts]
    return before[-1].total + before[-1].output if before else 0


def _price(row: AuditedRequest, position: int) -> float:
    """USD per million tokens that stand at this position in a request."""
    if row.counts is None:
        return math.nan
    try:
        listed = price_list(row.model, day(_when(row.time)))
    except (CtxlabError, OverflowError, ValueError, OSError):
        return math.nan
    rate = listed.rate(_part(row.counts, position), row.counts.total)
    return math.nan if rate is None else float(rate)


def _when(time: float | None) -> datetime | None:
    return None if time is None else datetime.fromtimestamp(time, UTC)


def _part(counts: Counts, position: int) -> str:
    """How the token behind so many others was paid for."""
    if counts.read > position:
        return "cache_read"
    if counts.read + counts.written_1h > position:
        return "cache_write_1h"
    if counts.written:
        return "cache_write_5m" if counts.written_5m else "cache_write_1h"
    return "input"
