"""What a session pays for a timestamp in its system prompt, and for one change of its tools.

The requests are made by `RequestBuilder`, priced by `prices.cost` and answered by the simulator;
what each should cost is also said by arithmetic (notebook 07, `tool-design` §6, `tool-registry`).
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ctxlab.cache import RequestBuilder, rules_for
from ctxlab.experiments import sized
from ctxlab.experiments.mutating import MUTATIONS
from ctxlab.experiments.strategy_requests import Conversation
from ctxlab.experiments.tool_mutations import mutations
from ctxlab.prefix import canonical_tool
from ctxlab.prices import cost
from ctxlab.prices.rates import When

Tool = dict[str, Any]

APPENDED = "appended at the end"
PLACES = (
    "seconds in the system prompt",
    "seconds, tools marked too",
    "date in the system prompt",
    APPENDED,
    "no time at all",
)
"""Where the time stands; the third changes once, when the session passes midnight."""

_SAME = 1.001
"""Less than this times the unchanged request is no change of cost."""
SURVIVE = "tool_entries_survive_later_changes"
CONTEXT_TOKENS = 20
"""Tokens of the time where it is appended."""


def timestamps(tools: Sequence[Tool], talk: Conversation, turns: int, when: When) -> pd.DataFrame:
    """A session with the time in several places: a row for each place and turn.

    Midnight passes in the middle. Columns: place; turn; read, written, uncached (tokens); usd;
    usd_so_far.
    """
    rows = [row for place in PLACES for row in _timed(tools, talk, turns, when, place)]
    table = pd.DataFrame(rows)
    return table.assign(usd_so_far=table.groupby("place", sort=False)["usd"].cumsum())


def timestamp_costs(by_turn: pd.DataFrame) -> pd.DataFrame:
    """Each place's sums: columns place; read, written, uncached; usd; over_appended (a ratio).

    And last_turn_over_appended: the same of the last turn alone, where the history is longest.
    """
    sums = by_turn.groupby("place", sort=False)[["read", "written", "uncached", "usd"]].sum()
    last = by_turn[by_turn["turn"] == by_turn["turn"].max()].set_index("place")["usd"]
    best = [place == APPENDED for place in sums.index]
    return sums.assign(
        over_appended=sums["usd"] / sums["usd"][best].iloc[0],
        last_turn_over_appended=last / last[best].iloc[0],
    ).reset_index()


def mutation_costs(
    tools: Sequence[Tool],
    talk: Conversation,
    histories: Iterable[int],
    when: When,
    rules: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """One request after a change of the tools, behind histories of so many turns.

    Breakpoints stand on the last tool, behind the system prompt and at the end. Columns: mutation;
    turns (before the change); read, written (tokens); usd; unchanged_usd (the same request without
    the change); times (usd relative to it); by_arithmetic (usd); agrees (the two within a
    thousandth of a cent).
    """
    kept = {row["mutation"]: row for row in mutations(tools).to_dict("records")}
    rows = []
    for turns in histories:
        plain = _after(tools, tools, talk, turns, rules)
        unchanged = cost(talk.model, plain, when).total
        for name, mutate in MUTATIONS.items():
            usage = _after(tools, mutate(copy.deepcopy(list(tools))), talk, turns, rules)
            usd = cost(talk.model, usage, when).total
            closed = _closed(talk, kept[name], plain, usage, rules)
            paid = cost(talk.model, closed, when).total
            rows.append(
                {
                    "mutation": name,
                    "turns": turns,
                    "read": usage["cache_read_input_tokens"],
                    "written": usage["cache_creation_input_tokens"],
                    "usd": usd,
                    "unchanged_usd": unchanged,
                    "times": usd / unchanged,
                    "by_arithmetic": paid,
                    "agrees": abs(usd - paid) < 1e-5,  # noqa: PLR2004  USD
                }
            )
    return pd.DataFrame(rows)


def mutation_outcomes(table: pd.DataFrame, value: bool) -> pd.DataFrame:  # noqa: FBT001  a switch
    """What `mutation_costs` says under one value of SURVIVE: columns conclusion, outcome, SURVIVE.

    For `switched.hangs_on`.
    """
    longest = table[table["turns"] == table["turns"].max()].to_dict("records")
    same = [row["mutation"] for row in longest if row["times"] < _SAME]
    append = next(row for row in longest if row["mutation"] == "append")
    most = max(row["times"] for row in longest)
    told = {
        "Changes that cost nothing": ", ".join(same) or "none",
        f"Appending a tool behind {append['turns']:,} turns reads": "the tools alone"
        if append["read"]
        else "nothing",
        "The dearest change costs, times the unchanged request": f"{most:.1f}",
    }
    return pd.DataFrame(
        [[name, outcome, value] for name, outcome in told.items()],
        columns=["conclusion", "outcome", SURVIVE],
    )


def conclusion(costs: pd.DataFrame, changed: pd.DataFrame) -> str:
    """What the tables of `timestamp_costs` and `mutation_costs` say (Markdown)."""
    told = {row["place"]: row for row in costs.to_dict("records")}
    seconds, date = told[PLACES[0]], told[PLACES[2]]
    lines = []
    lines.append(
        f"- **A timestamp in the system prompt** costs {seconds['over_appended']:.1f} times the "
        f"session with the time appended at the end; {seconds['last_turn_over_appended']:.1f} "
        f"times in the last turn. With the date alone it is {date['over_appended']:.2f} times."
    )
    for turns, part in changed.groupby("turns"):
        lost = part[part["times"] >= _SAME]
        lines.append(
            f"- **A change of tools behind {turns:,} turns:** {len(lost)} of {len(part)} changes "
            f"cost more than no change, up to {part['usd'].max():.3f} USD for that one request "
            f"({part['times'].max():.1f} times)."
        )
    safe = changed[changed["mutation"] == "append"].iloc[-1]
    lines.append(
        f"- **Appending a tool**, which keeps every tool before it, still costs "
        f"{safe['times']:.1f} times as much behind {safe['turns']:,} turns: system prompt and "
        "history stand behind the tools."
    )
    lines.append(
        f"- Arithmetic and simulator agree in {changed['agrees'].sum()} of {len(changed)}."
    )
    return "\n".join(lines)


def _timed(
    tools: Sequence[Tool], talk: Conversation, turns: int, when: When, place: str
) -> list[dict[str, Any]]:
    clock = sized.Clock()
    cache = sized.cache(talk.model, clock=clock)
    history: list[dict[str, Any]] = []
    rows = []
    for turn in range(1, turns + 1):
        clock.now = turn * talk.gap
        history += [*([talk.reply(turn - 1)] if turn > 1 else []), talk.user(turn)]
        usage = cache.send(_request(tools, talk, history, place, (turn, turns)))
        rows.append(
            {
                "place": place,
                "turn": turn,
                "read": usage["cache_read_input_tokens"],
                "written": usage["cache_creation_input_tokens"],
                "uncached": usage["input_tokens"],
                "usd": cost(talk.model, usage, when).total,
            }
        )
    return rows


def _request(
    tools: Sequence[Tool],
    talk: Conversation,
    history: list[dict[str, Any]],
    place: str,
    at: tuple[int, int],
) -> dict[str, Any]:
    turn, turns = at
    told = "rules"
    if "seconds" in place:
        told = f"rules, it is second {turn}"
    elif "date" in place:
        told = f"rules, it is day {1 + (turn > turns // 2)}"
    system = [sized.text(talk.system_tokens, told)]
    builder = RequestBuilder(talk.model, system, list(tools), ttl=talk.ttl)
    request = builder.request(history)
    if "marked" in place:
        # One breakpoint of the history for one on the tools: four are all there are.
        _drop_first_marker(request["messages"])
        request["tools"][-1]["cache_control"] = sized.marker(talk.ttl)
    if place == APPENDED:
        request["messages"][-1]["content"].append(sized.text(CONTEXT_TOKENS, f"second {turn}"))
    return request


def _drop_first_marker(messages: Sequence[Mapping[str, Any]]) -> None:
    marked = [b for m in messages for b in m["content"] if "cache_control" in b]
    if len(marked) > 2:  # noqa: PLR2004  four in all, one of them behind the system prompt
        del marked[0]["cache_control"]


def _after(
    tools: Sequence[Tool],
    changed: Sequence[Tool],
    talk: Conversation,
    turns: int,
    rules: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Usage of the request after a change, where the one before it has warmed the cache."""
    cache = sized.cache(talk.model, rules)
    history = [m for turn in range(1, turns + 1) for m in (talk.user(turn), talk.reply(turn))][:-1]
    before = cache.lay_out({**_marked(tools, talk), "messages": history})
    cache.send(before)
    after = before.append([talk.reply(turns), talk.user(turns + 1)])
    return cache.send(after.with_head(_marked(changed, talk)))


def _marked(tools: Sequence[Tool], talk: Conversation) -> dict[str, Any]:
    sent = [canonical_tool(tool) for tool in tools]
    control = sized.marker(talk.ttl)
    sent[-1]["cache_control"] = control
    system = sized.text(talk.system_tokens, "rules", cache_control=control)
    return {"model": talk.model, "tools": sent, "system": [system], "cache_control": control}


def _closed(
    talk: Conversation,
    kept: Mapping[Hashable, Any],
    plain: Mapping[str, Any],
    usage: Mapping[str, Any],
    rules: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """By arithmetic: all is read but what is new, or the marked tools alone, or nothing.

    `plain` is the request without the change. The total is the simulator's, the split is ours.
    """
    total = usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    limits = rules_for(talk.model, dict(rules or {}))
    whole = kept["shared_prefix"] == kept["tools_after"]
    if whole and kept["tokens_lost"] == 0:
        read = plain["cache_read_input_tokens"]
    else:
        read = limits.tool_prompt_tokens[0] + kept["tokens_kept"] if kept["tokens_kept"] else 0
        if read < limits.minimum_tokens or not limits.tool_entries_survive_later_changes:
            read = 0
    split = {f"ephemeral_{talk.ttl}_input_tokens": int(total - read)}
    return {"cache_read_input_tokens": int(read), "cache_creation": split}
