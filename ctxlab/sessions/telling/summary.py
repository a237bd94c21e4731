"""What a session comes to: requests, tokens, money, and the breaks by cause."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from ctxlab.sessions.auditing.audit import AuditedRequest, audited
from ctxlab.sessions.auditing.counts import Counts
from ctxlab.sessions.model import Session


@dataclass(frozen=True)
class Breaks:
    """The breaks of one cause."""

    count: int = 0
    inferred: int = 0
    """So many of them are inferred."""
    tokens: int = 0
    """Tokens that were in the cache, were sent again and were not read."""
    usd: float = 0.0
    """What that cost, as far as prices are known; NaN where none is."""
    unpriced: int = 0
    """So many of them have no price."""


@dataclass(frozen=True)
class Summary:
    """Sums over requests."""

    requests: int
    streams: int
    counts: Counts
    usd: float
    """Over the requests whose price is known; NaN where none is."""
    unpriced: int
    """Requests without usage or without a price."""
    begins: float | None
    """Seconds since the epoch."""
    ends: float | None
    breaks: dict[str, Breaks] = field(default_factory=dict)
    """By cause, what lost most first."""

    @property
    def broken(self) -> int:
        """How many requests broke."""
        return sum(each.count for each in self.breaks.values())

    @property
    def usd_lost(self) -> float:
        """What all breaks cost, as far as prices are known; NaN where none is."""
        return _sum([each.usd for each in self.breaks.values()])

    @property
    def unpriced_breaks(self) -> int:
        """How many of the breaks have no price."""
        return sum(each.unpriced for each in self.breaks.values())

    @property
    def tokens_lost(self) -> int:
        """Tokens that the breaks sent again."""
        return sum(each.tokens for each in self.breaks.values())

    @property
    def read_share(self) -> float:
        """Share of the input that was read from the cache, 0 to 1."""
        return self.counts.read / self.counts.total if self.counts.total else 0.0


def summary(rows: Sequence[AuditedRequest]) -> Summary:
    """Sum up the rows of one session."""
    times = [row.time for row in rows if row.time is not None]
    return Summary(
        requests=len(rows),
        streams=len({row.stream for row in rows}),
        counts=_added(row.counts for row in rows if row.counts),
        usd=_sum([row.usd for row in rows]),
        unpriced=sum(math.isnan(row.usd) for row in rows),
        begins=min(times, default=None),
        ends=max(times, default=None),
        breaks=_sorted(_by_cause(rows)),
    )


def total(summaries: Sequence[Summary]) -> Summary:
    """Sum up sessions."""
    breaks: dict[str, Breaks] = {}
    for each in summaries:
        for cause, one in each.breaks.items():
            breaks[cause] = _plus(breaks.get(cause, Breaks()), one)
    return Summary(
        requests=sum(each.requests for each in summaries),
        streams=sum(each.streams for each in summaries),
        counts=_added(each.counts for each in summaries),
        usd=_sum([each.usd for each in summaries if each.requests]),
        unpriced=sum(each.unpriced for each in summaries),
        begins=min((each.begins for each in summaries if each.begins is not None), default=None),
        ends=max((each.ends for each in summaries if each.ends is not None), default=None),
        breaks=_sorted(breaks),
    )


def _by_cause(rows: Iterable[AuditedRequest]) -> dict[str, Breaks]:
    found: dict[str, Breaks] = {}
    for row in rows:
        if row.broke:
            unpriced = int(math.isnan(row.usd_lost))
            one = Breaks(1, int(row.verdict.inferred), row.lost, row.usd_lost, unpriced)
            found[row.cause] = _plus(found.get(row.cause, Breaks()), one)
    return found


def _plus(one: Breaks, other: Breaks) -> Breaks:
    names = [each.name for each in fields(Breaks)]
    added = {name: getattr(one, name) + getattr(other, name) for name in names}
    known = [each.usd for each in (one, other) if each.count]
    return Breaks(**{**added, "usd": _sum(known)})


def _sum(usd: Sequence[float]) -> float:
    """The sum of what is known; NaN where there is something and nothing of it is known."""
    known = [each for each in usd if not math.isnan(each)]
    return math.fsum(known) if known or not usd else math.nan


def _sorted(breaks: dict[str, Breaks]) -> dict[str, Breaks]:
    rows = breaks.items()
    return dict(sorted(rows, key=lambda row: (-_known(row[1].usd), -row[1].tokens, row[0])))


def _known(usd: float) -> float:
    return 0.0 if math.isnan(usd) else usd


def _added(counts: Iterable[Counts]) -> Counts:
    listed = list(counts)
    names = [each.name for each in fields(Counts)]
    return Counts(**{name: sum(getattr(each, name) for each in listed) for name in names})


@dataclass(frozen=True)
class Audited:
    """A session and what was found in it."""

    session: Session
    rows: list[AuditedRequest]
    summary: Summary


def audit_all(sessions: Sequence[Session]) -> list[Audited]:
    """Audit every session, in order."""
    return [Audited(each, rows := audited(each), summary(rows)) for each in sessions]


def dearest_first(found: Sequence[Audited]) -> list[Audited]:
    """What lost most money first; where nobody knows a price, most tokens."""

    def rank(each: Audited) -> tuple[float, int, float]:
        told = each.summary
        return -_known(told.usd_lost), -told.tokens_lost, -_known(told.usd)

    return sorted(found, key=rank)
