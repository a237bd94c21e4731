from __future__ import annotations

from typing import Any

import pytest

from ctxlab.cache import InvalidRequest
from ctxlab.errors import UsageError
from tests.cache.requests import (
    HOUR,
    MARK,
    MODEL,
    assistant,
    base,
    figures,
    simulator,
    text,
    tool,
    user,
)

# ── automatic breakpoints ──


def test_automatic_marks_the_last_block_and_moves_along():
    cache = simulator()
    request = {"model": MODEL, "cache_control": MARK, "messages": [user(text(100))]}
    assert figures(cache.send(request)) == (0, 100, 0)
    request["messages"] += [assistant(text(50)), user(text(30))]
    assert figures(cache.send(request)) == (100, 80, 0)


def test_automatic_walks_back_from_what_cannot_be_marked():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    request = {
        "model": MODEL,
        "cache_control": MARK,
        "messages": [user(text(100)), assistant(thinking)],
    }
    assert figures(simulator().send(request)) == (0, 100, 10)
    nothing = {"model": MODEL, "cache_control": MARK, "messages": [assistant(thinking)]}
    assert figures(simulator().send(nothing)) == (0, 0, 10)


def test_automatic_beside_a_marker_of_the_same_block():
    four = base(tools=[tool("a", cache_control=MARK), tool("b", cache_control=MARK)])
    assert figures(simulator().send({**four, "cache_control": MARK})) == (0, 800, 0)
    with pytest.raises(InvalidRequest, match="ttl '1h' differs from the last block's own '5m'"):
        simulator().send({**base(), "cache_control": HOUR})


def test_automatic_is_one_of_the_four():
    four = base(tools=[tool("a", cache_control=MARK), tool("b", cache_control=MARK)])
    four["messages"] += [assistant("and")]
    with pytest.raises(InvalidRequest, match="Found 5"):
        simulator().send({**four, "cache_control": MARK})


# ── layouts ──


def test_a_layout_can_be_sent_again_and_forks():
    cache = simulator()
    layout = cache.lay_out({**base(), "cache_control": MARK})
    left, right = (layout.append([assistant(text(50, side))]) for side in ("left", "right"))
    assert figures(cache.send(layout)) == (0, 800, 0)
    assert figures(cache.send(left)) == (800, 50, 0)
    assert figures(cache.send(right)) == (800, 50, 0)
    assert figures(cache.send(left)) == (850, 0, 0)
    assert (layout.total, left.total) == (800, 850)


def test_a_layout_under_other_tools():
    cache = simulator()
    layout = cache.lay_out(base())
    assert figures(cache.send(layout)) == (0, 800, 0)
    other = layout.with_head(base(tools=[*base()["tools"], tool("c")]))
    assert figures(cache.send(other)) == (400, 600, 0)
    assert figures(cache.send(other.with_head(base()))) == (800, 0, 0)


def test_a_layout_without_the_markers_of_its_messages():
    cache = simulator()
    layout = cache.lay_out(base()).without_message_markers()
    assert figures(cache.send(layout)) == (0, 700, 100)
    marked = layout.append([assistant(text(50, cache_control=MARK))])
    assert figures(cache.send(marked)) == (700, 150, 0)


def change(kind: str, **tool: Any) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": kind, "tool": tool}]}


def named(name: str) -> dict[str, Any]:
    return {"type": "tool_reference", "name": name}


def test_what_a_layout_refuses():
    layout = simulator().lay_out(base())
    with pytest.raises(UsageError, match="clear_at"):
        layout.append([{"role": "system", "content": "x", "clear_at": "next_user_message"}])
    changed = layout.append([change("tool_removal", **named("a"))])
    with pytest.raises(UsageError, match="laid out with their whole request"):
        changed.with_head(base())
    with pytest.raises(InvalidRequest, match=r"messages\.1\.role"):
        layout.append([{"role": "tool", "content": "x"}])
