from __future__ import annotations

from dataclasses import replace

import pytest

from ctxlab.sessions import Session
from ctxlab.sessions.context.cutting import large_results, result_text
from ctxlab.tokens import count
from tests.cache.requests import assistant, base, call, result, user
from tests.sessions.recorded import recorded
from tests.sessions.transcript import transcript

LARGE = "".join(f"line {number} of the output\n" for number in range(1000))


def test_what_our_wrapper_would_have_saved_once_and_with_every_later_request(tmp_path):
    (row,) = large_results(transcript(tmp_path, LARGE)).itertuples()
    assert (row.tool, row.id, row.request, row.chars) == ("Read", "toolu_1", 2, len(LARGE))
    assert row.tokens == count(LARGE)
    assert row.saved == row.tokens - row.kept
    assert row.kept < count(LARGE[:4000]) + 50
    assert (row.sent, row.saved_in_session) == (2, 2 * row.saved)
    # Written at 1.25 × 5 USD a million, then read at 0.1 × 5.
    assert row.usd_saved == pytest.approx(row.saved * 5 * (1.25 + 0.1) / 1e6)


def test_a_result_that_fits_is_none(tmp_path):
    assert len(large_results(transcript(tmp_path, "short"))) == 0


def test_after_a_compaction_it_is_sent_no_more(tmp_path):
    told = transcript(tmp_path, LARGE)
    *first, last = told.exchanges
    compacted = replace(last, compacted=True, usage={**last.usage, "cache_read_input_tokens": 100})
    (row,) = large_results(replace(told, exchanges=(*first, compacted))).itertuples()
    assert row.sent == 1


def test_a_model_switch_goes_on_sending_it(tmp_path):
    told = transcript(tmp_path, LARGE)
    *first, last = told.exchanges
    switched = replace(last, model="claude-sonnet-5", stream="main claude-sonnet-5", follows="main")
    (row,) = large_results(replace(told, exchanges=(*first, switched))).itertuples()
    assert row.sent == 2


def test_an_unknown_price_is_nan(tmp_path):
    told = transcript(tmp_path, LARGE)
    mine = tuple(replace(one, model="my-own") for one in told.exchanges)
    assert large_results(replace(told, exchanges=mine)).usd_saved.isna().all()


def test_bodies(tmp_path):
    long = {**result(1), "content": [{"type": "text", "text": LARGE}]}
    turns = [*base()["messages"], assistant(call(1)), user(long)]
    later = base(messages=[*turns, assistant("so"), user("on")])
    told = recorded(tmp_path, [(0, base()), (9, base(messages=turns)), (18, later), (27, later)])
    (row,) = large_results(told).itertuples()
    assert (row.tool, row.request, row.sent) == ("a", 2, 3)


def test_no_session_no_rows():
    assert len(large_results(Session("s", "requests", (), ()))) == 0


def test_texts_of_results():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, "odd", {"text": 3}, {"text": "b"}]
    assert result_text({"content": parts}) == "a\nb"
    assert result_text({"content": "plain"}) == "plain"
    assert result_text({"content": None}) == ""
