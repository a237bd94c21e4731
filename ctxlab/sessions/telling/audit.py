"""An audit in words: what `ctxlab audit` prints, for people at 80 columns.

The summary comes first. One session shows its requests stream by stream, runs of unbroken ones as
one line; many sessions show one line each. Whatever stems from a log is masked, shortened and
without control characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from ctxlab.sessions.auditing.audit import AuditedRequest
from ctxlab.sessions.model import basis_of
from ctxlab.sessions.telling import filling
from ctxlab.sessions.telling.listing import listed
from ctxlab.sessions.telling.shown import aligned, padded, shown
from ctxlab.sessions.telling.summary import Audited, Summary, total
from ctxlab.sessions.telling.words import clock, gap, many, money, period

WIDTH = 80
_TOTALS = "usage records are sums over runs: no cache break can be told from them"
_FEW = 30
"""Requests that are all shown."""
_LINES = 400
"""Lines of requests that are shown unless all are asked for."""
_AROUND = 1
"""Unbroken requests that are shown before a break and after it."""
_NUMBERS = (9, 9, 8, 8, 8)
_INDENT = 10
_LONGEST = 1_000


def as_text(
    found: Sequence[Audited],
    *,
    every: bool = False,
    context: bool = False,
    root: Path | None = None,
) -> str:
    """The summary, then the requests of one session or a line for each of many.

    Args:
        found: the sessions.
        every: show every request, also where nothing broke.
        context: say what filled the contexts.
        root: what was audited: files are named below it.
    """
    whole = total([each.summary for each in found])
    totals = all(each.session.kind == "usage" for each in found)
    breaks = [_TOTALS] if totals else _causes(whole)
    lines = [*_headline(found, whole), *breaks, *_skipped(found)]
    if context:
        lines += _filled(found)
    if len(found) == 1:
        few = len(found[0].rows) <= _FEW
        told = [*_requests(found[0], every=every or few)]
        lines += ["", *told[: None if every else _LINES]]
        if not every and len(told) > _LINES:
            lines.append(f"… {len(told) - _LINES:,} more lines; --all shows every request")
    else:
        lines += ["", *listed(found, root, WIDTH)]
    return "\n".join(lines)


def _headline(found: Sequence[Audited], whole: Summary) -> Iterator[str]:
    if len(found) == 1:
        one = found[0].session
        yield f"session {shown(one.id, WIDTH - 25)} ({one.kind})"
    else:
        yield f"{len(found):,} sessions"
    yield f"{many(whole.requests, 'request')} in {many(whole.streams, 'stream')}"
    if whole.begins is not None and whole.ends is not None:
        yield period(whole.begins, whole.ends)
    if not any(row.counts for each in found for row in each.rows):
        yield "tokens and cost: unknown, no usage was recorded"
        return
    counts = whole.counts
    yield (
        f"tokens: read {counts.read:,} ({whole.read_share:.0%} of the input), "
        f"written {counts.written:,},"
    )
    yield f"        uncached {counts.uncached:,}, output {counts.output:,}"
    basis = basis_of([each.session for each in found])
    who = "no API answered" if basis == "simulated" else "of some requests no API answered"
    made = "" if basis == "recorded" else f" ({basis}: {who})"
    yield f"cost: {_cost(whole)}{made}"


def _cost(whole: Summary) -> str:
    """What is known of the money, and how much of it is not."""
    if not whole.unpriced:
        return f"{money(whole.usd)} USD"
    if whole.unpriced == whole.requests:
        return "unknown: no request has a price"
    return f"at least {money(whole.usd)} USD; {many(whole.unpriced, 'request')} without a price"


def _causes(whole: Summary) -> Iterator[str]:
    if not whole.breaks:
        yield "no cache break"
        return
    rows = [["cause", "breaks", "inferred", "tokens lost", "USD lost"]]
    for cause, each in whole.breaks.items():
        lost = f"{each.tokens:,}" if each.tokens or not each.unpriced else "–"
        usd = money(each.usd, each.unpriced)
        rows.append([cause, f"{each.count:,}", f"{each.inferred:,}", lost, usd])
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
        yield from ("  " + shown(f"{count:,} × {reason}", WIDTH - 2) for reason, count in told)


def _filled(found: Sequence[Audited]) -> Iterator[str]:
    lines = [*filling.as_lines(filling.added(filling.shares(each) for each in found))]
    yield from ["", *lines] if lines else []


def _requests(one: Audited, *, every: bool) -> Iterator[str]:
    heads = ("read", "written", "uncached", "output", "USD")
    names = " ".join(name.rjust(width) for name, width in zip(heads, _NUMBERS, strict=True))
    yield f"{'time':8} {'gap':>7} {names}  broke"
    streams: dict[str, list[AuditedRequest]] = {}
    for row in one.rows:
        streams.setdefault(row.stream, []).append(row)
    for stream, rows in streams.items():
        if len(streams) > 1:
            yield shown(f"── {stream} ({rows[0].model}), {many(len(rows), 'request')}", WIDTH)
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
    return f"{'':8} {'…':>7} {many(count, 'unbroken request')}"


def _request(row: AuditedRequest) -> Iterator[str]:
    counts = row.counts
    numbers = (
        [f"{n:,}" for n in (counts.read, counts.written, counts.uncached, counts.output)]
        if counts
        else ["–"] * 4
    )
    cells = [*numbers, money(row.usd)]
    told = " ".join(padded(c, width, right=True) for c, width in zip(cells, _NUMBERS, strict=True))
    cause = f"  {row.cause}{'?' if row.verdict.inferred else ''}" if row.broke else ""
    yield f"{clock(row.time)} {gap(row.gap_s):>7} {told}{cause}"
    if row.broke:
        lost = f"lost {row.lost:,} tokens, {money(row.usd_lost)} USD" if row.counts else ""
        where = " ".join(filter(None, (row.verdict.tool, row.verdict.pointer)))
        told = ". ".join(filter(None, ("; ".join(filter(None, (where, lost))), row.note)))
        first, *more = wrap(
            shown(told, _LONGEST), WIDTH - _INDENT - 2, max_lines=4, placeholder=" …"
        )
        yield f"{' ' * _INDENT}└ {first}"
        yield from (f"{' ' * _INDENT}  {line}" for line in more)
