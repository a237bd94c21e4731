from __future__ import annotations

import pytest

from ctxlab import project, read_tools
from ctxlab.errors import UsageError
from ctxlab.experiments.claims import check
from ctxlab.experiments.core_tail_seeds import by_reading, distribution, guard, over_seeds
from ctxlab.experiments.core_tail_seeds import conclusion as drawn_conclusion
from ctxlab.experiments.core_tail_session import (
    READINGS,
    Operations,
    arrangement,
    conclusion,
    is_ours,
    replay,
    session_turns,
    sizes,
    split,
    strategies,
)
from ctxlab.prefix import canonical, canonical_tool

pytestmark = pytest.mark.data  # token counts

AGENT = read_tools(project.data_dir() / "tools" / "agent.json")
TOOLSET = split(AGENT, 6)
SMALL = Operations(turns=4, adds=1, drops=1, swaps=1, start=1)


def named(*names):
    return [{"name": name, "input_schema": {"type": "object"}} for name in names]


@pytest.fixture(scope="module")
def turns():
    return session_turns(TOOLSET, Operations().draw(0, len(TOOLSET.pool)))


def kept(toolset, operations, seed=0):
    steps = list(replay(toolset, operations.draw(seed, len(toolset.pool))))
    return {
        strategy: [
            sum(flags)
            for flags in zip(*(s.kept for s in steps if s.strategy == strategy), strict=True)
        ]
        for strategy in "AB"
    }


def test_the_claims_that_can_be_reproduced_are(turns):
    tables = {"strategies": strategies(turns, TOOLSET), "guard": guard(AGENT)}
    verdicts = check("core_tail_session", tables).set_index("id")["verdict"].to_dict()
    assert verdicts == {
        "reg-session-a": "direction",
        "reg-session-b": "reproduced",
        "reg-resent": "direction",
        "reg-core-fingerprint": "external",
        "reg-breakpoint-position": "reproduced",
    }


def test_both_strategies_hold_the_same_tools_every_turn():
    steps = list(replay(TOOLSET, Operations().draw(3, len(TOOLSET.pool))))
    assert len(steps) == 80
    for a, b in zip(steps[::2], steps[1::2], strict=True):
        assert (a.strategy, b.strategy) == ("A", "B")
        assert sorted(a.array) == sorted(b.array)


def test_b_keeps_under_every_reading_and_every_seed():
    for seed in range(30):
        assert kept(TOOLSET, Operations(), seed)["B"] == [40, 40, 40]


def test_a_keeps_everything_when_every_pool_tool_sorts_behind_the_core():
    toolset = split(named("a", "b", "c", "x", "y", "z"), 2)
    assert kept(toolset, SMALL)["A"] == [4, 4, 4]


def test_a_keeps_the_pinned_core_only_with_an_empty_tail_when_every_pool_tool_sorts_before_it():
    toolset = split(named("y", "z", "a", "b", "c"), 2)
    session = SMALL.draw(0, 3)
    empty = sum(not turn.tail for turn in session)
    assert kept(toolset, SMALL)["A"][0] == empty


def test_the_core_stands_in_name_order_whatever_the_file_says():
    assert [tool["name"] for tool in split(named("b", "a", "c"), 2).core] == ["a", "b"]


def test_turn_one_keeps_but_what_it_does_not_equal(turns):
    one = turns[turns["turn"] == 1].set_index("strategy")
    assert one["previous turn"].all()
    assert one["first turn"].all()
    assert (one["shared_tools"] == 0).all()
    assert (one["unshared_bytes"] == one["array_bytes"]).all()


def test_a_turn_without_an_operation_repeats_the_array(turns):
    none = turns[(turns["operation"] == "none") & (turns["turn"] > 1)]
    assert len(none) > 0
    assert (none["shared_tools"] == none["tools"]).all()
    assert none["previous turn"].all()
    assert (none["unshared_bytes"] == 0).all()


def test_sizes_are_those_of_the_tools_as_sent():
    table = sizes(TOOLSET)
    wanted = [len(canonical(canonical_tool(tool)).encode()) for tool in TOOLSET.tools]
    assert table["bytes"].tolist() == wanted
    assert (table["segment"] == "core").sum() == 6


def test_a_core_that_is_not_kept_is_sent_again_whole(turns):
    table = strategies(turns, TOOLSET).set_index(["strategy", "same_as"])
    core = sizes(TOOLSET)[:6]
    row = table.loc[("A", "pinned core")]
    assert row["resent_bytes"] == (40 - row["kept"]) * core["bytes"].sum()
    assert row["resent_tokens"] == turns[turns["strategy"] == "A"]["resent_tokens"].sum()
    assert not table.loc["B"][["resent", "resent_bytes", "resent_tokens"]].to_numpy().any()


def test_added_and_dropped_are_named(turns):
    swapped = turns[turns["operation"] == "swap"].iloc[0]
    names = {tool["name"] for tool in TOOLSET.pool}
    assert {swapped["added"], swapped["dropped"]} < names
    assert (turns[turns["operation"] == "none"]["added"] == "").all()


def test_a_distribution_over_seeds():
    seeds = over_seeds(TOOLSET, Operations(), range(25))
    assert len(seeds) == 25 * 2 * 2
    table = distribution(seeds, 1).set_index(["core", "strategy", "same_as"])
    for reading in READINGS:
        b = table.loc[("given", "B", reading)]
        assert b["least"] == b["most"] == 40
        assert b["as_stated"] == 0
    # A turn without an operation keeps the array of the turn before: never fewer than those.
    assert table.loc[("given", "A", "previous turn"), "least"] >= 9
    given = seeds[(seeds["core"] == "given") & (seeds["strategy"] == "A")]
    assert given["pinned core"].tolist() == [
        kept(TOOLSET, Operations(), s)["A"][0] for s in range(25)
    ]


def test_a_drawn_core_is_drawn_the_same_way_again():
    twice = [over_seeds(TOOLSET, SMALL, [5, 6]) for _ in range(2)]
    assert twice[0].equals(twice[1])


def test_the_guard_passes_every_tail_and_refuses_every_other_core():
    table = guard(AGENT).set_index("step")
    refused = table["refused"]
    assert list(table.index[~refused]) == ["pinned", "tail grown", "tail swapped", "tail emptied"]
    assert table.loc[~refused, "fingerprint"].nunique() == 1
    assert table.loc[refused, "fingerprint"].nunique() == refused.sum()
    assert table.loc[~refused, "breakpoint"].tolist() == [2] * 4
    assert table.loc[refused, "breakpoint"].isna().all()


def test_the_guard_leaves_the_tools_as_they_were():
    before = canonical(AGENT)
    guard(AGENT)
    assert canonical(AGENT) == before


@pytest.mark.parametrize("core", [0, -1, 18, 19])
def test_a_core_of_none_or_all_is_refused(core):
    with pytest.raises(UsageError, match="the core takes 1 to 17 of 18 tools"):
        split(AGENT, core)


def test_operations_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="do not fit into 4 turns"):
        Operations(turns=4).draw(0, 12)


def test_the_conclusion_says_what_was_measured(turns):
    told = conclusion(strategies(turns, TOOLSET), turns)
    assert "0 of 40" in told
    assert "40 of 40" in told


def test_the_conclusion_names_the_reading_that_cannot_be_meant():
    table = distribution(over_seeds(TOOLSET, Operations(), range(25)), 1)
    told = drawn_conclusion(table, 1)
    assert "Held against the previous turn, no draw comes to 1" in told
    assert "no draw" not in drawn_conclusion(table[table["same_as"] == "first turn"], 1)


def test_readings_stand_in_rows_of_their_own():
    seeds = over_seeds(TOOLSET, SMALL, [1])
    long = by_reading(seeds)
    assert len(long) == len(seeds) * len(READINGS)
    assert long["kept"].sum() == seeds[list(READINGS)].to_numpy().sum()


def test_without_a_stated_figure_no_document_is_spoken_of():
    sorted_tools = split(named(*"abcdefghijkl"), 4)
    table = distribution(over_seeds(sorted_tools, SMALL, range(5)))
    told = drawn_conclusion(table)
    assert "as_stated" not in table
    assert "document" not in told
    assert "in 4 turns in every draw" in told


def test_what_the_alphabet_makes_of_the_core_is_told():
    assert "A keeps everything that B keeps" in arrangement(split(named(*"abcdef"), 3))
    assert "2 of the pool sort before" in arrangement(split(named(*"cdabe"), 2))


def test_only_our_own_session_is_held_against_the_document():
    assert is_ours(AGENT, AGENT, 6, Operations())
    assert not is_ours(AGENT[::-1], AGENT, 6, Operations())
    assert not is_ours(AGENT, AGENT, 5, Operations())
    assert not is_ours(AGENT, AGENT, 6, SMALL)
