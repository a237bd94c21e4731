"""An audit in words: what `ctxlab audit` prints, for people at 80 columns and for scripts.

The summary comes first. One session shows its requests stream by stream, runs of unbroken ones as
one line; many sessions show one line each. Whatever stems from a log is masked, shortened and
without control characters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from textwrap import wrap
from typing import Any

from ctxlab.masking import masked_json
from ctxlab.sessions.auditing.audit import AuditedRequest
from ctxlab.sessions.model import basis_of
from ctxlab.sessions.telling.shown import aligned, columns_of, padded, shown
from ctxlab.sessions.telling.summary import Audited, Summary, total

WIDTH = 80
_TOTALS = "usage records are sums over runs: no cache break can be told from them"
_MOST = 20
"""Sessions that are shown; the others are in the JSON."""
_FEW = 30
"""Requests that are all shown."""
_AROUND = 1
"""Unbroken requests that are shown before a break and after it."""
_HOUR, _MINUTE = 3600, 60
_NUMBERS = (9, 9, 8, 8, 8)
_INDENT = 10
_LONGEST = 1_000


def as_text(found: Sequence[Audited], *, every: bool = False) -> str:
    """The summary, then the requests of one session or a line for each of many.

    Args:
        found: the sessions.
        every: show every request, also where nothing broke.
    """
    whole = total([each.summary for each in found])
    totals = all(each.session.kind == "usage" for each in found)
    breaks = [_TOTALS] if totals else _causes(whole)
    lines = [*_headline(found, whole), *breaks, *_skipped(found)]
    if len(found) == 1:
        few = len(found[0].rows) <= _FEW
        lines += ["", *_requests(found[0], every=every or few)]
    else:
        lines += ["", *_sessions(found)]
    return "\n".join(lines)


def as_json(found: Sequence[Audited]) -> str:
    """Everything for a script: sessions, their sums, and a row a request; NaN becomes null."""
    told = [_session_json(each) for each in found]
    return json.dumps(masked_json({"schema": 1, "sessions": told}), indent=1)


def _headline(found: Sequence[Audited], whole: Summary) -> Iterator[str]:
    if len(found) == 1:
        one = found[0].session
        yield f"session {shown(one.id, WIDTH - 25)} ({one.kind})"
    else:
        yield f"{len(found):,} sessions"
    yield f"{_many(whole.requests, 'request')} in {_many(whole.streams, 'stream')}"
    if whole.begins is not None and whole.ends is not None:
        yield f"{_date(whole.begins)} to {_date(whole.ends)} UTC"
    counts = whole.counts
    yield (
        f"tokens: read {counts.read:,} ({whole.read_share:.0%} of the input), "
        f"written {counts.written:,},"
    )
    yield f"        uncached {counts.uncached:,}, output {counts.output:,}"
    left = f"; {_many(whole.unpriced, 'request')} without a price" if whole.unpriced else ""
    basis = basis_of([each.session for each in found])
    made = "" if basis == "recorded" else f" ({basis}: no API answered)"
    yield f"cost: {_usd(whole.usd)} USD{made}{left}"


def _causes(whole: Summary) -> Iterator[str]:
    if not whole.breaks:
        yield "no cache break"
        return
    rows = [["cause", "breaks", "inferred", "tokens lost", "USD lost"]]
    rows += [
        [cause, f"{each.count:,}", f"{each.inferred:,}", f"{each.tokens:,}", _usd(each.usd)]
        for cause, each in whole.breaks.items()
    ]
    yield ""
    yield from aligned(rows)


def _skipped(found: Sequence[Audited]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for each in found:
        for skip in each.session.skipped:
            counts[skip.reason] = counts.get(skip.reason, 0) + skip.count
    if counts:
        yield ""
        yield "not counted:"
        told = sorted(counts.items(), key=lambda row: -row[1])
        yield from (shown(f"  {count:,} × {reason}", WIDTH) for reason, count in told)


def _sessions(found: Sequence[Audited]) -> Iterator[str]:
    """One line each, what lost most first."""
    ranked = sorted(found, key=lambda each: (-each.summary.usd_lost, -each.summary.usd))
    rows = [["worst cause", "requests", "breaks", "USD", "USD lost"]]
    for each in ranked[:_MOST]:
        worst = next(iter(each.summary.breaks), "")
        numbers = (f"{each.summary.requests:,}", f"{each.summary.broken:,}")
        money = (_usd(each.summary.usd), _usd(each.summary.usd_lost))
        rows.append([worst, *numbers, *money])
    beside = aligned(rows)
    left = WIDTH - 2 - max(map(len, beside))
    names = ["session", *(shown(each.session.id, left) for each in ranked[:_MOST])]
    widest = max(map(columns_of, names))
    for name, line in zip(names, beside, strict=True):
        yield f"{padded(name, widest)}  {line}"
    if len(ranked) > _MOST:
        yield f"… and {len(ranked) - _MOST:,} more; --json tells of all"
    yield "Audit one of the files to see its requests."


def _requests(one: Audited, *, every: bool) -> Iterator[str]:
    heads = ("read", "written", "uncached", "output", "USD")
    names = " ".join(name.rjust(width) for name, width in zip(heads, _NUMBERS, strict=True))
    yield f"{'time':8} {'gap':>7} {names}  broke"
    streams: dict[str, list[AuditedRequest]] = {}
    for row in one.rows:
        streams.setdefault(row.stream, []).append(row)
    for stream, rows in streams.items():
        if len(streams) > 1:
            yield shown(f"── {stream} ({rows[0].model}), {_many(len(rows), 'request')}", WIDTH)
        yield from _stream(rows, every=every)
    if any(row.verdict.inferred for row in one.rows):
        yield "?: inferred from usage and times"


def _stream(rows: Sequence[AuditedRequest], *, every: bool) -> Iterator[str]:
    left_out = 0
    for number, row in enumerate(rows):
        near = rows[max(0, number - _AROUND) : number + _AROUND + 1]
        ends = number in (0, len(rows) - 1)
        if every or ends or any(each.broke for each in near):
            if left_out:
                yield _gone(left_out)
            left_out = 0
            yield from _request(row)
        else:
            left_out += 1


def _gone(count: int) -> str:
    return f"{'':8} {'…':>7} {_many(count, 'unbroken request')}"


def _request(row: AuditedRequest) -> Iterator[str]:
    counts = row.counts
    numbers = (
        [f"{n:,}" for n in (counts.read, counts.written, counts.uncached, counts.output)]
        if counts
        else ["–"] * 4
    )
    cells = [*numbers, _usd(row.usd)]
    told = " ".join(padded(c, width, right=True) for c, width in zip(cells, _NUMBERS, strict=True))
    cause = f"  {row.cause}{'?' if row.verdict.inferred else ''}" if row.broke else ""
    yield f"{_clock(row.time)} {_gap(row.gap_s):>7} {told}{cause}"
    if row.broke:
        lost = f"lost {row.lost:,} tokens, {_usd(row.usd_lost)} USD"
        where = " ".join(filter(None, (row.verdict.tool, row.verdict.pointer)))
        told = "; ".join(filter(None, (where, lost, row.note)))
        first, *more = wrap(
            shown(told, _LONGEST), WIDTH - _INDENT - 2, max_lines=3, placeholder=" …"
        )
        yield f"{' ' * _INDENT}└ {first}"
        yield from (f"{' ' * _INDENT}  {line}" for line in more)


def _session_json(each: Audited) -> dict[str, Any]:
    told = each.summary
    return {
        "id": each.session.id,
        "kind": each.session.kind,
        "basis": each.session.basis,
        "paths": [str(path) for path in each.session.paths],
        "requests": told.requests,
        "streams": told.streams,
        "tokens": asdict(told.counts),
        "usd": told.usd,
        "usd_lost": told.usd_lost,
        "unpriced": told.unpriced,
        "breaks": {cause: asdict(one) for cause, one in told.breaks.items()},
        "skipped": [asdict(skip) for skip in each.session.skipped],
        "rows": [_row_json(row) for row in each.rows],
    }


def _row_json(row: AuditedRequest) -> dict[str, Any]:
    verdict = row.verdict
    names = ("read", "written_5m", "written_1h", "uncached", "output")
    return {
        "time": _iso(row.time),
        "gap_s": _number(row.gap_s),
        "model": row.model,
        **{name: getattr(row.counts, name) if row.counts else None for name in names},
        "usd": _number(row.usd),
        "broke": row.broke,
        "cause": row.cause,
        "tool": verdict.tool,
        "pointer": verdict.pointer,
        "inferred": verdict.inferred,
        "stream": row.stream,
        "message_id": row.message_id,
        "expected": row.expected,
        "lost": row.lost,
        "usd_lost": _number(row.usd_lost),
        "note": row.note,
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _usd(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:,.4f}"


def _utc(time: float | None) -> datetime | None:
    try:
        return None if time is None else datetime.fromtimestamp(time, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _iso(time: float | None) -> str | None:
    when = _utc(time)
    return when.isoformat().replace("+00:00", "Z") if when else None


def _date(time: float) -> str:
    when = _utc(time)
    return f"{when:%Y-%m-%d %H:%M}" if when else "–"


def _clock(time: float | None) -> str:
    when = _utc(time)
    return f"{when:%H:%M:%S}" if when else f"{'–':>8}"


def _gap(seconds: float | None) -> str:
    if seconds is None or not math.isfinite(seconds):
        return ""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:,.1f} h"
