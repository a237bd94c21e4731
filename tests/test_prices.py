from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import genai_prices
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.errors import InputError, UsageError
from ctxlab.prices import Cost, cost, price_table, rates
from ctxlab.prices.models import find, known_models

DAY = "2026-11-30"
MILLION = 1_000_000
CACHING = [
    model
    for model in known_models()
    if model.startswith("claude-") and rates(model, DAY).cache_write_1h is not None
]


def writes(five: int, hour: int) -> dict[str, object]:
    split = {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour}
    return {"cache_creation_input_tokens": five + hour, "cache_creation": split}


def test_each_part_of_a_request_has_its_price():
    usage = {"input_tokens": MILLION, "output_tokens": MILLION, "cache_read_input_tokens": MILLION}
    told = cost("claude-opus-5", {**usage, **writes(MILLION, MILLION)}, DAY)
    parts = (told.input, told.cache_write_5m, told.cache_write_1h, told.cache_read, told.output)
    assert parts == (5.0, 6.25, 10.0, 0.5, 25.0)
    assert told.total == sum(parts)
    assert told.tier == "flat"
    assert told.assumed == ()


def test_a_figure_names_its_source_and_its_day():
    told = cost("claude-opus-5", {"input_tokens": 1}, datetime(2026, 11, 30, 23, tzinfo=UTC))
    assert told.source.startswith(f"genai-prices {genai_prices.__version__} (")
    assert told.priced_on == date(2026, 11, 30)
    assert cost("claude-opus-5", {"input_tokens": 1}).priced_on == datetime.now(UTC).date()


@pytest.mark.parametrize(
    ("model", "share"),
    [
        ("claude-opus-5", 0.1),
        ("claude-fable-5-1", 0.025),
        ("claude-opus-5-5", 0.05),
        ("claude-sonnet-5-5", 0.05),
    ],
)
def test_reads_are_not_always_a_tenth(model: str, share: float):
    price = rates(model, DAY)
    assert price.cache_read == pytest.approx(share * price.input)


def test_a_tier_is_reached_by_every_input_token_of_the_request_and_named():
    below = {"input_tokens": 10, **writes(20_000, 30_000), "cache_read_input_tokens": 49_990}
    told = cost("claude-haiku-5-5", below, DAY)
    assert told.tier == "up to 100,000 input tokens"
    above = cost("claude-haiku-5-5", {**below, "input_tokens": 11}, DAY)
    assert above.tier == "over 100,000 input tokens"
    assert above.cache_read == pytest.approx(5 * told.cache_read)


def test_two_small_requests_stay_in_the_first_tier_where_one_large_one_does_not():
    small = cost("claude-haiku-5-5", {"input_tokens": 60_000}, DAY)
    large = cost("claude-haiku-5-5", {"input_tokens": 120_000}, DAY)
    assert large.total == pytest.approx(5 * 2 * small.total)


def test_the_price_depends_on_the_day():
    january, november = (
        cost("claude-opus-4-6", {"input_tokens": 300_000}, day).tier
        for day in ("2026-01-01", "2026-11-30")
    )
    assert (january, november) == ("over 200,000 input tokens", "flat")


def test_batch_and_fast_are_priced_and_never_silently_at_the_list_price():
    usage = {"input_tokens": MILLION}
    listed = cost("claude-opus-5", usage, DAY).total
    assert cost("claude-opus-5", {**usage, "service_tier": "batch"}, DAY).total == listed / 2
    assert cost("claude-opus-5", {**usage, "speed": "fast"}, DAY).total > listed
    with pytest.raises(UsageError, match=r"no prices of claude-sonnet-5 for speed=fast"):
        cost("claude-sonnet-5", {**usage, "speed": "fast"}, DAY)
    with pytest.raises(InputError, match=r"service_tier: 'priority' has no price"):
        cost("claude-opus-5", {**usage, "service_tier": "priority"}, DAY)


def test_web_searches_are_paid_by_the_call():
    usage = {"input_tokens": 0, "server_tool_use": {"web_search_requests": 3}}
    told = cost("claude-opus-5", usage, DAY)
    assert told.server_tools == told.total == 0.03


def test_writes_without_a_split_are_read_as_five_minutes_and_said():
    told = cost("claude-opus-5", {"cache_creation_input_tokens": MILLION}, DAY)
    assert told.cache_write_5m == 6.25
    assert "read as 5m writes" in told.assumed[0]


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"cache_read_tokens": 5}, "did you mean cache_read_input_tokens"),
        ({"tokens_of_the_moon": 1}, "known are input_tokens"),
        ({"cache_creation": {"ephemeral_2h_input_tokens": 1}}, "cache_creation: unknown usage key"),
        ({"input_tokens": -1}, "input_tokens: a number of tokens is a whole number"),
        ({"input_tokens": 1.5}, "not 1.5"),
        ({"input_tokens": True}, "not True"),
        ({**writes(1, 2), "cache_creation_input_tokens": 4}, "adds up to 3"),
        ({"iterations": [{"type": "compaction"}]}, "iterations: an iteration of type"),
        ([("input_tokens", 1)], "usage is a mapping, not list"),
    ],
)
def test_what_a_usage_may_not_say(usage: dict[str, object], told: str):
    with pytest.raises(InputError, match=told):
        cost("claude-opus-5", usage, DAY)


def test_what_the_simulator_adds_to_a_usage_costs_nothing():
    usage = {"input_tokens": MILLION, "diagnostics": None, "message_id": "msg_1"}
    assert cost("claude-opus-5", usage, DAY).total == 5.0


def test_a_model_without_a_write_price_is_an_error_where_genai_prices_charges_input():
    with pytest.raises(UsageError, match=r"no cache_write_5m price of gpt-5\.5; give these 7 "):
        cost("gpt-5.5", {"cache_creation_input_tokens": 7}, DAY)
    with pytest.raises(UsageError, match="no cache_write_1h price of gpt"):
        cost("gpt-5.6", writes(0, 7), DAY)
    with pytest.raises(UsageError, match="no cache_read price of gpt-5-pro"):
        cost("gpt-5-pro", {"cache_read_input_tokens": 7}, DAY)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Claude Sonnet 4.6", "claude-sonnet-4-6"),
        ("claude-opus-4.1", "claude-opus-4-1"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("anthropic/claude-opus-5", "claude-opus-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("GPT-5.5", "gpt-5.5"),
        ("openai/gpt-5.6-terra", "gpt-5.6-terra"),
        ("Opus 5", "claude-opus-5"),
        ("Claude Haiku 3.5", "claude-3-5-haiku-latest"),
        ("Gemini 3.1 Pro", "gemini-3.1-pro-preview"),
    ],
)
def test_models_are_named_as_users_name_them_and_told_as_found(name: str, model: str):
    assert cost(name, {"input_tokens": 1}, DAY).model == model


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("claude-opus-4-7-foo", "claude-opus-4-7"),
        ("claude-mythos-5", "claude-mythos-5-2"),
        ("gpt55", "gpt-5.5"),
        ("zebra", "no name is near it"),
        ("", "no name is near it"),
    ],
)
def test_an_unknown_model_is_an_error_that_lists_near_names(name: str, near: str):
    with pytest.raises(UsageError, match=f"knows no model '{name}'; .*{near}"):
        cost(name, {"input_tokens": 1}, DAY)


def test_a_day_that_is_none():
    with pytest.raises(UsageError, match="'yesterday' is no day"):
        cost("claude-opus-5", {"input_tokens": 1}, "yesterday")


def test_a_price_table_is_per_million_tokens_at_the_first_tier():
    haiku, gpt = price_table(["claude-haiku-5-5", "gpt-5.5"], DAY)
    assert (haiku.input, haiku.cache_write_1h, haiku.cache_read) == (0.1, 0.2, 0.01)
    assert haiku.tier == "up to 100,000 input tokens"
    assert (gpt.provider, gpt.cache_write_5m, gpt.cache_read) == ("openai", None, 0.5)


counts = st.integers(0, 400_000)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(CACHING), st.tuples(counts, counts, counts, counts, counts))
def test_the_total_is_what_genai_prices_says(model: str, parts: tuple[int, int, int, int, int]):
    plain, five, hour, read, output = parts
    usage = {"input_tokens": plain, "cache_read_input_tokens": read, "output_tokens": output}
    ours: Cost = cost(model, {**usage, **writes(five, hour)}, DAY)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=plain + five + hour + read,
            cache_write_tokens=five + hour,
            cache_write_1h_tokens=hour,
            cache_read_tokens=read,
            output_tokens=output,
        ),
        find(model)[1].id,
        provider_id="anthropic",
        genai_request_timestamp=datetime(2026, 11, 30, 12, tzinfo=UTC),
    )
    assert Decimal(str(ours.total)) == pytest.approx(theirs.total_price)
    assert ours.total == pytest.approx(
        ours.input + ours.cache_write_5m + ours.cache_write_1h + ours.cache_read + ours.output
    )
