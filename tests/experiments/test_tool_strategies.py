from __future__ import annotations

from dataclasses import replace

import pytest

from ctxlab import project, read_tools
from ctxlab.cache import PromptCache, rules_for
from ctxlab.errors import UsageError
from ctxlab.experiments import sized, strategy_findings, strategy_grid, switched
from ctxlab.experiments.core_tail_session import Operations, split
from ctxlab.experiments.strategy_requests import STRATEGIES, Conversation, Setup
from ctxlab.experiments.tool_strategies import (
    COUNTS,
    above_oracle,
    over_seeds,
    segments,
    spread,
    totals,
    turns,
)

pytestmark = pytest.mark.data  # token counts

WHEN = "2026-11-30"
AGENT = read_tools(project.data_dir() / "tools" / "agent.json")
TALK = Conversation()
SETUP = Setup(TALK, split(AGENT, 6), Operations(turns=8, adds=2, drops=2, swaps=2))
SESSION = SETUP.session(1)
LOST = {"tool_entries_survive_later_changes": False}


def usd(setup, seed=1, rules=None):
    return totals(turns(setup.session(seed), WHEN, rules)).set_index("strategy")["usd"]


@pytest.fixture(scope="module")
def by_turn():
    return turns(SESSION, WHEN)


def test_every_strategy_has_every_turn_and_nothing_is_counted_twice(by_turn):
    assert list(by_turn["strategy"].unique()) == list(STRATEGIES)
    assert (by_turn.groupby("strategy")["turn"].agg(list).map(len) == 8).all()
    assert (by_turn[list(COUNTS)].sum(axis=1) == by_turn["tokens"]).all()


def test_layouts_that_were_appended_are_whole_requests_all_the_same():
    """The last layout of each strategy counts what its body, sent as a whole, would count."""
    for name in ("rebuild sorted", "core + tail", "fixed, tool_choice"):
        cache = sized.cache(TALK.model)
        *_, (op, layout) = STRATEGIES[name](SESSION, cache)
        messages = [m for t in range(1, op.turn + 1) for m in (TALK.user(t), TALK.reply(t))][:-1]
        tools = [*SESSION.core, *SESSION.pool]
        held = tools if "fixed" in name else [*tools[:6], *(tools[6 + i] for i in op.tail)]
        body = SESSION.request(sorted(held, key=lambda t: t["name"]))
        whole = sized.cache(TALK.model).lay_out({**body, "messages": messages})
        choice = 120 if "fixed" in name and op.dropped is not None else 0  # facts §5: 406 - 286
        assert layout.total == whole.total + choice


def test_a_session_without_changes_costs_the_same_under_everything_but_no_caching():
    quiet = replace(SETUP, operations=Operations(turns=6, adds=0, drops=0, swaps=0))
    costs = usd(quiet)
    same = costs[["rebuild sorted", "core + tail", "mid-conversation", "oracle"]]
    assert same.nunique() == 1
    assert costs["fixed, tool refuses"] == costs["fixed, tool_choice"] > same.iloc[0]
    assert costs["no caching"] > 2 * same.iloc[0]


def test_a_tail_change_reads_the_core_or_nothing(by_turn):
    tokens = segments(SESSION).set_index("part")["tokens"]
    core = tokens["tool-use prompt"] + tokens["core"]
    lost = turns(SESSION, WHEN, LOST, ["core + tail"]).set_index("turn")
    kept = by_turn[by_turn["strategy"] == "core + tail"].set_index("turn")
    changed = kept.index[(kept["operation"] != "none") & (kept.index > 1)]
    # Where the tail has grown or shrunk at its end, its beginning is a prefix too.
    assert (kept.loc[changed, "read"] >= core).all()
    assert lost.loc[changed, "read"].min() == 0
    assert kept.loc[changed, "read"].min() == core


def test_a_core_below_the_minimum_is_never_cached():
    small = Conversation(model="claude-opus-4-6")
    session = replace(SETUP, talk=small).session(1)
    parts = segments(session).set_index("part")
    assert not parts.loc["core", "cacheable"]
    assert parts.loc["core", "up_to"] < rules_for("claude-opus-4-6").minimum_tokens
    table = turns(session, WHEN, strategies=["core + tail", "rebuild sorted"])
    changed = table[(table["operation"] != "none") & (table["turn"] > 1)]
    read = changed.groupby(["turn", "strategy"])["read"].sum().unstack()
    assert (read["core + tail"] <= read["rebuild sorted"]).all()


def test_nothing_is_read_once_the_gap_outlives_the_entries():
    slow = usd(replace(SETUP, talk=replace(TALK, gap=301)))
    assert slow["fixed, tool refuses"] > slow["no caching"]
    hour = usd(replace(SETUP, talk=replace(TALK, gap=301, ttl="1h")))
    assert hour["fixed, tool refuses"] < hour["no caching"]


def test_a_deferred_tool_is_searched_for_once(by_turn):
    deferred = by_turn[by_turn["strategy"] == "deferred"]
    assert deferred["requests"].iloc[0] == 2
    joined = {op.added for op in SESSION.operations if op.added is not None}
    new = joined - set(SESSION.operations[0].tail)
    assert deferred["requests"].sum() <= 8 + 1 + len(new)


def test_the_oracle_writes_what_is_new_and_reads_the_rest(by_turn):
    oracle = by_turn[by_turn["strategy"] == "oracle"].set_index("turn")
    assert oracle.loc[1, "read"] == 0
    none = oracle[(oracle["operation"] == "none") & (oracle.index > 1)]
    assert (none["written"] == TALK.turn_tokens).all()


def test_the_cheapest_are_told_by_what_they_pay_above_the_oracle(by_turn):
    total = totals(by_turn)
    above = above_oracle(by_turn, total)
    last = above[above["turn"] == 8].set_index("strategy")["above"]
    usd = total.set_index("strategy")["usd"]
    assert len(last) == 3
    assert last.to_dict() == pytest.approx((usd[last.index] - usd["oracle"]).to_dict())
    told = strategy_findings.headline(total, by_turn)
    assert f"${usd.drop('oracle').min():.2f}" in told
    assert "Over 8 turns" in told


def test_a_model_without_messages_of_role_system_leaves_that_strategy_out():
    table = turns(replace(SETUP, talk=Conversation(model="claude-sonnet-4-6")).session(1), WHEN)
    assert "mid-conversation" not in set(table["strategy"])


def test_a_model_that_takes_no_forced_choice_forbids_calls():
    session = replace(SETUP, talk=Conversation(model="claude-sonnet-5-5")).session(1)
    laid = list(STRATEGIES["fixed, tool_choice"](session, sized.cache("claude-sonnet-5-5")))
    told = {layout.head.parameters.get("tool_choice") for _, layout in laid}
    assert told == {None, '{"type":"none"}'}


def test_seeds_and_their_spread():
    seeds = over_seeds(SETUP, range(3), WHEN)
    table = spread(seeds).set_index("strategy")
    assert table["cheapest_percent"].sum() == pytest.approx(100)
    assert (table["p5"] <= table["p95"]).all()
    assert "oracle" not in table.index


def test_the_map_names_a_winner_or_a_tie_in_every_cell():
    cells = strategy_grid.grid(SETUP, [(0, 100), (0, 1000), (6, 100), (6, 1000)], 1, WHEN)
    best = strategy_grid.winners(cells, strategy_grid.REAL).set_index(["changes", "turn_tokens"])
    assert (best.loc[0, "cheapest"] == strategy_grid.TIE).all()
    assert (best.loc[6, "core_and_tail"] > 1).all()
    assert (best["ahead_percent"] >= 0).all()


@pytest.mark.parametrize("changes", [0, 1, 2, 7, 20, 31, 40])
def test_scaled_operations_add_up(changes):
    scaled = strategy_grid.scaled(Operations(), changes)
    assert scaled.adds + scaled.drops + scaled.swaps == changes
    assert min(scaled.adds, scaled.drops, scaled.swaps) >= 0


def test_more_changes_than_turns_are_refused():
    with pytest.raises(UsageError, match="40 turns"):
        strategy_grid.scaled(Operations(), 41)


def test_conclusions_name_the_switch_they_hang_on():
    small = strategy_grid.few(AGENT, TALK, 5, 5, 0)
    outcomes = strategy_findings.outcomes(SESSION, small, WHEN)
    verdicts = switched.hangs_on(outcomes, strategy_findings.SWITCHES)
    table = verdicts.set_index(["conclusion", "switch"])["verdict"]
    survive = "tool_entries_survive_later_changes"
    assert table["Cheapest of all", survive] == "holds under both"
    told = table["core + tail against rebuild sorted", survive]
    assert told == "depends on it: true → cheaper; false → the same"
    assert not verdicts["conclusion"].str.contains(r"\*|:$").any()
    told = switched.told(verdicts)
    assert f"*depends on* `{survive}`" in told
    assert f"both values of `{survive}` and all three of `lookback_into_tools`" in told


def test_advice_is_held_against_the_layouts_of_its_case():
    small = strategy_grid.few(AGENT, TALK, 5, 5, 0)
    priced = [strategy_grid.Priced(s, totals(turns(s, WHEN))) for s in (SESSION, small)]
    table = strategy_grid.recommendations(*priced).set_index("case")
    assert table.loc["few tools, short", "tools"] == 5
    assert (table["over_cheapest"] >= 1 - strategy_grid.SAME).all()
    assert (table["as_recommended"] == (table["recommended"] == table["cheapest"])).all()


def test_an_unknown_switch_is_refused():
    with pytest.raises(UsageError, match="no switch 'nope'"):
        switched.settings(["nope"])


def test_sized_texts_say_their_size_and_differ_by_their_words():
    assert sized.count(sized.text(7, "a")) == 7
    cache = PromptCache({"minimum_tokens": 1}, count=sized.count)
    body = {"model": TALK.model, "messages": [{"role": "user", "content": [sized.text(7, "a")]}]}
    assert cache.count_tokens(body) == 7
