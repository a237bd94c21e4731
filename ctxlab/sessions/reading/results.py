"""What an agent's command line prints: one `result` with the usage of a whole run.

`--output-format json` prints one object, or a list whose last entry it is; `stream-json` prints the
entries one a line. The messages before it are what it sums up, so a run that has a result is
counted by it alone; one that was cut off before its result is counted by its messages, each once.
Where a run used several models, the result's one usage stands under the one that it used most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from ctxlab.sessions.model import Session
from ctxlab.sessions.reading import transcripts
from ctxlab.sessions.reading.finding import Source, is_result
from ctxlab.sessions.reading.found import Found, Part, Tally, requests
from ctxlab.sessions.reading.joining import Request, exchanges, gathered, told
from ctxlab.sessions.reading.lines import BLANK, BOM, NO_OBJECT, Row, rows
from ctxlab.sessions.reading.times import seconds
from ctxlab.sessions.reading.usage import normalised, tokens

NO_USAGE = "a result without usage"
REPEATED = "a result that was there before"
NO_COST = "total_cost_usd left out, no amount of money"
MOST_USD = 1e7
"""No run costs more."""
UNKNOWN = "unknown"
_CAMEL = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_creation_input_tokens": "cacheCreationInputTokens",
    "cache_read_input_tokens": "cacheReadInputTokens",
}


@dataclass
class _Run:
    """The entries of one run, without their texts."""

    results: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    model: str = UNKNOWN
    seen: set[str] = field(default_factory=set)


def read(source: Source) -> list[Session]:
    """The runs that one file tells of, in its order.

    Raises:
        OSError: the file cannot be read.
    """
    runs: dict[str, _Run] = {}
    name = source.session or source.path.stem
    for row in _entries(source):
        value = row.value
        if isinstance(value, dict):
            name = _text(value.get("session_id")) or name
        _add(runs.setdefault(name, _Run()), row)
    return [_session(name, source, run) for name, run in runs.items()]


def _entries(source: Source) -> Iterator[Row]:
    """Every entry with the line that it stands on; a document is one line."""
    if not source.document:
        for row in rows(source.path):
            values = row.value if isinstance(row.value, list) else [row.value]
            yield from (row._replace(value=value) for value in values)
        return
    raw = source.path.read_bytes()
    offset = len(BOM) if raw.startswith(BOM) else 0
    value = orjson.loads(raw[offset:])
    for entry in value if isinstance(value, list) else [value]:
        yield Row(1, offset, len(raw) - offset, entry)


def _add(run: _Run, row: Row) -> None:
    value = row.value
    if row.problem or not isinstance(value, dict):
        if row.problem != BLANK:
            run.tally.add(row.problem or NO_OBJECT, row.number)
    elif is_result(value):
        uuid = _text(value.get("uuid"))
        if uuid and uuid in run.seen:
            run.tally.add(REPEATED, row.number)
        else:
            run.seen.add(uuid)
            run.results.append(row)
    elif value.get("type") == "assistant":
        run.answers.append(row._replace(value=_answer(value)))
    elif value.get("type") == "system" and run.model == UNKNOWN:
        run.model = _text(value.get("model")) or UNKNOWN


def _answer(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as a transcript writes it, without its text."""
    message, parent = entry.get("message"), _text(entry.get("parent_tool_use_id"))
    kept = ("id", "model", "usage")
    return {
        "type": "assistant",
        "message": {key: message.get(key) for key in kept} if isinstance(message, dict) else None,
        "requestId": entry.get("request_id"),
        "timestamp": entry.get("timestamp"),
        "isSidechain": bool(parent),
        "agentId": parent,
    }


def _session(name: str, source: Source, run: _Run) -> Session:
    part = Part(tally=run.tally)
    for row in run.results:
        part.items += _results(row, run)
    if not part.items:
        by_message = transcripts.scan(run.answers, "")
        part.items = by_message.items
        part.tally.join(by_message.tally)
    path = source.path
    found = [Request(each, path, each.base, compacted=False) for each in requests(part.items)]
    skipped = gathered(told(path, part))
    return Session(name, "usage", (path,), exchanges(found), skipped)


def _results(row: Row, run: _Run) -> Iterator[Found]:
    """One request with the total; where only the models' own totals are told, one for each."""
    value = row.value
    used = {
        model.partition("[")[0]: {key: each.get(camel) for key, camel in _CAMEL.items()}
        for model, each in _mapping(value.get("modelUsage")).items()
        if isinstance(each, dict)
    }
    usage = _mapping(value.get("usage"))
    model = max(used, key=lambda each: sum(tokens(used[each])), default=run.model)
    totals = {model: usage} if usage else used
    if not totals:
        run.tally.add(NO_USAGE, row.number)
    usd = value.get("total_cost_usd")
    likely = isinstance(usd, int | float) and 0 <= usd <= MOST_USD
    if usd is not None and not likely:
        run.tally.add(NO_COST, row.number)
    paid = float(usd) if likely and len(totals) == 1 else None
    for each, total in totals.items():
        clean, notes = normalised(total)
        for note in notes:
            run.tally.add(note, row.number)
        yield Found(
            id=_text(value.get("uuid")),
            request_id="",
            model=each,
            usage=clean,
            time=seconds(value.get("timestamp")),
            places=((row.number, row.offset, row.length),),
            base=transcripts.MAIN,
            details={"reported_usd": paid},
        )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
