from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from ctxlab.cache import InvalidRequest, PromptCache, Rules, rules_for, switches
from ctxlab.cache.rules import known_models, table
from ctxlab.errors import UsageError
from ctxlab.prices.models import find
from tests.conftest import REPOSITORY


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5", 512),
        ("claude-sonnet-4-5-20250929", 1024),
        ("claude-opus-4.7", 2048),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 4096),
        ("claude-3-5-haiku-latest", 2048),
        ("claude-opus-4", 1024),
    ],
)
def test_minimums_by_model_however_it_is_written(model: str, minimum: int):
    assert rules_for(model).minimum_tokens == minimum


def test_every_row_has_its_source_and_its_basis():
    rows = [row for part in table().values() if isinstance(part, list) for row in part]
    assert len(rows) > 30
    assert all(row["source"] for row in rows)
    assert {row["basis"] for row in rows} <= {"vendor", "measured", "assumed"}


def test_a_model_stands_once_in_each_table():
    models = known_models()
    assert len(models) == len(set(models))
    prompts = [model for row in table()["tool_prompt"] for model in row["models"]]
    assert set(prompts) <= set(models)


def test_a_model_that_is_unknown_is_a_404_unless_its_minimum_is_given():
    with pytest.raises(InvalidRequest, match="near names: claude-opus-5") as refused:
        rules_for("claude-opus-55")
    assert refused.value.status == 404
    rules = rules_for("claude-opus-55", {"minimum_tokens": 100})
    assert (rules.minimum_tokens, rules.system_messages, rules.forced_tool_choice) == (
        100,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"minimum_token": 5}, "did you mean minimum_tokens"),
        ({"colour": 5}, "rules are minimum_tokens"),
        ({"lookback_into_tools": "maybe"}, "is one of 'per_tool', 'one_position', 'never'"),
    ],
)
def test_wrong_overrides_fail_when_the_cache_is_made(overrides: dict[str, Any], told: str):
    with pytest.raises(UsageError, match=told):
        PromptCache(overrides)


def test_overrides_of_lifetimes():
    rules = rules_for("claude-opus-5", {"ttl_seconds": {"5m": 60, "1h": 3600}})
    assert rules.ttl_seconds["5m"] == 60


def test_switches_have_a_default_among_their_values():
    known = switches()
    assert set(known) == {
        "tool_entries_survive_later_changes",
        "lookback_into_tools",
        "thinking_first_lost",
    }
    assert all(switch.values[0] == switch.default for switch in known.values())
    assert known["tool_entries_survive_later_changes"].default is True


def test_models_with_rules_have_prices_or_are_too_new_for_them():
    unpriced = []
    for model in known_models():
        try:
            find(model)
        except UsageError:
            unpriced.append(model)
    assert set(unpriced) <= {"claude-mythos-5", "claude-mythos-5-1", "claude-mythos-preview"}


def test_the_page_about_the_rules_lists_every_switch_and_every_rule():
    page = (REPOSITORY / "docs" / "cache-rules.md").read_text()
    for name, switch in switches().items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}`")]
        assert all(f"`{value}`" in row for value in switch.values)
    assert all(f"`{field.name}`" in page for field in fields(Rules))
