"""What the same session would have cost: as it was, with one hour, uncached, with no break.

A recomputation from recorded usage: the same tokens at other prices. What never happened is
labelled `simulated`. Where a log has every body, `replay` sends them through `PromptCache` as a
check; its tokens are estimates, so compare its ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from ctxlab.cache import PromptCache
from ctxlab.cache.validation import SAMPLING
from ctxlab.errors import CtxlabError
from ctxlab.sessions.auditing.audit import AuditedRequest, audited, in_order
from ctxlab.sessions.auditing.counts import Counts, counts_of
from ctxlab.sessions.auditing.held import lifetimes
from ctxlab.sessions.auditing.money import paid_for
from ctxlab.sessions.model import Basis, Exchange, Session, check_session

if TYPE_CHECKING:
    import pandas as pd

AS_IT_WAS, HOUR, UNCACHED, UNBROKEN = (
    "as it was",
    "with 1 h TTL",
    "without caching",
    "every break avoided",
)
_MARKED = "cache_control"
Sent = tuple[Exchange, Counts]
"""A request and what it used, or would have."""


@dataclass(frozen=True)
class Variant:
    """One way the session could have gone, over the requests that have a price."""

    variant: str
    basis: str
    """recorded, or simulated; of a session as it was, the session's own."""
    read: int
    written_5m: int
    written_1h: int
    uncached: int
    output: int
    usd: float
    """NaN where this variant has no price, such as an hour's write of a model that has none."""
    relative: float
    """To the session as it was; NaN where that cost nothing."""
    unpriced: int
    """Requests left out of every variant: without usage, or without a price as they were."""


def what_if(session: Session, rows: Sequence[AuditedRequest] | None = None) -> pd.DataFrame:
    """A row a variant; columns: `Variant`'s.

    With 1 h TTL every write is paid for an hour, and the breaks that expired within it are not.
    Every break avoided means that each read what the request before it left (see
    `AuditedRequest.usd_lost`).
    """
    check_session(session)
    told = audited(session) if rows is None else rows
    priced = [row for row in told if row.counts and not math.isnan(_as_it_was(row))]
    changes: dict[str, Callable[[AuditedRequest, Counts], Counts]] = {
        AS_IT_WAS: lambda _, counts: counts,
        HOUR: _for_an_hour,
        UNCACHED: lambda _, counts: Counts(uncached=counts.total, output=counts.output),
        UNBROKEN: lambda row, counts: row.avoided or counts,
    }
    variants = [
        (name, [(row.exchange, change(row, row.counts)) for row in priced if row.counts])
        for name, change in changes.items()
    ]
    return _frame(variants, as_it_was=session.basis, unpriced=len(told) - len(priced))


def replay(session: Session) -> pd.DataFrame:
    """The same table from the bodies, sent through the simulator; o200k estimates, `simulated`.

    `every break avoided` cannot be replayed. No rows where a body or a time is missing, or the
    simulator refuses one. Requests that ran at the same time are sent one after the other.
    """
    check_session(session)
    exchanges = in_order(session)
    changes = {AS_IT_WAS: _as_sent, HOUR: _marked_for_an_hour, UNCACHED: _unmarked}
    if not exchanges or any(each.time is None or not each.has_body for each in exchanges):
        return _frame([])
    try:
        variants = [(name, list(_replayed(exchanges, change))) for name, change in changes.items()]
    except (CtxlabError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return _frame([])
    return _frame(variants)


def _as_it_was(row: AuditedRequest) -> float:
    """What the recorded counts cost: a cost that the log told says nothing of other counts."""
    each = row.exchange
    return paid_for(each.model, row.counts, each.usage, each.time) if row.counts else math.nan


def _for_an_hour(row: AuditedRequest, counts: Counts) -> Counts:
    hour = lifetimes()["1h"]
    if row.cause == "TTL expired" and row.gap_s is not None and row.gap_s < hour:
        counts = counts.avoiding(row.lost)
    return replace(counts, written_5m=0, written_1h=counts.written)


def _replayed(
    exchanges: Sequence[Exchange], change: Callable[[Any], Any]
) -> Iterator[tuple[Exchange, Counts]]:
    now = [0.0]
    cache = PromptCache(clock=lambda: now[0])
    for exchange in exchanges:
        assert exchange.time is not None
        now[0] = exchange.time
        body = exchange.body() or {}
        sent = {key: value for key, value in body.items() if key not in SAMPLING}
        counts = counts_of(cache.send(change(sent)))
        recorded = counts_of(exchange.usage)
        assert counts is not None
        yield exchange, replace(counts, output=recorded.output if recorded else 0)


def _as_sent(value: Any) -> Any:
    return value


def _marked_for_an_hour(value: Any) -> Any:
    return _with_markers(value, lambda marker: {**marker, "ttl": "1h"})


def _unmarked(value: Any) -> Any:
    return _with_markers(value, lambda _: None)


def _with_markers(value: Any, change: Callable[[Mapping[str, Any]], Any]) -> Any:
    """A body with other markers; arguments of calls and schemas of tools are left alone."""
    if isinstance(value, list):
        return [_with_markers(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        if key == _MARKED and isinstance(item, dict):
            marker = change(item)
            if marker is not None:
                out[key] = marker
        elif key in ("tools", "system", "messages", "content"):
            out[key] = _with_markers(item, change)
        else:
            out[key] = item
    return out


def _frame(
    variants: Sequence[tuple[str, list[Sent]]], *, as_it_was: Basis = "simulated", unpriced: int = 0
) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415  1.3 s that the command's text does not need

    known: dict[tuple[int, Counts], float] = {}  # most requests cost the same in several variants
    prices = [_price(requests, known) for _, requests in variants]
    found = [
        Variant(
            variant=name,
            basis=as_it_was if name == AS_IT_WAS else "simulated",
            usd=usd,
            relative=usd / prices[0] if prices[0] else math.nan,
            unpriced=unpriced,
            **_sums(counts for _, counts in requests),
        )
        for (name, requests), usd in zip(variants, prices, strict=True)
    ]
    return pd.DataFrame(found, columns=[field.name for field in fields(Variant)])


def _price(requests: Sequence[Sent], known: dict[tuple[int, Counts], float]) -> float:
    """USD of the requests together; `known` gathers what each costs, by place and counts."""
    for number, (each, counts) in enumerate(requests):
        if (number, counts) not in known:
            known[number, counts] = paid_for(each.model, counts, each.usage, each.time)
    return math.fsum(known[number, counts] for number, (_, counts) in enumerate(requests))


def _sums(counts: Iterable[Counts]) -> dict[str, int]:
    """Each count, added up."""
    listed = list(counts)
    names = [field.name for field in fields(Counts)]
    return {name: sum(getattr(each, name) for each in listed) for name in names}
