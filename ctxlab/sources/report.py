"""What happened to the inputs, for people and for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from ctxlab.errors import DataError
from ctxlab.sources.looking import Outcome

_SHOWN = 20


def as_json(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a JSON array, their fields as they are called."""
    return json.dumps([asdict(outcome) for outcome in outcomes], ensure_ascii=False, indent=1)


def as_text(outcomes: Sequence[Outcome], *, always_rows: bool = False) -> str:
    """One line when all is there, else (or with `always_rows`) a row an input; and what drifted."""
    if always_rows or any(outcome.state != "there" for outcome in outcomes):
        rows, shown = [_row(outcome, outcomes) for outcome in outcomes], _SHOWN
    else:
        are = "input is" if len(outcomes) == 1 else "inputs are"
        tools = _tools(sum(outcome.tools for outcome in outcomes))
        rows, shown = [f"{len(outcomes)} {are} there{f', with {tools}' if tools else ''}"], 0
    return "\n".join([*rows, *(line for outcome in outcomes for line in _drift(outcome, shown))])


def raise_failures(outcomes: Sequence[Outcome]) -> None:
    """Refuse to go on without an input that everything needs; a server alone is none.

    Raises:
        DataError: vocabularies or trees failed: one line, those with one reason together.
    """
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if all(outcome.kind == "server" for outcome in failed):
        return
    reasons: dict[str, list[str]] = {}
    for outcome in failed:
        reasons.setdefault(outcome.reason, []).append(outcome.name)
    raise DataError("; ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items()))


def _row(outcome: Outcome, among: Sequence[Outcome]) -> str:
    name = max(len(other.name) for other in among)
    version = max(len(other.version) for other in among)
    tools = _tools(outcome.tools)
    told = "  ".join(filter(None, [outcome.state, tools, outcome.reason]))
    return f"{outcome.name:{name}}  {outcome.version:{version}}  {told}"


def _tools(number: int) -> str:
    return f"{number} tool{'' if number == 1 else 's'}" if number else ""


def _drift(outcome: Outcome, shown: int) -> list[str]:
    if not outcome.drift:
        return []
    changes = outcome.drift.changes
    head = f"drift: {outcome.name} gives another list than the recorded one ({outcome.drift.path})"
    rest = [f"  … {len(changes) - shown:,} more, `--json` has all"] if len(changes) > shown else []
    if not shown:
        return [f"{head}; `ctxlab data --list` tells the changes"]
    return [f"{head}:", *(f"  {change}" for change in changes[:shown]), *rest]
