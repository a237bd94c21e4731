from __future__ import annotations

from typing import Any

import pytest

from tests.cache.requests import (
    MARK,
    assistant,
    base,
    figures,
    one_marker,
    reads,
    result,
    simulator,
    text,
    tool,
    user,
)


def changed(**changes: Any) -> tuple[int, int, int]:
    cache = simulator()
    cache.send(base())
    return figures(cache.send(base(**changes)))


WEB = {"type": "web_search_20260318", "name": "web_search"}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "x"},
    "citations": {"enabled": True},
}


def behind(block: dict[str, Any]) -> list[dict[str, Any]]:
    return [*base()["messages"], assistant("and"), user(block)]


@pytest.mark.parametrize(
    ("changes", "read"),
    [
        ({"tools": [*base()["tools"], WEB]}, 400),
        ({"speed": "fast"}, 400),
        ({"messages": behind(DOCUMENT)}, 400),
        ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, 700),
        ({"messages": behind(IMAGE)}, 700),
        ({"messages": behind(result(1, content=[IMAGE]))}, 700),
        ({"thinking": {"type": "adaptive"}}, 700),
        ({"tool_choice": {"type": "auto"}}, 800),
        ({"thinking": {"type": "disabled"}, "speed": "standard"}, 800),
        ({"max_tokens": 99, "metadata": {"user_id": "u"}, "stop_sequences": ["x"]}, 800),
    ],
)
def test_parameters(changes: dict[str, Any], read: int):
    assert changed(**changes)[0] == read


@pytest.mark.parametrize(("segment", "read"), [("messages", 700), ("system", 400), ("tools", 0)])
def test_what_thinking_loses_is_a_switch(segment: str, read: int):
    cache = simulator(thinking_first_lost=segment)
    cache.send(base())
    assert reads(cache, base(thinking={"type": "adaptive"})) == read


@pytest.mark.parametrize(("survive", "read"), [(True, 400), (False, 0)])
def test_whether_a_marked_core_survives_its_tail_is_a_switch(survive: bool, read: int):
    cache = simulator(tool_entries_survive_later_changes=survive)
    cache.send(base())
    assert reads(cache, base(tools=[*base()["tools"], tool("tail")])) == read


def test_what_does_not_count():
    cache = simulator()
    cache.send(base(system=[text(300, "rules", cache_control=MARK)]))
    same = base(
        system=[{"text": "300 rules", "cache_control": MARK, "type": "text", "citations": None}]
    )
    assert reads(cache, same) == 800
    split = base(messages=[{"role": "user", "content": "100 question"}])
    assert reads(cache, split) == 700
    assert reads(cache, {**split, "cache_control": MARK}) == 800


def test_turns_of_one_role_merge():
    cache = simulator()
    cache.send(one_marker(messages=[user(text(50, "a"), text(50, "b", cache_control=MARK))]))
    merged = [user(text(50, "a")), user(text(50, "b", cache_control=MARK))]
    assert reads(cache, one_marker(messages=merged)) == 800


def test_the_role_counts():
    cache = simulator()
    cache.send(one_marker())
    assert (
        reads(cache, one_marker(messages=[assistant(text(100, "question", cache_control=MARK))]))
        == 0
    )


def test_caches_are_per_model_and_not_per_name():
    cache = simulator()
    cache.send(base(model="claude-opus-4-5"))
    assert reads(cache, base(model="claude-opus-4-5-20251101")) == 800
    assert reads(cache, base(model="claude-opus-4-6")) == 0


def test_fast_mode_is_told_in_the_usage_so_that_it_is_priced():
    assert simulator().send(base(speed="fast"))["speed"] == "fast"
    assert "speed" not in simulator().send(base(speed="standard"))
