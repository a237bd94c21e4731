from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.cache import PromptCache
from ctxlab.sessions import audited
from ctxlab.sessions.auditing.variants import AS_IT_WAS, HOUR, UNBROKEN, UNCACHED, replay, what_if
from tests.cache.requests import HOUR as HOURLY
from tests.cache.requests import Clock, assistant, base, one_marker, text, user
from tests.sessions.recorded import recorded, session, used


def usd(table):
    return table.set_index("variant").usd


STEADY = (used(write=10_000, output=5), *(used(10_000, at=60.0 * n, output=5) for n in (1, 2, 3)))


def test_a_session_without_a_break_avoids_nothing():
    told = usd(what_if(session(*STEADY)))
    assert told[UNBROKEN] == told[AS_IT_WAS]


def test_as_it_was_is_the_sum_of_what_each_request_cost():
    rows = audited(session(*STEADY))
    assert usd(what_if(session(*STEADY)))[AS_IT_WAS] == pytest.approx(sum(r.usd for r in rows))


def test_a_well_cached_session_costs_more_uncached_and_one_that_only_writes_less():
    told = usd(what_if(session(*STEADY)))
    assert told[UNCACHED] > told[AS_IT_WAS]
    told = usd(what_if(session(used(write=10_000), used(write=10_000, at=400))))
    assert told[UNCACHED] < told[AS_IT_WAS]


def test_every_break_avoided_saves_what_the_breaks_lost():
    broken = session(used(write=10_000), used(write=10_500, at=100), used(write=11_000, at=500))
    rows, told = audited(broken), usd(what_if(broken))
    assert sum(row.broke for row in rows) == 2
    assert told[AS_IT_WAS] - told[UNBROKEN] == pytest.approx(sum(row.usd_lost for row in rows))


def test_an_hour_avoids_what_expired_within_it_and_pays_more_for_each_write():
    paused = session(used(write=10_000), used(write=10_500, at=400))
    table = what_if(paused).set_index("variant")
    hour = table.loc[HOUR]
    assert (hour["read"], hour.written_5m, hour.written_1h) == (10_000, 0, 10_500)
    assert hour.usd == pytest.approx((10_500 * 2 + 10_000 * 0.1) * 5 / 1e6)
    assert usd(what_if(session(*STEADY)))[HOUR] > usd(what_if(session(*STEADY)))[AS_IT_WAS]
    late = what_if(session(used(write=10_000), used(write=10_500, at=4000))).set_index("variant")
    assert late.loc[HOUR, "read"] == 0


def test_only_what_was_is_recorded():
    table = what_if(session(*STEADY))
    assert table.basis.to_list() == ["recorded", "simulated", "simulated", "simulated"]


def test_what_has_no_price_is_left_out_everywhere_and_said():
    table = what_if(session(*STEADY, used(write=5, model="my-own", stream="x")))
    assert set(table.unpriced) == {1}
    assert usd(table)[AS_IT_WAS] == usd(what_if(session(*STEADY)))[AS_IT_WAS]


def test_a_model_without_a_price_of_an_hour_s_write():
    told = usd(what_if(session(used(write=500, model="gpt-5.6"), used(500, at=9, model="gpt-5.6"))))
    assert told[AS_IT_WAS] == told[AS_IT_WAS]
    assert told[HOUR] != told[HOUR]


def test_no_requests():
    assert usd(what_if(session()))[AS_IT_WAS] == 0
    assert len(replay(session())) == 0


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 9000), st.integers(0, 9000), st.integers(0, 900), st.floats(0, 5000)
        ),
        max_size=12,
    )
)
def test_identities(requests):
    at, exchanges = 0.0, []
    for read, written, uncached, gap in requests:
        at += gap
        exchanges.append(used(read, written, uncached, at))
    told = usd(what_if(session(*exchanges)))
    assert told[UNBROKEN] <= told[AS_IT_WAS] + 1e-12
    inputs = what_if(session(*exchanges))[["read", "written_5m", "written_1h", "uncached"]]
    assert inputs.sum(axis=1).nunique() == 1


def talk(turns):
    """A conversation large enough for the real minimum, in the simulator's own estimates."""
    messages, bodies = [], []
    for number in range(turns):
        messages = [*messages, user(f"question {number} " + "word " * 300)]
        bodies.append(one_marker(messages=list(messages), cache_control={"type": "ephemeral"}))
        messages = [*messages, assistant(f"answer {number}")]
    return bodies


def plain(body):
    tools = [{k: v for k, v in one.items() if k != "cache_control"} for one in body["tools"]]
    return {**body, "tools": tools}


def test_a_replay_agrees_with_the_recomputation(tmp_path):
    clock = Clock()
    times = [0, 60, 120, 520, 580]
    bodies = list(zip(times, map(plain, talk(5)), strict=True))
    told = recorded(tmp_path, bodies, PromptCache(clock=clock), clock=clock)
    assert [row.cause for row in audited(told)] == ["", "", "", "TTL expired", ""]
    computed, replayed = what_if(told), replay(told)
    columns = ["variant", "read", "written_5m", "written_1h", "uncached"]
    assert computed.iloc[:3][columns].to_dict("list") == replayed[columns].to_dict("list")
    assert replayed.usd.to_list() == pytest.approx(computed.usd[:3].to_list())
    assert set(replayed.basis) == {"simulated"}


def test_nothing_is_replayed_where_a_body_is_missing(tmp_path):
    assert len(replay(recorded(tmp_path, [(0, base())], with_bodies=False))) == 0
    refused = base(system=[text(300, cache_control=HOURLY)])
    told = recorded(tmp_path, [(0, base())])
    (tmp_path / "log.jsonl").write_bytes(
        orjson.dumps({"request": refused}).ljust(told.exchanges[0].lines[0].length)
    )
    assert len(replay(told)) == 0
