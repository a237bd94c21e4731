from __future__ import annotations

import math

import pandas as pd
import pytest

from ctxlab.experiments import ledger
from ctxlab.experiments.claims import DOCUMENTS, Claim, MeasuredIn, load_claims
from ctxlab.experiments.verdicts import VERDICTS

ROWS = pd.DataFrame({"name": ["a", "b", "c"], "n": [5.0, 4.0, 0.0], "word": ["x", "y", "z"]})
TABLES = {"run": {"rows": ROWS}}


def claim(value, column="n", kind="exact", note="why", document="tool-design", **select):
    place = MeasuredIn("run", "rows", column, select)
    return Claim("id", document, kind, "words", value, note=note, measured_in=place)


def one(claim, tables=TABLES):
    (row,) = ledger.table([claim], tables).to_dict("records")
    return row


def ratios(claim, tables=TABLES):
    return ledger.ratios([claim], tables)[["name", "ratio", "told"]].to_numpy().tolist()


def test_no_claim_is_left_out_whatever_has_run():
    known = load_claims()
    for tables in ({}, {"grep_tokens": {}}, TABLES):
        found = ledger.table(known, tables)
        assert sorted(found["id"]) == sorted(claim.id for claim in known)
        assert list(found.columns) == ledger.COLUMNS
        assert set(found["verdict"]) <= set(VERDICTS)
        assert not found[found["verdict"].isin(["open", "live"])]["why"].eq("").any()


def test_documents_stand_together_in_their_order():
    found = ledger.table(load_claims(), {})["document"]
    assert list(found.drop_duplicates()) == list(DOCUMENTS)
    assert list(found) == sorted(found, key=DOCUMENTS.index)


def test_an_entry_without_a_run_is_said_so():
    row = one(claim(5, name="a"), {})
    assert (row["verdict"], row["measured"], row["why"]) == ("open", "", "no run of run yet; why")
    assert row["measured_in"] == "run · rows"


def test_nobody_measures_a_claim_without_a_place():
    row = one(Claim("id", "tool-design", "external", "words", 75))
    assert (row["verdict"], row["why"]) == ("open", "no experiment has measured it")


@pytest.mark.parametrize(
    ("asked", "verdict", "why"),
    [
        (claim(5, name="a"), "reproduced", "why"),
        (claim(6, name="a"), "differs", "stated 6, measured 5: why"),
        (claim(6, name="a", note=""), "differs", "stated 6, measured 5"),
        (claim({"a": 5, "b": 3}, name="$key"), "differs", "b: 3, measured 4: why"),
        (claim(6, name="a", kind="direction"), "direction", "stated 6, measured 5: why"),
        (claim(None, name="a", kind="direction"), "direction", "why"),
        (claim(9, name="a", kind="external", note=""), "external", ledger.MEANINGS["external"]),
    ],
)
def test_what_is_not_reproduced_says_why(asked, verdict, why):
    row = one(asked)
    assert (row["verdict"], row["why"]) == (verdict, why)


def test_many_values_that_are_as_stated_are_not_written_twice():
    many = pd.DataFrame({"name": list("abcdef"), "n": range(6)})
    asked = claim({name: n for n, name in enumerate("abcdef")}, name="$key")
    assert one(asked, {"run": {"rows": many}})["measured"] == "all 6 as stated"


def test_ratios_are_measured_over_stated_a_row_for_each_value():
    assert ratios(claim(2, name="b")) == [["", 2.0, ""]]
    assert ratios(claim({"a": 10, "b": 4}, name="$key")) == [["a", 0.5, ""], ["b", 1.0, ""]]
    assert ratios(claim([10, 2, 0])) == [["", 0.5, ""], ["", 2.0, ""], ["", 1.0, ""]]
    assert ratios(claim(4, name="c")) == [["", 0.0, ""]]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (claim("x", "word", name="a"), "as stated"),
        (claim("q", "word", name="a"), "differs"),
        (claim("q", "word", name="a", kind="external"), "on other inputs"),
        (claim(-5, name="a"), "differs"),
        (claim(0, name="a"), "differs"),
        (claim(5, name="q"), "not measured"),
        (claim(None, name="a", kind="direction"), "it holds"),
    ],
)
def test_where_no_ratio_says_anything_words_do(asked, told):
    ((_, ratio, words),) = ratios(asked)
    assert math.isnan(ratio)
    assert words == told


def test_the_conclusion_counts_and_names_what_differs_and_what_is_open():
    told = ledger.conclusion(ledger.table([claim(5, name="a"), claim(6, name="a")], TABLES))
    assert told.startswith("2 claims: **1** reproduced, **1** different.")
    assert "- words (`tool-design`): stated 6, measured 5: why" in told
    assert "What nobody measured yet" not in told


def test_every_entry_that_claims_are_measured_in_is_named_once():
    known = load_claims()
    named = ledger.experiments(known)
    assert len(set(named)) == len(named)
    assert set(named) == {each.measured_in.experiment for each in known if each.measured_in}
