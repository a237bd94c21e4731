from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxlab.errors import UsageError
from ctxlab.sessions import tool_operations

DOCUMENT = {"turns": 40, "adds": 10, "drops": 12, "swaps": 9}


def kinds(session):
    return Counter(operation.kind for operation in session)


def test_the_document_s_forty_turns():
    session = tool_operations(**DOCUMENT, seed=0)
    assert len(session) == 40
    assert kinds(session) == {"add": 10, "drop": 12, "swap": 9, "none": 9}
    assert len(session.start) == 6
    assert session.pool == 10
    assert len(session[-1].tail) == 4


def test_seeds_differ_and_one_seed_is_one_session():
    sessions = [tool_operations(**DOCUMENT, seed=seed) for seed in range(20)]
    assert len(set(sessions)) == 20
    assert sessions[3] == tool_operations(**DOCUMENT, seed=3)


def test_a_session_is_the_same_in_every_process_and_version():
    code = (
        "from ctxlab.sessions import tool_operations as t\n"
        "s = t(40, 10, 12, 9, 7)\n"
        "print(s.start, ''.join(o.kind[0] for o in s), s[-1].tail)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == PINNED


PINNED = "(3, 1, 7, 0, 6, 4) aaadasdadandsadssndsdandansnsnndasdnddsn (6, 4, 9, 5)"


@st.composite
def arguments(draw):
    counts = [draw(st.integers(0, 8)) for _ in range(3)]
    pool = draw(st.integers(0, 8))
    return {
        "turns": sum(counts) + draw(st.integers(0, 5)),
        "adds": counts[0],
        "drops": counts[1],
        "swaps": counts[2],
        "seed": draw(st.integers(0, 2**64)),
        "pool": pool,
        "start": draw(st.integers(0, pool)),
    }


@given(arguments())
def test_only_what_no_order_makes_possible_is_refused(asked):
    if is_impossible(asked):
        with pytest.raises(UsageError, match="cannot be done in any order"):
            tool_operations(**asked)
    else:
        assert len(tool_operations(**asked)) == asked["turns"]


@given(arguments())
def test_a_session_does_what_was_asked_for_and_nothing_else(asked):
    assume(not is_impossible(asked))
    session = tool_operations(**asked)
    assert [operation.turn for operation in session] == list(range(1, asked["turns"] + 1))
    wanted = {"add": asked["adds"], "drop": asked["drops"], "swap": asked["swaps"]}
    assert {kind: kinds(session)[kind] for kind in wanted} == wanted
    tail = session.start
    for operation in session:
        assert operation.tail == replayed(tail, operation)
        tail = operation.tail
        assert len(set(tail)) == len(tail)
        assert set(tail) <= set(range(asked["pool"]))


def replayed(tail, operation):
    """The tail again, from what the operation says it did."""
    match operation.kind:
        case "none":
            assert operation.added is operation.dropped is None
            return tail
        case "add":
            assert operation.added not in tail
            return (*tail, operation.added)
        case "drop":
            return tuple(tool for tool in tail if tool != operation.dropped)
        case "swap":
            assert operation.added not in tail
            assert operation.dropped in tail
            swapped = {operation.dropped: operation.added}
            return tuple(swapped.get(tool, tool) for tool in tail)


def is_impossible(asked):
    """By trying every order of what is left, remembering sizes already tried."""
    seen = set()

    def reachable(size, adds, drops, swaps):
        state = (size, adds, drops, swaps)
        if state in seen:
            return False
        seen.add(state)
        inside, outside = size > 0, size < asked["pool"]
        return (
            adds == drops == swaps == 0
            or (adds > 0 and outside and reachable(size + 1, adds - 1, drops, swaps))
            or (drops > 0 and inside and reachable(size - 1, adds, drops - 1, swaps))
            or (swaps > 0 and inside and outside and reachable(size, adds, drops, swaps - 1))
        )

    return not reachable(asked["start"], asked["adds"], asked["drops"], asked["swaps"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turns": 30}, "10 adds, 12 drops and 9 swaps do not fit into 30 turns"),
        ({"turns": -1}, "cannot be negative"),
        ({"adds": -1}, "cannot be negative"),
        ({"start": 11}, "a tail cannot start with 11 tools of a pool of 10"),
        ({"drops": 17, "turns": 60}, "cannot be done in any order: the tail starts with 6 tools"),
        ({"adds": 17, "drops": 0}, "cannot be done in any order"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change, message):
    with pytest.raises(UsageError) as caught:
        tool_operations(**{**DOCUMENT, "seed": 0, **change})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_operation_is_as_likely_at_every_turn_where_nothing_stands_in_the_way():
    first = Counter(
        tool_operations(40, 10, 10, 10, seed, start=20, pool=40)[0].kind for seed in range(1000)
    )
    assert all(abs(count - 250) < 60 for count in first.values())
