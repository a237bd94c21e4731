from __future__ import annotations

from typing import Any

import pytest

from ctxlab import tokens
from ctxlab.cache import PromptCache
from ctxlab.errors import InputError, UsageError
from tests.cache.requests import (
    MARK,
    MODEL,
    base,
    call,
    figures,
    simulator,
    size,
    text,
    user,
)

# ── counting ──


def test_without_a_counter_tools_bring_their_prompt():
    request = base(model=MODEL)
    words = tokens.count("300 rules") + tokens.count("100 question")
    total = sum(figures(PromptCache().send(request)))
    plain = sum(figures(PromptCache({"tool_prompt_tokens": (0, 0)}).send(request)))
    assert total - plain == 286
    assert plain > words
    assert sum(figures(PromptCache().send({**request, "tools": []}))) == words


def test_a_forced_call_makes_the_prompt_longer_and_keeps_tools_and_system():
    cache = PromptCache({"minimum_tokens": 1})
    before = cache.send(base())
    forced = cache.send(base(tool_choice={"type": "any"}))
    assert sum(figures(forced)) - sum(figures(before)) == 406 - 286
    assert forced["cache_read_input_tokens"] > 286


def test_equal_blocks_are_counted_once():
    counted = []
    cache = PromptCache({"minimum_tokens": 1}, count=lambda block: counted.append(block) or 1)
    for _ in range(3):
        cache.send(base())
    cache.send(base(messages=[user(text(100, "question"), text(100, "question"))]))
    assert len(counted) == 4
    assert all("cache_control" not in block for block in counted)


@pytest.mark.parametrize("answer", [-1, 1.5, None, True])
def test_a_counter_that_answers_no_number(answer: Any):
    with pytest.raises(UsageError, match="count answered"):
        PromptCache({"minimum_tokens": 1}, count=lambda _: answer).send(base())


def test_the_minimum_of_the_model_holds():
    short, long = (
        {"model": MODEL, "cache_control": MARK, "messages": [user(text(size))]}
        for size in (511, 512)
    )
    cache = PromptCache(count=size)
    assert figures(cache.send(short)) == (0, 0, 511)
    assert figures(cache.send(long)) == (0, 512, 0)


# ── what is no JSON ──


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ("/tools/0/description", float("nan"), "nan is not a JSON number"),
        ("/tools/0/description", {"a"}, "set"),
        ("/tools/0/description", "\ud800", "surrogate"),
        ("/messages/0/content/0/text", "\ud800", "surrogate"),
        ("/tools/0/input_schema/properties/x/default", float("inf"), "inf is not a JSON number"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_place(place: str, value: Any, told: str):
    request: Any = base()
    steps = [int(step) if step.isdigit() else step for step in place.split("/")[1:]]
    target = request
    for step in steps[:-1]:
        target = target[step]
    target[steps[-1]] = value
    with pytest.raises(InputError, match=told) as refused:
        simulator().send(request)
    assert place in str(refused.value)


def test_numbers_over_64_bits_are_json():
    request = base()
    request["tools"][0]["input_schema"]["properties"]["x"]["maximum"] = 2**70
    assert figures(simulator().send(request)) == (0, 800, 0)


def test_numbers_over_64_bits_are_counted():
    PromptCache().send(base(messages=[user(call(1, input={"n": 2**70}))]))
