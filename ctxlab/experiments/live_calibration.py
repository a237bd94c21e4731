"""Predictions of the simulator against the usage that the API reports (notebook 08).

The same pairs go through the same SDK twice: to a simulated client, which predicts, and with a key
to the real one. What the API answered is kept as a table and can be read again without a key.
Claude's tokenizer is not public, so counts differ; what is compared is which share of a request was
read, written, neither, and the diagnosis.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlab import project
from ctxlab.cache import PromptCache, simulated_client
from ctxlab.errors import InputError, RunFailed, UsageError
from ctxlab.experiments import sized
from ctxlab.experiments.calibration_pairs import Pair, Request
from ctxlab.prices import cost
from ctxlab.prices.rates import When

if TYPE_CHECKING:
    import anthropic

KEY = "ANTHROPIC_API_KEY"
FIRST, SECOND = "first", "second"
_TOKENS = ("read", "written_5m", "written_1h", "uncached")
_COUNTS = (*_TOKENS, "output")
COLUMNS = ("pair", "request", "status", *_TOKENS, "diagnosis", "error", "output", "model")
"""Of an answer; counts are tokens, 0 where the request was refused."""

_REFUSED = 400


@dataclass(frozen=True)
class Door:
    """Somebody who answers requests: the simulator, or the API."""

    client: anthropic.Anthropic
    wait: Callable[[float], None]
    """Lets so many seconds pass."""


def simulated() -> Door:
    """The simulator behind the real SDK; its clock is moved, so nobody waits."""
    clock = sized.Clock()

    def wait(seconds: float) -> None:
        clock.now += seconds

    return Door(simulated_client(PromptCache(clock=clock), replies=lambda _: "."), wait)


def _live(base_url: str) -> Door:
    """The API itself, or whatever answers at `base_url`."""
    if not os.environ.get(KEY):
        raise UsageError(f"live=true sends real requests and needs {KEY} in the environment")
    import anthropic  # noqa: PLC0415  2 s that a run without requests should not pay

    return Door(anthropic.Anthropic(base_url=base_url or None), time.sleep)


def ask(
    door: Door,
    pairs: Iterable[Pair],
    progress: Callable[[Iterable[Pair]], Iterable[Pair]] = iter,
) -> pd.DataFrame:
    """Send every pair: a row for each request, columns COLUMNS.

    Raises:
        RunFailed: the API answered with something else than a message or a 400.
    """
    rows = [row for pair in progress(pairs) for row in _asked(door, pair)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def salted(salt: str, *, live: bool) -> str:
    """What makes a run's texts its own: `salt`, or where requests are sent the time."""
    return salt or (f"run {time.time_ns():x}" if live else "simulated")


def answers(
    pairs: Iterable[Pair],
    *,
    live: bool,
    base_url: str = "",
    responses: str | Path = "",
    progress: Callable[[Iterable[Pair]], Iterable[Pair]] = iter,
) -> pd.DataFrame | None:
    """What the API answers, or answered: None where nothing is sent and nothing was kept.

    Raises:
        UsageError: both asked for at once, or `live` without a key.
        InputError: kept answers that cannot be read.
        RunFailed: as `ask`.
    """
    if live and str(responses):
        raise UsageError("live=true asks anew and responses=… reads what was kept: give one")
    if str(responses):
        return load(responses)
    return ask(_live(base_url), pairs, progress) if live else None


def load(path: str | Path) -> pd.DataFrame:
    """Answers that an earlier run kept (its `responses.csv`).

    Raises:
        InputError: no such file, or not such a table.
    """
    try:
        table = pd.read_csv(project.resolve(path), keep_default_na=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as a table: {error}", path=path) from None
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise InputError(f"expected the column {missing[0]!r}, as in responses.csv", path=path)
    return table[list(COLUMNS)]


def compared(predicted: pd.DataFrame, actual: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Prediction beside answer: a row for each request that both have.

    Columns: pair; request; predicted, answered (read/written/uncached in % of the request, or the
    status where it was refused); predicted_diagnosis, answered_diagnosis; predicted_tokens,
    answered_tokens; agrees. Shares agree within `tolerance` points, but nothing read is not a
    little read; a refusal agrees with a refusal.
    """
    both = predicted.merge(actual, on=["pair", "request"], suffixes=("_p", "_a"), sort=False)
    rows = []
    for row in both.to_dict("records"):
        one, other = _shares(row, "_p"), _shares(row, "_a")
        diagnoses = row["diagnosis_p"], row["diagnosis_a"]
        close = _close(one, other, tolerance) and row["status_p"] == row["status_a"]
        rows.append(
            {
                "pair": row["pair"],
                "request": row["request"],
                "predicted": _told(row["status_p"], one),
                "answered": _told(row["status_a"], other),
                "predicted_diagnosis": diagnoses[0],
                "answered_diagnosis": diagnoses[1],
                "predicted_tokens": _tokens(row, "_p"),
                "answered_tokens": _tokens(row, "_a"),
                "agrees": close and diagnoses[0] == diagnoses[1],
            }
        )
    return pd.DataFrame(rows)


def shares(answers: pd.DataFrame) -> pd.DataFrame:
    """The second requests in percent, for a chart: columns pair, read, written, uncached."""
    rows = [
        [row["pair"], *_shares(row)]
        for row in answers.to_dict("records")
        if row["request"] == SECOND and row["status"] != _REFUSED
    ]
    return pd.DataFrame(rows, columns=["pair", "read", "written", "uncached"])


def usages(answers: pd.DataFrame) -> dict[str, dict[str, int]]:
    """The sums of each model, under the API's names."""
    sums = answers.groupby("model")[list(_COUNTS)].sum().astype(int)
    return {str(model): _usage(row) for model, row in sums.iterrows()}


def spent(answers: pd.DataFrame, when: When) -> float:
    """What all of the answers cost in USD at list prices, request by request."""
    rows = answers.to_dict("records")
    return sum(cost(row["model"], _flat(_usage(row)), when).total for row in rows)


def conclusion(predicted: pd.DataFrame, table: pd.DataFrame | None, origin: str) -> str:
    """What was sent, and how the answers stand to the predictions (Markdown).

    `table` is that of `compared`, None where nothing was answered; `origin` says where the answers
    come from.
    """
    refused = int((predicted["status"] == _REFUSED).sum())
    told = f"- {len(predicted)} requests were simulated; {refused} of them are refused."
    if table is None:
        return (
            f"- **Nothing was sent.** Every figure here is the simulator's own prediction.\n{told}"
            "\n- To send the pairs for real: `-p live=true` with a key in the environment."
        )
    agree = int(table["agrees"].sum())
    lines = [told, f"- **{agree} of {len(table)}** answers ({origin}) agree with the prediction."]
    lines += [
        f"- *{row['pair']}*, {row['request']} request: predicted {row['predicted']} "
        f"{row['predicted_diagnosis']}, answered {row['answered']} {row['answered_diagnosis']}."
        for row in table[~table["agrees"]].to_dict("records")
    ]
    return "\n".join(lines)


def _asked(door: Door, pair: Pair) -> list[dict[str, Any]]:
    rows, before = [], None
    if pair.first is not None:
        row, before = _sent(door, pair, FIRST, pair.first, None)
        rows.append(row)
        if pair.wait:
            door.wait(pair.wait)
    row, _ = _sent(door, pair, SECOND, pair.second, before)
    return [*rows, row]


def _sent(
    door: Door, pair: Pair, which: str, request: Request, before: str | None
) -> tuple[dict[str, Any], str | None]:
    import anthropic  # noqa: PLC0415  see _live()

    row = {"pair": pair.name, "request": which, "model": request["model"], "status": 200}
    row |= dict.fromkeys(_COUNTS, 0) | {"diagnosis": "", "error": ""}
    try:
        message = door.client.messages.create(
            **request, diagnostics={"previous_message_id": before}
        )
    except anthropic.BadRequestError as error:
        return {**row, "status": error.status_code, "error": _message(error)}, None
    except anthropic.APIError as error:
        raise RunFailed(f"{pair.name}, {which} request: {error}") from None
    return {**row, **_read(message)}, message.id


def _read(message: Any) -> dict[str, Any]:
    usage, diagnostics = message.usage, message.diagnostics
    written = usage.cache_creation
    reason = diagnostics.cache_miss_reason if diagnostics else None
    return {
        "read": usage.cache_read_input_tokens or 0,
        "written_5m": written.ephemeral_5m_input_tokens if written else 0,
        "written_1h": written.ephemeral_1h_input_tokens if written else 0,
        "uncached": usage.input_tokens,
        "output": usage.output_tokens,
        "diagnosis": reason.type if reason else "",
    }


def _message(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    return str(inner.get("message") if isinstance(inner, dict) else error)


def _tokens(row: Any, suffix: str = "") -> int:
    return sum(int(row[f"{count}{suffix}"]) for count in _TOKENS)


def _shares(row: Any, suffix: str = "") -> tuple[float, float, float]:
    total = _tokens(row, suffix) or 1
    read, five, hour, uncached = (int(row[f"{count}{suffix}"]) for count in _TOKENS)
    return 100 * read / total, 100 * (five + hour) / total, 100 * uncached / total


def _close(one: Iterable[float], other: Iterable[float], tolerance: float) -> bool:
    return all(
        abs(a - b) <= tolerance and (a == 0) == (b == 0) for a, b in zip(one, other, strict=True)
    )


def _told(status: int, parts: Iterable[float]) -> str:
    return str(status) if status == _REFUSED else "/".join(f"{part:.0f}" for part in parts)


def _usage(row: Any) -> dict[str, int]:
    return {
        "input_tokens": int(row["uncached"]),
        "output_tokens": int(row["output"]),
        "cache_read_input_tokens": int(row["read"]),
        "ephemeral_5m_input_tokens": int(row["written_5m"]),
        "ephemeral_1h_input_tokens": int(row["written_1h"]),
    }


def _flat(usage: dict[str, int]) -> dict[str, Any]:
    """The same as `prices.cost` reads it: writes nested by lifetime."""
    split = {key: count for key, count in usage.items() if key.startswith("ephemeral")}
    return {k: n for k, n in usage.items() if k not in split} | {"cache_creation": split}
