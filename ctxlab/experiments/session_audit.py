"""What broke in recorded sessions, why, and what it cost: request by request.

Sessions in, tables out (notebook 10; what filled their contexts is `session_context`'s). Nothing
here reads a cache: what a request read is what its log says, and a cause that no log holds is
marked as inferred. Text of a session is data: it is shown shortened and with secrets masked.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from atexit import register
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ctxlab import project
from ctxlab.experiments import planted_session
from ctxlab.sessions import read_sessions
from ctxlab.sessions.auditing.audit import AuditedRequest
from ctxlab.sessions.model import basis_of
from ctxlab.sessions.telling.shown import shown as fit
from ctxlab.sessions.telling.summary import Audited, audit_all, dearest_first, total
from ctxlab.sessions.telling.words import many, utc

_TOKENS = ("read", "written_5m", "written_1h", "uncached", "output")
_SHOWN = 60
_ADVICE = 12


def shown(text: str, longest: int = _SHOWN) -> str:
    """A text of a session as a table shows it: one line, shortened, secrets masked."""
    return fit(text, longest)


def load(transcripts: str | Path, tools: Sequence[dict[str, Any]]) -> list[Audited]:
    """The sessions at a path, audited; without one the generated session.

    Raises:
        InputError: nothing there that is known.
    """
    if not str(transcripts):
        folder = Path(tempfile.mkdtemp(prefix="ctxlab-session-"))
        register(shutil.rmtree, folder, ignore_errors=True)
        transcripts = folder / "generated.jsonl"
        planted_session.record(tools, transcripts)
    return audit_all(read_sessions(project.resolve(transcripts)))


def basis(audits: Sequence[Audited]) -> str:
    """`recorded`, `simulated` or `partly simulated`: what charts of these sessions say."""
    return basis_of([audit.session for audit in audits])


def summaries(audits: Sequence[Audited]) -> pd.DataFrame:
    """A row a session, the one whose breaks cost most first.

    Columns: session (its id); kind; basis (who said what was used: recorded or simulated); begun
    (UTC); requests; context (tokens read, written and uncached together); read, written, uncached,
    output (tokens); usd, breaks, usd_lost.
    """
    return pd.DataFrame([_summary(name, audit) for name, audit in named(audits)])


def requests(audits: Sequence[Audited]) -> pd.DataFrame:
    """A row a request of every session, in the order of `summaries` and then of time.

    Columns: session; request (from 1); stream; time; gap_s; model; read,
    written_5m, written_1h, uncached, output (tokens); usd; expected (tokens that the request
    before left in the cache); lost (tokens); usd_lost; cause; tool; pointer; inferred; note.
    """
    found = [
        _request(name, at, row)
        for name, audit in named(audits)
        for at, row in enumerate(audit.rows, 1)
    ]
    table = pd.DataFrame(found, columns=list(_request("", 0, None)))
    whole = [*_TOKENS, "expected", "lost"]
    return table.astype(dict.fromkeys(whole, "Int64") | {"gap_s": float, "usd": float})


def breaks(asked: pd.DataFrame) -> pd.DataFrame:
    """The rows of `requests` that broke, with the columns that say what and why."""
    columns = ["session", "request", "cause", "tool", "pointer", "gap_s", "lost", "usd_lost"]
    return asked.loc[asked["cause"] != "", [*columns, "inferred"]].reset_index(drop=True)


def advice(asked: pd.DataFrame) -> str:
    """What is to be done about the breaks of `requests`, each piece of advice once (Markdown)."""
    noted = asked[(asked["cause"] != "") & (asked["note"] != "")].drop_duplicates("note")
    several = len(set(asked["session"])) > 1
    lines = [
        f"- **{cause}** (request {request}{f' of {name}' if several else ''}): {note}"
        for cause, request, name, note in zip(
            noted["cause"], noted["request"], noted["session"], noted["note"], strict=True
        )
    ]
    return "\n".join(lines[:_ADVICE])


def overview(summary: pd.DataFrame, said: str) -> str:
    """What the table of `summaries` comes to, in a sentence (Markdown); `said` is `basis`."""
    whole = summary[["requests", "context", "output", "breaks"]].sum()
    paid, lost = summary["usd"].sum(min_count=1), summary["usd_lost"].sum(min_count=1)
    money = "at no known price" if pd.isna(paid) else f"**{paid:,.2f} USD**"
    broke = f"**{whole['breaks']:,} breaks**" if whole["breaks"] else "no break"
    if whole["breaks"] and pd.notna(lost):
        broke += f" that cost {lost:,.2f} USD of it"
    return (
        f"{many(len(summary), 'session')}, {many(int(whole['requests']), 'request')}: "
        f"{whole['context']:,} tokens of input, {whole['output']:,} of output ({said}), {money}; "
        f"{broke}."
    )


def skipped(audits: Sequence[Audited]) -> pd.DataFrame:
    """Rows of the logs that were no part of the measurement: reason, rows, first (path:line)."""
    found = [
        {"reason": each.reason, "rows": each.count, "first": _below(each.first, audits)}
        for audit in audits
        for each in audit.session.skipped
    ]
    if not found:
        return pd.DataFrame(columns=["reason", "rows", "first"])
    table = pd.DataFrame(found).groupby("reason", sort=False)
    return table.agg(rows=("rows", "sum"), first=("first", "first")).reset_index()


def timeline(audit: Audited, most: int) -> pd.DataFrame:
    """The requests of a session for a chart: request, read, written, uncached (tokens), cause.

    Of a session with more than `most` requests, those in a row in which breaks cost most.
    """
    first = _dearest_window([row.usd_lost for row in audit.rows], most)
    found = [
        {
            "request": at,
            "read": row.counts.read,
            "written": row.counts.written,
            "uncached": row.counts.uncached,
            "cause": row.cause,
        }
        for at, row in enumerate(audit.rows, 1)
        if first < at <= first + most and row.counts
    ]
    return pd.DataFrame(found, columns=["request", "read", "written", "uncached", "cause"])


def causes(audits: Sequence[Audited]) -> pd.DataFrame:
    """A row a cause, the dearest first: cause, breaks, inferred (how many), tokens_lost, usd_lost.

    Of a model or a day without a price the money is left out.
    """
    found = total([audit.summary for audit in audits]).breaks
    rows = [
        {
            "cause": name,
            "breaks": each.count,
            "inferred": each.inferred,
            "tokens_lost": each.tokens,
            "usd_lost": each.usd,
        }
        for name, each in found.items()
    ]
    return pd.DataFrame(rows, columns=["cause", "breaks", "inferred", "tokens_lost", "usd_lost"])


def planted(audit: Audited) -> pd.DataFrame:
    """The generated session's breaks against what was found: request, planted, found, right.

    A row for each request where either is: a break that nobody planted is wrong too.
    """
    found = {at: row for at, row in enumerate(audit.rows, 1) if row.broke}
    rows = [
        {
            "request": at,
            "planted": planted_session.BREAKS.get(at, ""),
            "found": found[at].cause if at in found else "",
            "pointer": found[at].verdict.pointer if at in found else "",
        }
        for at in sorted({*found, *planted_session.BREAKS})
    ]
    table = pd.DataFrame(rows)
    return table.assign(right=table["planted"] == table["found"])


def conclusion(summary: pd.DataFrame, lost: pd.DataFrame, ways: pd.DataFrame) -> str:
    """What the tables of `summaries`, `causes` and `variants` say (Markdown)."""
    lines = [_broken(summary, lost)]
    if len(lost):
        first = lost.iloc[0]
        lines.append(
            f"- **Dearest cause: {first['cause']}.** {first['breaks']} of the breaks, "
            f"{first['tokens_lost']:,} tokens sent again, {_usd(first['usd_lost'])}."
        )
        guessed = int(lost["inferred"].sum())
        if guessed:
            lines.append(
                f"- Of {lost['breaks'].sum()} causes {guessed} are **inferred** from usage and "
                "times; bodies in the log would say more."
            )
    costs = ways.set_index("variant")
    for name in costs.index[1:]:
        relative = costs.loc[name, "relative"]
        if pd.notna(relative):
            lines.append(
                f"- **{name[0].upper()}{name[1:]}** the same tokens would have cost "
                f"{relative:.2f} times what they did (simulated)."
            )
    return "\n".join(lines)


def named(audits: Sequence[Audited]) -> list[tuple[str, Audited]]:
    """The sessions with names that tell them apart, the dearest breaks first."""
    seen: dict[str, int] = {}
    found = []
    for audit in dearest_first(audits):
        name = shown(audit.session.id)
        seen[name] = seen.get(name, 0) + 1
        found.append((name if seen[name] == 1 else f"{name} ({seen[name]})", audit))
    return found


def _summary(name: str, audit: Audited) -> dict[str, Any]:
    told = audit.summary
    return {
        "session": name,
        "kind": audit.session.kind,
        "basis": audit.session.basis,
        "begun": _when(told.begins),
        "requests": told.requests,
        "context": told.counts.total,
        "read": told.counts.read,
        "written": told.counts.written,
        "uncached": told.counts.uncached,
        "output": told.counts.output,
        "usd": told.usd,
        "breaks": told.broken,
        "usd_lost": told.usd_lost,
    }


def _request(name: str, at: int, row: AuditedRequest | None) -> dict[str, Any]:
    """A row of `requests`; its names alone where there is no request."""
    counts = row.counts if row else None
    return {
        "session": name,
        "request": at,
        "stream": row and shown(row.stream),
        "time": row and _when(row.time),
        "gap_s": row and row.gap_s,
        "model": row and shown(row.model),
        **{name: getattr(counts, name, None) for name in _TOKENS},
        "usd": row and row.usd,
        "expected": row and row.expected,
        "lost": row and row.lost,
        "usd_lost": row and row.usd_lost,
        "cause": row and row.cause,
        "tool": row and shown(row.verdict.tool),
        "pointer": row and shown(row.verdict.pointer),
        "inferred": row and row.verdict.inferred,
        "note": row and shown(row.note, longest=200),
    }


def _below(place: str, audits: Sequence[Audited]) -> str:
    """A place in a log, its path from the folder that holds all of them."""
    folders = {str(path.parent) for audit in audits for path in audit.session.paths}
    common = os.path.commonpath(folders) if folders else ""
    return shown(place.removeprefix(common).lstrip(os.sep), longest=200)


def _when(time: float | None) -> str:
    when = utc(time)
    return f"{when:%Y-%m-%d %H:%M:%S}" if when else ""


def _usd(lost: float) -> str:
    known = f"{lost:.4f} USD more than if they had been read"
    return "at no known price" if pd.isna(lost) else known


def _dearest_window(losses: Sequence[float], most: int) -> int:
    """Where `most` requests in a row begin that lost the most money; the first of them."""
    sums = [0.0]
    for usd in losses:
        sums.append(sums[-1] + (0.0 if math.isnan(usd) else usd))
    starts = range(max(1, len(losses) - most + 1))
    return max(starts, key=lambda at: (sums[min(at + most, len(losses))] - sums[at], -at))


def _broken(summary: pd.DataFrame, lost: pd.DataFrame) -> str:
    breaks, asked = int(summary["breaks"].sum()), many(int(summary["requests"].sum()), "request")
    if not breaks:
        return f"- **Nothing broke** in {asked}: each read what the one before it left."
    paid, more = summary["usd"].sum(min_count=1), lost["usd_lost"].sum(min_count=1)
    if pd.isna(paid) or pd.isna(more):
        return f"- **{many(breaks, 'break')}** in {asked}, at no known price."
    share = f", {100 * more / paid:.0f} % of what was paid" if paid else ""
    return f"- **{many(breaks, 'break')}** in {asked} cost {more:.4f} USD{share}."
