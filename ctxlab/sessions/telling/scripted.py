"""An audit for a script: what `ctxlab audit --json` prints. What nobody knows is null."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ctxlab.masking import masked_json
from ctxlab.sessions.auditing.audit import AuditedRequest
from ctxlab.sessions.model import basis_of
from ctxlab.sessions.reading.joining import gathered
from ctxlab.sessions.telling import filling
from ctxlab.sessions.telling.summary import Audited, Summary, total
from ctxlab.sessions.telling.words import iso, number


def as_json(found: Sequence[Audited], *, context: bool = False) -> str:
    """The sums over all sessions, then each session with its sums and a row a request.

    Args:
        found: the sessions.
        context: count what filled each session's context (`tokenizer`: o200k estimate); without it
            that is null.
    """
    sessions = [each.session for each in found]
    skipped = gathered(skip for each in sessions for skip in each.skipped)
    value = {
        "schema": 1,
        "basis": basis_of(sessions),
        **_sums(total([each.summary for each in found])),
        "skipped": [asdict(skip) for skip in skipped],
        "tokenizer": "o200k estimate" if context else None,
        "sessions": [_session(each, context=context) for each in found],
    }
    return json.dumps(masked_json(value), indent=1)


def _session(each: Audited, *, context: bool) -> dict[str, Any]:
    return {
        "id": each.session.id,
        "kind": each.session.kind,
        "basis": each.session.basis,
        "paths": [str(path) for path in each.session.paths],
        **_sums(each.summary),
        "skipped": [asdict(skip) for skip in each.session.skipped],
        "context": filling.as_json(filling.shares(each)) if context else None,
        "rows": [_row(row) for row in each.rows],
    }


def _sums(told: Summary) -> dict[str, Any]:
    return {
        "requests": told.requests,
        "streams": told.streams,
        "begins": iso(told.begins),
        "ends": iso(told.ends),
        "tokens": asdict(told.counts),
        "usd": number(told.usd),
        "usd_lost": number(told.usd_lost),
        "unpriced": told.unpriced,
        "breaks": {
            cause: {**asdict(one), "usd": number(one.usd)} for cause, one in told.breaks.items()
        },
    }


def _row(row: AuditedRequest) -> dict[str, Any]:
    verdict = row.verdict
    names = ("read", "written_5m", "written_1h", "uncached", "output")
    return {
        "time": iso(row.time),
        "gap_s": number(row.gap_s),
        "model": row.model,
        **{name: getattr(row.counts, name) if row.counts else None for name in names},
        "usd": number(row.usd),
        "broke": row.broke,
        "cause": row.cause,
        "tool": verdict.tool,
        "pointer": verdict.pointer,
        "inferred": verdict.inferred,
        "stream": row.stream,
        "message_id": row.message_id,
        "expected": row.expected,
        "lost": row.lost,
        "usd_lost": number(row.usd_lost),
        "note": row.note,
    }
