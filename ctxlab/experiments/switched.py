"""Conclusions under every reading of a rule that the sources leave open.

The simulator is our reading of the rules; what they leave open is a switch (`ctxlab.cache`). An
experiment draws its conclusions under each of a switch's values, and a conclusion that turns with
one is told as depending on it.

>>> import pandas as pd
>>> name = "tool_entries_survive_later_changes"
>>> told = pd.DataFrame({"conclusion": ["cheapest"] * 2, name: [True, False],
...                      "outcome": ["core + tail", "fixed"]})
>>> hangs_on(told, [name])["verdict"].item()
'depends on it: true → core + tail; false → fixed'
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pandas as pd

from ctxlab.cache import switches
from ctxlab.errors import UsageError

HOLDS = {1: "holds", 2: "holds under both", 3: "holds under all three"}


def settings(names: Sequence[str]) -> list[dict[str, Any]]:
    """Every combination of the switches' values, the defaults first.

    >>> settings(["tool_entries_survive_later_changes"])[1]
    {'tool_entries_survive_later_changes': False}

    Raises:
        UsageError: no such switch.
    """
    known = switches()
    for name in names:
        if name not in known:
            raise UsageError(f"no switch {name!r}; there are {', '.join(known)}")
    chosen = product(*(known[name][2] for name in names))
    return [dict(zip(names, values, strict=True)) for values in chosen]


def hangs_on(outcomes: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Whether conclusions hold whatever a switch says.

    `outcomes` has a row for each conclusion and setting: columns conclusion, outcome (text) and one
    for each of `names`. Columns: conclusion; outcome (under the defaults, the first setting);
    switch; verdict (`holds under both`, or `depends on it: value → outcome; …`).
    """
    rows = []
    for conclusion, group in outcomes.groupby("conclusion", sort=False):
        for name in names:
            verdict = _verdict(group, name, [other for other in names if other != name])
            first = group["outcome"].iloc[0]
            rows.append([conclusion, first, name, verdict])
    return pd.DataFrame(rows, columns=["conclusion", "outcome", "switch", "verdict"])


def told(verdicts: pd.DataFrame) -> str:
    """The table of `hangs_on` in sentences (Markdown): what holds, what hangs on a switch."""
    holding, hanging = [], []
    for conclusion, group in verdicts.groupby("conclusion", sort=False):
        turning = group[~group["verdict"].str.startswith("holds")]
        parts = [
            f"*depends on* `{switch}`: {verdict.partition(': ')[2]}"
            for switch, verdict in zip(turning["switch"], turning["verdict"], strict=True)
        ]
        if parts:
            hanging.append(f"- {conclusion}: {'; '.join(parts)}")
        else:
            holding.append((_held(group), f"- {conclusion}: **{group['outcome'].iloc[0]}**"))
    sections = [
        f"{held}:\n\n" + "\n".join(line for other, line in holding if other == held)
        for held in dict.fromkeys(held for held, _ in holding)
    ]
    if hanging:
        sections.append("Depends on how the rules are read:\n\n" + "\n".join(hanging))
    return "\n\n".join(sections)


def _held(group: pd.DataFrame) -> str:
    """Holds under both values of `this` and all three of `that`."""
    counts = [verdict.removeprefix("holds").removeprefix(" under ") for verdict in group["verdict"]]
    parts = [
        f"{count or 'the one value'}{'' if at or not count else ' values'} of `{switch}`"
        for at, (count, switch) in enumerate(zip(counts, group["switch"], strict=True))
    ]
    return f"Holds under {' and '.join(parts)}"


def _verdict(group: pd.DataFrame, name: str, others: Sequence[str]) -> str:
    """A switch matters when, all others alike, another value of it gives another outcome."""
    parts = [part for _, part in group.groupby(list(others), sort=False)] if others else [group]
    for part in parts:
        if len(set(part["outcome"])) > 1:
            values = zip(part[name], part["outcome"], strict=True)
            return "depends on it: " + "; ".join(f"{_word(v)} → {outcome}" for v, outcome in values)
    return HOLDS.get(group[name].nunique(), "holds under all")


def _word(value: Any) -> str:
    return str(value).lower()
