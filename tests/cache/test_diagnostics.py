from __future__ import annotations

from typing import Any

from ctxlab.cache import PromptCache
from tests.cache.requests import (
    MARK,
    Clock,
    assistant,
    base,
    simulator,
    text,
    user,
)


def ask(cache: PromptCache, request: dict[str, Any], previous: str | None) -> dict[str, Any]:
    return cache.send({**request, "diagnostics": {"previous_message_id": previous}})


def test_diagnostics_are_stored_only_for_requests_that_ask():
    cache = simulator()
    silent = cache.send(base())["message_id"]
    told = ask(cache, base(), silent)["diagnostics"]
    assert told == {"cache_miss_reason": {"type": "previous_message_not_found"}}
    assert cache.send(base())["diagnostics"] is None


def test_the_earliest_divergence_alone_is_named_with_what_was_missed():
    cache = simulator()
    first = ask(cache, base(), None)["message_id"]
    changed = base(system=[text(300, "other", cache_control=MARK)], messages=[user(text(9))])
    told = ask(cache, changed, first)["diagnostics"]
    assert told == {
        "cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 400}
    }


def test_appending_is_no_change_and_expiry_is_none_either():
    clock = Clock()
    cache = simulator(clock)
    first = ask(cache, base(), None)["message_id"]
    clock.now += 4000
    longer = base(messages=[*base()["messages"], assistant("more")])
    usage = ask(cache, longer, first)
    assert (usage["diagnostics"], usage["cache_read_input_tokens"]) == (None, 0)
