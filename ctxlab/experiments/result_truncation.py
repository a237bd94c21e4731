"""Naive cuts against cuts at boundaries, over outputs of real tools (notebook 05).

>>> from ctxlab.experiments.tool_outputs import Output
>>> table = cuts([Output("a.json", json.dumps([{"id": n} for n in range(900)]))], limits=[500])
>>> table[["cut", "valid", "restored"]].to_numpy().tolist()
[['naive', False, False], ['boundary', True, True]]

A naive cut is the text of the first tokens. A cut at boundaries is what `TruncatingWrapper` gives,
notice included, and is followed by the calls that its notice names (`result-handling`).
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.experiments.intact import intact, kept_units, units
from ctxlab.experiments.tool_outputs import Output
from ctxlab.tools import Toolset
from ctxlab.truncation import (
    DEFAULT_BUDGETS,
    MemoryStorage,
    ResourceStore,
    TruncatingWrapper,
    lookup_tools,
    parse_notice,
    truncate,
)
from ctxlab.truncation.kinds import recognise
from ctxlab.truncation.notice import fraction
from ctxlab.truncation.pieces import Span

_ERROR = re.compile(
    r"^.*\b(?:ERROR|FATAL|CRITICAL|FAILED)\b.*|^\w*(?:Error|Exception): .*", re.MULTILINE
)


def inventory(outputs: Sequence[Output]) -> pd.DataFrame:
    """One row an output: output, kind, characters, tokens (`o200k estimate`), units, unit."""
    rows = []
    for output in outputs:
        kind = recognise(output.text)
        unit, spans = units(output.text, kind)
        rows.append(
            {
                "output": output.name,
                "kind": kind,
                "characters": len(output.text),
                "tokens": output.tokens,
                "units": len(spans),
                "unit": unit,
            }
        )
    return pd.DataFrame(rows)


def cuts(
    outputs: Sequence[Output], limits: Sequence[int], progress: Callable[..., Any] = iter
) -> pd.DataFrame:
    """One row for each output that is larger than a limit, the limit, and the cut.

    Columns: output; kind; limit (tokens); cut (naive, boundary); valid (see `intact`); units,
    units_of (kept whole, of how many), units_share (%); tokens (all that is returned,
    `o200k estimate`); notice_tokens; calls (that the notice leads to until all is back; missing
    where there is no way back); restored (whether what came back is the original byte for byte);
    error_lines, error_lines_of.
    """
    rows = []
    for output in progress(outputs):
        whole = _Whole(output.text)
        encoded = tokens.encode(output.text) if output.tokens > min(limits) else []
        for limit in limits:
            if output.tokens > limit:
                row = {"output": output.name, "kind": whole.kind, "limit": limit}
                rows.append(row | whole.naive(encoded[:limit]))
                rows.append(row | whole.at_boundaries(limit))
    return pd.DataFrame(rows)


class _Whole:
    """One output, and what is left of it."""

    def __init__(self, text: str) -> None:
        self.text, self.kind = text, recognise(text)
        _, self._units = units(text, self.kind)
        self._errors = len(_ERROR.findall(text))

    def naive(self, encoded: list[int]) -> dict[str, Any]:
        """The text of the first tokens, and no way back."""
        data = tokens.decode_bytes(encoded)
        body, whole = data.decode("utf-8", "replace"), data.decode("utf-8", "ignore")
        row = {"cut": "naive"} | self._measured(body, [(len(whole), len(self.text))])
        size = tokens.count(body)
        return row | {"tokens": size, "notice_tokens": 0, "calls": None, "restored": False}

    def at_boundaries(self, limit: int) -> dict[str, Any]:
        """What the wrapper returns, and what the calls that its notice leads to bring back."""
        # One id for all: ids differ by a token, and equal inputs are to give equal tables.
        store = ResourceStore(MemoryStorage(), draw=lambda: "ab12cd34")
        wrapped = TruncatingWrapper(store, limit, "tokens").wrapped("tool", self.text)
        assert wrapped.cut
        calls, back = restore(wrapped.text, Toolset(lookup_tools(store)))
        row = {"cut": "boundary"} | self._measured(wrapped.cut.text, wrapped.cut.omitted)
        size = tokens.count(wrapped.text)
        return row | {
            "tokens": size,
            "notice_tokens": size - tokens.count(wrapped.cut.text),
            "calls": calls,
            "restored": back == self.text,
        }

    def _measured(self, body: str, omitted: Sequence[Span]) -> dict[str, Any]:
        kept = kept_units(self._units, omitted)
        return {
            "valid": intact(body, self.kind, self.text),
            "units": kept,
            "units_of": len(self._units),
            "units_share": 100 * kept / len(self._units),
            "error_lines": len(_ERROR.findall(body)),
            "error_lines_of": self._errors,
        }


def restore(returned: str, toolset: Toolset) -> tuple[int, str]:
    """Follow a notice to the end: how many calls it takes, and the text that comes back.

    The first call is the one that the notice writes; it is parsed and made as it stands there.
    """
    body, fields = parse_notice(returned)
    if fields is None:
        return 0, returned
    call = ast.parse(fields["recovery_hint"], mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    parts = [body[: arguments["offset"]]]
    for calls in itertools.count(1):
        page = json.loads(toolset.call(call.func.id, arguments))
        parts.append(page["content"])
        if not page["has_more"]:
            return calls, "".join(parts)
        arguments["offset"] = page["offset"] + page["returned_chars"]
    raise AssertionError


def by_kind(table: pd.DataFrame) -> pd.DataFrame:
    """Both cuts by kind: cuts made, and the means of what `cuts` measures (shares in %)."""
    grouped = table.groupby(["kind", "cut"], sort=False)
    means = grouped[["valid", "restored", "units_share", "tokens", "notice_tokens", "calls"]].mean()
    means[["valid", "restored"]] *= 100
    return grouped.size().rename("cuts").to_frame().join(means).reset_index()


def by_limit(table: pd.DataFrame) -> pd.DataFrame:
    """Both cuts by limit; columns as `by_kind`."""
    grouped = table.groupby(["limit", "cut"], sort=False)
    means = grouped[["valid", "restored", "units_share", "tokens", "notice_tokens", "calls"]].mean()
    means[["valid", "restored"]] *= 100
    return means.reset_index().sort_values(["cut", "limit"], kind="stable", ignore_index=True)


def figures(table: pd.DataFrame, outputs: Sequence[Output], chars: tuple[int, int]) -> pd.DataFrame:
    """What the document states in numbers, measured: columns figure, value, unit.

    `chars` are how many characters are kept, of how many: a text of that size is cut so.
    """
    kept, whole = chars
    text = ("".join(output.text for output in outputs) * (whole // 1000 + 1))[:whole]
    cut = truncate(text, kept, kind="plain")
    lost = table.loc[(table["cut"] == "boundary") & ~table["restored"], "output"]
    sizes = {output.name: len(output.text.encode()) for output in outputs}
    rows = [
        ("returned_fraction", fraction(len(cut.text), len(text)), "percent"),
        ("budget", float(sum(DEFAULT_BUDGETS.values())), "tokens"),
        ("bytes_lost", float(sum(sizes[name] for name in lost)), "bytes"),
    ]
    return pd.DataFrame(rows, columns=["figure", "value", "unit"])


def conclusion(table: pd.DataFrame, survived: pd.DataFrame, lived: pd.DataFrame) -> str:
    """What `cuts`, `prices` of the policies and `ends` of the session say (Markdown)."""
    told = [_boundaries(table), _way_back(table), _survival(survived), _budget(lived)]
    return "\n".join(f"- {line}" for line in told)


def _boundaries(table: pd.DataFrame) -> str:
    naive, ours = (table[table["cut"] == cut] for cut in ("naive", "boundary"))
    fewer = naive["units_share"].mean() - ours["units_share"].mean()
    return (
        f"**Boundaries.** {_share(ours['valid'])} of the cuts at boundaries are whole in their "
        f"form, {_share(naive['valid'])} of the naive ones. That takes "
        f"{ours['notice_tokens'].mean():.0f} tokens of notice (o200k estimate), which is "
        f"{fewer:.1f} points fewer units kept."
    )


def _way_back(table: pd.DataFrame) -> str:
    naive, ours = (table[table["cut"] == cut] for cut in ("naive", "boundary"))
    return (
        f"**A way back.** {_share(ours['restored'])} came back byte for byte by the call that the "
        f"notice writes, in {ours['calls'].min():.0f} to {ours['calls'].max():.0f} pages; "
        f"{_share(naive['restored'])} of the naive ones."
    )


def _survival(prices: pd.DataFrame) -> str:
    best = prices.sort_values("in_context", ascending=False, kind="stable").head(1)
    lost = prices[prices["recovery_tokens"].isna()]
    kept = prices[~prices["recovery_tokens"].isna()]
    return (
        "**Where a needle survives.** At the same price no policy keeps more than "
        f"{best['in_context'].item():.0f} % of the needles in the context "
        f"({best['policy'].item()}). With a store, {kept['recovered'].min():.0f} % are there or "
        f"found by one search of {kept['recovery_tokens'].mean():.0f} tokens (o200k estimate); "
        f"without one, {lost['recovered'].min():.0f} to {lost['recovered'].max():.0f} %."
    )


def _budget(lived: pd.DataFrame) -> str:
    told = [
        f"{row.strategy}, {row.turns} turns and {row.refused} results refused"
        for row in lived.itertuples()
    ]
    return f"**The budget.** Until the history is full: {'; '.join(told)}."


def _share(column: pd.Series[bool]) -> str:
    return f"{100 * column.mean():.0f} %"
