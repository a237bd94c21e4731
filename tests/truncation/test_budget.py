from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from ctxlab import project
from ctxlab.errors import BudgetExceeded, UsageError
from ctxlab.truncation import DEFAULT_BUDGETS, TokenBudget, dynamic_limit


def test_the_default_routes_add_up_to_what_the_document_says():
    claims = yaml.safe_load((project.data_dir() / "claims.yaml").read_text())["claims"]
    [claim] = [claim for claim in claims if claim["id"] == "res-budget"]
    assert sum(DEFAULT_BUDGETS.values()) == claim["value"]
    assert len(DEFAULT_BUDGETS) == 6


def test_an_excess_is_told_and_not_counted():
    budget = TokenBudget()
    budget.consume("history", 59_000)
    with pytest.raises(BudgetExceeded) as told:
        budget.consume("history", 1_500)
    assert told.value.overflows == {"history": 500}
    assert budget.remaining("history") == 1_000
    budget.consume("history", 1_000)
    assert budget.remaining("history") == 0


def test_a_check_tells_every_route_and_counts_nothing():
    budget = TokenBudget({"a": 10, "b": 20, "c": 0})
    assert budget.check(a=11, b=20, c=5) == {"a": 1, "c": 5}
    assert budget.check() == {}
    assert [budget.remaining(route) for route in "abc"] == [10, 20, 0]


def test_what_left_the_context_is_given_back():
    budget = TokenBudget({"history": 10})
    budget.consume("history", 10)
    budget.release("history", 6)
    assert budget.remaining("history") == 6
    with pytest.raises(UsageError, match="cannot release 5 tokens, 4 are in use"):
        budget.release("history", 5)


def test_an_unknown_route_is_an_error():
    budget = TokenBudget({"a": 10})
    told = "no route 'b' in the token budget; there are a"
    with pytest.raises(UsageError, match=told):
        budget.consume("b", 1)
    with pytest.raises(UsageError, match=told):
        budget.remaining("b")
    with pytest.raises(UsageError, match=told):
        budget.check(b=1)


@pytest.mark.parametrize("tokens", [-1, 1.5, True, None, "9"])
def test_tokens_are_whole_numbers(tokens):
    budget = TokenBudget({"a": 10})
    with pytest.raises(UsageError, match="whole number of at least 0"):
        budget.consume("a", tokens)
    with pytest.raises(UsageError, match="whole number of at least 0"):
        budget.check(a=tokens)
    with pytest.raises(UsageError, match="the limit of a must be"):
        TokenBudget({"a": tokens})
    assert budget.remaining("a") == 10


def test_a_budget_without_routes_is_refused():
    with pytest.raises(UsageError, match="at least one route"):
        TokenBudget({})


def test_threads_never_take_more_than_there_is():
    budget = TokenBudget({"a": 1_000})

    def take(_: int) -> int:
        try:
            budget.consume("a", 7)
        except BudgetExceeded:
            return 0
        return 7

    with ThreadPoolExecutor(16) as pool:
        taken = sum(pool.map(take, range(500)))
    assert taken == 994
    assert budget.remaining("a") == 6


def test_a_dynamic_limit_is_a_share_of_what_remains():
    assert [dynamic_limit(n) for n in (16_000, 10, 1, 0, -5)] == [4_800, 3, 0, 0, 0]
    assert dynamic_limit(100, 0.29) == 29
    assert dynamic_limit(100, 1) == 100
    for share in (0, -0.1, 1.1, True):
        with pytest.raises(UsageError, match="share must be above 0"):
            dynamic_limit(100, share)
