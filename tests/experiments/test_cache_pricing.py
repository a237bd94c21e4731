from __future__ import annotations

import math

import pandas as pd
import pytest

from ctxlab import project, read_tools
from ctxlab.errors import UsageError
from ctxlab.experiments import cache_arrivals, cache_pricing, cache_sessions, switched
from ctxlab.experiments.cache_pricing import Weights
from ctxlab.experiments.claims import check
from ctxlab.experiments.strategy_requests import Conversation
from ctxlab.experiments.tool_mutations import mutations

pytestmark = pytest.mark.data  # token counts

WHEN = "2026-11-30"
MODEL = "claude-sonnet-4-6"
MODELS = [MODEL, "gpt-5.5", "gemini-3.1-pro", "gpt-5.6", "claude-opus-5-5", "claude-fable-5-1"]
ARTICLE = read_tools(project.data_dir() / "tools" / "article.json")
AGENT = read_tools(project.data_dir() / "tools" / "agent.json")
TALK = Conversation(MODEL, turn_tokens=200)


@pytest.fixture(scope="module")
def tables():
    prices, minimum = cache_pricing.prices(MODELS, WHEN), cache_pricing.minimums()
    by_turn = cache_sessions.timestamps(AGENT, Conversation(MODEL), 12, WHEN)
    return {
        "prices": prices,
        "summary": cache_pricing.summary(prices, minimum),
        "lifetimes": cache_pricing.lifetimes(),
        "thresholds": cache_arrivals.thresholds(MODEL, WHEN),
        "timestamps": cache_sessions.timestamp_costs(by_turn),
    }


def test_what_the_document_states_is_held_against_today(tables):
    verdicts = check("cache_pricing", tables).set_index("id")["verdict"].to_dict()
    assert verdicts == {
        "des-price-sonnet": "reproduced",
        "des-price-gpt": "differs",
        "des-price-gemini": "reproduced",
        "des-discount": "differs",
        "des-write": "reproduced",
        "des-minimum": "differs",
        "des-low-rate": "direction",
        "des-timestamp": "direction",
        "des-ttl": "differs",
        "des-openai-write": "differs",
    }


def test_weights_are_relative_to_the_input_price():
    assert cache_pricing.weights(MODEL, WHEN) == pytest.approx(Weights(1.25, 2, 0.1))
    assert cache_pricing.weights("claude-opus-5-5", WHEN).read == pytest.approx(0.05)


def test_a_model_without_write_prices_has_no_weights():
    with pytest.raises(UsageError, match="cache_write"):
        cache_pricing.weights("gpt-5.5", WHEN)


def test_break_even_by_arithmetic_and_in_the_simulator():
    table = cache_pricing.break_even(MODELS, WHEN, 5_000)
    assert set(table["model"]) == {MODEL, "claude-opus-5-5", "claude-fable-5-1"}
    assert table["agrees"].all()
    assert table[table["model"] == MODEL]["requests"].tolist() == [2, 3]


def test_below_the_minimum_the_simulator_never_breaks_even():
    table = cache_pricing.break_even([MODEL], WHEN, 1_023)
    assert (table["simulated"] == 0).all()
    assert not table["agrees"].any()


def test_every_number_of_requests_costs_what_arithmetic_says():
    table = cache_pricing.by_requests(MODEL, WHEN, 5_000, 4)
    assert table["simulated"].tolist() == pytest.approx(table["cost"].tolist())


def test_at_a_threshold_both_ways_cost_the_same():
    limits = cache_arrivals.thresholds(MODEL, WHEN)
    for row in limits.to_dict("records"):
        for rate, cheaper in ((0.99, row["below"]), (1.01, row["above"])):
            per_hour = row["per_hour"] * rate
            costs = cache_arrivals.expected(MODEL, WHEN, [per_hour]).set_index("way")["cost"]
            assert costs[[row["below"], row["above"]]].idxmin() == cheaper


def test_the_extremes_of_the_rate():
    costs = cache_arrivals.expected(MODEL, WHEN, [1e-9, 1e6]).set_index(["per_hour", "way"])
    assert costs.loc[(1e-9, "5m"), "cost"] == pytest.approx(1.25)
    assert costs.loc[(1e-9, "1h"), "cost"] == pytest.approx(2.0)
    assert costs.loc[(1e6, "5m"), "cost"] == pytest.approx(0.1)


def test_the_simulator_plays_what_is_expected():
    table = cache_arrivals.played(MODEL, WHEN, [6], 1_500, seed=3)
    missed = 1 - table.set_index("way")["hits"] / 100
    five = math.exp(-6 * 300 / 3600)
    spread = 4 * math.sqrt(five * (1 - five) / 1_500)
    assert missed["5m"] == pytest.approx(five, abs=spread)
    assert missed["1h"] < missed["5m"]


def test_the_time_belongs_at_the_end(tables):
    table = tables["timestamps"].set_index("place")["over_appended"]
    order = [
        "seconds in the system prompt",
        "seconds, tools marked too",
        "date in the system prompt",
        "appended at the end",
        "no time at all",
    ]
    assert table.sort_values(ascending=False).index.tolist() == order
    assert table["no time at all"] > 0.9


@pytest.mark.parametrize("survive", [True, False])
@pytest.mark.parametrize("tools", [ARTICLE, AGENT], ids=["five tools", "eighteen"])
def test_every_mutation_costs_what_arithmetic_says(tools, survive):
    rules = {cache_sessions.SURVIVE: survive}
    table = cache_sessions.mutation_costs(tools, TALK, [3, 30], WHEN, rules)
    assert table["agrees"].all()
    assert len(table) == 2 * len(mutations(tools))
    free = set(table[table["times"] < 1.001]["mutation"])
    assert free == {"rebuild"}


def test_the_longer_the_history_the_dearer_the_change():
    table = cache_sessions.mutation_costs(AGENT, TALK, [3, 30], WHEN)
    times = table[table["mutation"] == "append"].set_index("turns")["times"]
    assert 1 < times[3] < times[30]


def test_what_an_appended_tool_keeps_hangs_on_the_switch():
    outcomes = pd.concat(
        cache_sessions.mutation_outcomes(
            cache_sessions.mutation_costs(AGENT, TALK, [3], WHEN, setting),
            setting[cache_sessions.SURVIVE],
        )
        for setting in switched.settings([cache_sessions.SURVIVE])
    )
    table = switched.hangs_on(outcomes, [cache_sessions.SURVIVE]).set_index("conclusion")
    reads = table.loc["Appending a tool behind 3 turns reads", "verdict"]
    assert reads == "depends on it: true → the tools alone; false → nothing"
    assert table.loc["Changes that cost nothing", "verdict"] == "holds under both"


def test_conclusions_are_computed(tables):
    breaks = cache_pricing.break_even(MODELS, WHEN, 5_000)
    assert "2 requests for 5m and 3 requests for 1h" in cache_pricing.conclusion(breaks, MODEL)
    played = cache_arrivals.played(MODEL, WHEN, [6], 50, seed=3)
    expected = cache_arrivals.expected(MODEL, WHEN, [0.1, 6])
    told = cache_arrivals.conclusion(tables["thresholds"], played, expected)
    assert "none from 0.1 to 0.1" in told
    changed = cache_sessions.mutation_costs(ARTICLE, TALK, [3], WHEN)
    assert "11 of 12 changes" in cache_sessions.conclusion(tables["timestamps"], changed)
