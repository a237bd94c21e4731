"""Every request of a session against what the one before it left in the cache.

>>> from ctxlab.sessions.model import Exchange, Session, check_session
>>> used = [{"cache_creation_input_tokens": 800}, {"cache_creation_input_tokens": 900}]
>>> requests = tuple(Exchange(400.0 * i, "claude-opus-5", used[i], "main") for i in (0, 1))
>>> told = audit(Session("s", "requests", (), requests))
>>> told[["gap_s", "read", "broke", "cause"]].iloc[1].astype(str).to_list()
['400.0', '0', 'True', 'TTL expired']

The check is `cache_read[i+1] = cache_read[i] + cache_creation[i]` (facts `prompt-cache` §1), stream
by stream. A read below that is a break; its cause comes from the log itself (a compaction, another
model), else from the two bodies, else from the API's diagnosis, else from usage and times, and then
it is `inferred`. Not told here: what a stream's first request did not find, because nothing was
cached before as far as the session knows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ctxlab.sessions.auditing import advising, bodies, inference
from ctxlab.sessions.auditing.counts import Counts, counts_of
from ctxlab.sessions.auditing.fall import Fall, is_claude
from ctxlab.sessions.auditing.held import EMPTY, Held
from ctxlab.sessions.auditing.money import paid, paid_for
from ctxlab.sessions.auditing.verdict import UNBROKEN, Cause, Verdict
from ctxlab.sessions.model import Exchange, Session, check_session

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 30.0
"""Seconds within which an identical request may have been sent before the first one's answer began.

No log tells when an answer began; prompts that take longer to read are rare."""
_STEP = 128
"""Another provider's hits come in steps of so many tokens (facts `prompt-cache` §6)."""


@dataclass(frozen=True, slots=True)
class AuditedRequest:
    """One request: what it used, what it should have read, and why it did not."""

    stream: str
    message_id: str
    request_id: str
    time: float | None
    """Seconds since the epoch."""
    gap_s: float | None
    """Seconds since the request before in the stream."""
    model: str
    counts: Counts | None
    """None where no usage was recorded."""
    expected: int | None
    """Tokens that the request before left in the cache; None where there is nothing to go by."""
    usd: float
    """At the prices of its day; NaN where nobody knows, and `note` says why."""
    usd_lost: float
    """What it cost more than the same request had cost if it had read what was expected; 0 where
    nothing broke, NaN where nobody knows. Of a compaction this is an upper bound: its summary could
    never have been read."""
    verdict: Verdict
    note: str
    """In sentences: what else there is to know, and what to do about a break."""
    exchange: Exchange = field(repr=False)

    @property
    def broke(self) -> bool:
        """Whether it read less than the request before it left."""
        return bool(self.verdict.cause)

    @property
    def cause(self) -> Cause:
        """Why; empty where nothing broke."""
        return self.verdict.cause

    @property
    def lost(self) -> int:
        """Tokens that were in the cache, were sent again and were not read."""
        if not self.broke or self.counts is None or self.expected is None:
            return 0
        return max(0, min(self.expected, self.counts.total) - self.counts.read)

    @property
    def avoided(self) -> Counts | None:
        """The counts if the break had not been."""
        return self.counts and self.counts.avoiding(self.lost)


@dataclass(frozen=True)
class _Past:
    """The request before in a stream, and what the stream's requests left."""

    exchange: Exchange
    counts: Counts | None
    """Of the last request whose usage is known."""
    held: Held


def audit(session: Session) -> pd.DataFrame:
    """One row a request, in the order of time.

    Returns:
        `time` (UTC), `gap_s` (seconds to the request before in the stream), `model`, the tokens
        `read written_5m written_1h uncached output` (missing where no usage was recorded), `usd`
        (NaN where there is no price), `broke`, `cause` (tools, system, messages, model, TTL
        expired, compaction, below minimum, lookback, unknown; empty where nothing broke), `tool`
        and `pointer` of the first change where bodies exist, and whether the cause is `inferred`.
    """
    return frame(audited(session))


def frame(rows: Sequence[AuditedRequest]) -> pd.DataFrame:
    """The table of `audit`, from its rows."""
    import pandas as pd  # noqa: PLC0415  1.3 s that the command's text does not need

    counts = [row.counts for row in rows]
    tokens = {
        name: [None if each is None else getattr(each, name) for each in counts]
        for name in ("read", "written_5m", "written_1h", "uncached", "output")
    }
    columns = {
        "time": pd.Series([_utc(row.time) for row in rows], dtype="datetime64[us, UTC]"),
        "gap_s": pd.Series([row.gap_s for row in rows], dtype="float64"),
        "model": pd.Series([row.model for row in rows], dtype="object"),
        **{name: pd.Series(values, dtype="Int64") for name, values in tokens.items()},
        "usd": pd.Series([row.usd for row in rows], dtype="float64"),
        "broke": pd.Series([row.broke for row in rows], dtype="bool"),
        **{
            name: pd.Series([getattr(row.verdict, name) for row in rows], dtype="object")
            for name in ("cause", "tool", "pointer")
        },
        "inferred": pd.Series([row.verdict.inferred for row in rows], dtype="bool"),
    }
    return pd.DataFrame(columns)


def _utc(time: float | None) -> datetime | None:
    """The time to the microsecond; None where there is none, or none that a calendar has."""
    try:
        return None if time is None else datetime.fromtimestamp(time, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def audited(session: Session) -> list[AuditedRequest]:
    """The rows of `audit` with all that is known of each request.

    A usage record sums up a run: its rows are no requests, and none is held against another.

    Raises:
        UsageError: it is no session.
    """
    check_session(session)
    rows = in_order(session)
    if session.kind == "usage":
        return [_row(None, each, counts_of(each.usage), UNBROKEN, None) for each in rows]
    return list(walk(rows))


def in_order(session: Session) -> list[Exchange]:
    """The exchanges by time; one without a time stays behind the one it stands behind."""
    clock, keyed = -math.inf, []
    for exchange in session.exchanges:
        clock = clock if exchange.time is None else exchange.time
        keyed.append((clock, exchange))
    return [exchange for _, exchange in sorted(keyed, key=lambda pair: pair[0])]


def walk(exchanges: Iterable[Exchange]) -> Iterator[AuditedRequest]:
    """Each request as it comes, in the order of time: they may come from a session under way."""
    streams: dict[str, _Past] = {}
    for now in exchanges:
        before = streams.get(now.stream)
        counts = counts_of(now.usage)
        verdict, expected = _judged(before or streams.get(now.follows), now, counts)
        yield _row(before, now, counts, verdict, expected)
        streams[now.stream] = _next(before, now, counts, verdict)


def _judged(past: _Past | None, now: Exchange, counts: Counts | None) -> tuple[Verdict, int | None]:
    """The verdict on one request, and what it should have read."""
    if past is None:
        return UNBROKEN, None
    if counts is None or past.counts is None:
        verdict = bodies.changed(past.exchange, now) if counts is None else None
        return verdict or UNBROKEN, None
    fall = Fall(past.exchange, past.counts, now, counts, past.held, _gap(past.exchange, now))
    if fall.lost < (1 if is_claude(now.model) else _STEP):
        vain = not fall.held.reach and not counts.reach and now.has_body
        verdict = bodies.in_vain(now, counts.total) if vain else None
        return verdict or UNBROKEN, fall.held.reach
    if _sent_at_once(fall):
        return UNBROKEN, counts.read
    return _cause(fall), fall.held.reach


def _cause(fall: Fall) -> Verdict:
    if fall.now.compacted:
        return Verdict("compaction", inferred=False)
    if fall.switched:
        return Verdict("model", pointer="/model", inferred=False)
    seen, told = bodies.from_bodies(fall), inference.from_log(fall)
    if seen is not None and (seen.cause != "unknown" or told is None):
        return seen
    return told or inference.from_usage(fall)


def _sent_at_once(fall: Fall) -> bool:
    """Whether it is the same request again, sent before the first one's answer began.

    An entry can be read only from then on: parallel requests all write (facts §1, Concurrency).
    """
    same = replace(fall.was, output=0) == replace(fall.counts, output=0)
    at_once = same and fall.gap is not None and fall.gap <= AT_ONCE
    return at_once and not inference.from_log(fall) and bodies.repeated(fall) is not False


def _next(before: _Past | None, now: Exchange, counts: Counts | None, verdict: Verdict) -> _Past:
    held = before.held if before else EMPTY
    if counts is None:
        return _Past(now, before.counts if before else None, held)
    rewritten = bool(verdict.cause) and verdict.cause != "TTL expired"
    return _Past(now, counts, held.after(counts, rewritten=rewritten))


def _row(
    before: _Past | None,
    now: Exchange,
    counts: Counts | None,
    verdict: Verdict,
    expected: int | None,
) -> AuditedRequest:
    money = paid(now.model, now.usage, now.time, now.reported_usd)
    row = AuditedRequest(
        stream=now.stream,
        message_id=now.message_id,
        request_id=now.request_id,
        time=now.time,
        gap_s=_gap(before.exchange, now) if before else None,
        model=now.model,
        counts=counts,
        expected=expected,
        usd=money.usd,
        usd_lost=math.nan if verdict.cause and counts is None else 0.0,
        verdict=verdict,
        note=advising.told(verdict, money.note),
        exchange=now,
    )
    if not row.lost or row.counts is None or row.avoided is None:
        return row
    was, avoided = (
        paid_for(now.model, each, now.usage, now.time) for each in (row.counts, row.avoided)
    )
    return replace(row, usd_lost=was - avoided)


def _gap(before: Exchange, now: Exchange) -> float | None:
    return None if before.time is None or now.time is None else now.time - before.time
