from __future__ import annotations

import json

import pandas as pd
import pytest

from ctxlab import project, tokens
from ctxlab.errors import InputError
from ctxlab.experiments import result_truncation, truncation_budget, truncation_policies
from ctxlab.experiments.claims import check, load_claims
from ctxlab.experiments.intact import intact, kept_units, units
from ctxlab.experiments.made_history import git_log
from ctxlab.experiments.made_log import FAILURES, service_log
from ctxlab.experiments.planting import NEEDLE, planted
from ctxlab.experiments.tool_outputs import Output, make_outputs, read_outputs
from ctxlab.truncation.kinds import recognise
from tests.truncation.strategies import log, markdown, records

OUTPUTS = [
    Output("a.json", json.dumps({"items": records(400), "next": "p2"})),
    Output("b.log", log(700, errors=(300,))),
    Output("c.csv", pd.DataFrame(records(300)).to_csv(index=False, lineterminator="\n")),
    Output("d.md", markdown(80)),
]


@pytest.fixture(scope="module")
def cuts():
    return result_truncation.cuts(OUTPUTS, [500, 2_000])


def test_cuts_at_boundaries_are_valid_and_come_back(cuts):
    ours = cuts[cuts["cut"] == "boundary"]
    assert len(ours) == 8
    assert ours["valid"].all()
    assert ours["restored"].all()
    assert (ours["tokens"] <= ours["limit"]).all()
    assert (ours["calls"] > 0).all()
    assert ours["notice_tokens"].between(100, 300).all()
    assert (ours["units"] < ours["units_of"]).all()


def test_naive_cuts_break_what_they_cut_and_lose_the_error(cuts):
    naive = cuts[cuts["cut"] == "naive"]
    assert naive["valid"].mean() < 0.5
    assert not naive["restored"].any()
    assert naive["calls"].isna().all()
    errors = cuts[(cuts["output"] == "b.log") & (cuts["limit"] == 2_000)].set_index("cut")
    assert errors.loc["naive", "error_lines"] == 0
    assert errors.loc["boundary", "error_lines"] == errors.loc["boundary", "error_lines_of"] == 2


def test_equal_inputs_give_equal_tables(cuts):
    pd.testing.assert_frame_equal(cuts, result_truncation.cuts(OUTPUTS, [500, 2_000]))
    first, second = (truncation_budget.session(OUTPUTS, turns=9) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_what_fits_is_no_cut():
    assert result_truncation.cuts([Output("a.txt", "short")], [500]).empty


def test_the_documents_figures_are_reproduced(cuts):
    table = result_truncation.figures(cuts, OUTPUTS, (40_000, 245_678))
    compared = check("result_truncation", {"figures": table}, load_claims())
    assert compared["verdict"].tolist() == ["reproduced"] * 3


@pytest.mark.parametrize(
    ("text", "kind", "whole", "good"),
    [
        ("[1, 2]", "json", "", True),
        ("[1, 2", "json", "", False),
        ('{"a": 1}\n{"a": 2}\n', "ndjson", "", True),
        ('{"a": 1}\n{"a"', "ndjson", "", False),
        ("a,b\n1,2\n", "csv", "", True),
        ("a,b\n1\n", "csv", "", False),
        ("# A\n\n```\nx\n```\n", "markdown", "", True),
        ("# A\n\n```\nx\n", "markdown", "", False),
        ("def f():\n    return 1\n", "code", "", True),
        ("def f():\n    return (1\n", "code", "", False),
        ("@@ -1,2 +1 @@\n-a\n-b\n+c\n", "diff", "", True),
        ("@@ -1,2 +1 @@\n-a\n", "diff", "", False),
        ("one\n", "log", "one\ntwo\n", True),
        ("one\ntw", "log", "one\ntwo\n", False),
        ("one wo", "plain", "one word", True),
        ("a\ufffd", "plain", "", False),
        ("[1, 2", "json", "[1, 2, 3", True),
    ],
)
def test_what_is_intact(text, kind, whole, good):
    assert intact(text, kind, whole) is good


def test_units_are_those_of_the_largest_part():
    name, spans = units(OUTPUTS[0].text, "json")
    assert (name, len(spans)) == ("array elements", 400)
    assert kept_units(spans, [(spans[5][0], spans[-1][1])]) == 5
    assert units("a,b\n1,2\n", "csv") == ("rows", [(4, 8)])
    assert units("one line", "plain")[0] == "characters"


@pytest.mark.parametrize("position", [0, 33, 100])
@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output.name)
def test_a_needle_is_one_more_unit_of_the_same_kind(output, position):
    kind = recognise(output.text)
    text = planted(output.text, kind, position)
    assert text.count(NEEDLE) == 1
    assert recognise(text) == kind
    assert len(units(text, kind)[1]) == len(units(output.text, kind)[1]) + 1
    assert intact(text, kind, "" if kind != "log" else text)
    if position != 33:
        at = text.index(NEEDLE) / len(text)
        assert (at < 0.1) == (position == 0)


def test_policies_with_a_store_find_every_needle_and_the_others_do_not():
    table = truncation_policies.needles(OUTPUTS, 1_000, [0, 50, 100])
    prices = truncation_policies.prices(table).set_index("policy")
    way_back = truncation_policies.policies().set_index("policy")["way_back"]
    assert (prices.loc[way_back, "recovered"] == 100).all()
    assert (prices.loc[~way_back, "recovered"] < 100).all()
    assert prices.loc["all to the store", "in_context"] == 0
    assert (table["context_tokens"] <= 1_000).all()
    heads = truncation_policies.survival(table).set_index(["policy", "position"])["in_context"]
    assert heads["head, any place", 0] == 100
    assert heads["head, any place", 100] == 0
    assert heads["20 % head, 80 % tail", 100] == 100
    drawn = set(truncation_policies.distinct(heads.reset_index())["policy"])
    assert "boundaries, notice, store" in drawn


def test_policies_at_their_own_limits():
    table = truncation_policies.with_own_limits(OUTPUTS).set_index("policy")
    assert table.loc["head and tail, halves", "largest"] <= 10_000
    sizes = table["tokens"]
    assert sizes["all to the store"] < sizes["boundaries, notice, store"]
    assert table.loc["head, any place", "cut"] == 0


def test_a_session_ends_when_its_history_is_full():
    table = truncation_budget.session(OUTPUTS, turns=60)
    lived = truncation_budget.ends(table).set_index("strategy")
    assert table["history"].max() <= 60_000
    assert lived["refused"].to_dict() == {
        "as it comes": lived.loc["as it comes", "refused"],
        "4,000 tokens": 0,
        "30% of what remains": 0,
    }
    assert lived.loc["as it comes", "refused"] > 0
    assert lived.loc["30% of what remains", "turns"] > lived.loc["4,000 tokens", "turns"]


def test_the_conclusion_says_what_was_measured(cuts):
    needles = truncation_policies.needles(OUTPUTS, 1_000, [50])
    lived = truncation_budget.ends(truncation_budget.session(OUTPUTS, turns=5))
    told = result_truncation.conclusion(cuts, truncation_policies.prices(needles), lived)
    assert "100 % of the cuts at boundaries are whole in their form" in told
    assert "100 % came back byte for byte" in told
    assert len(told.splitlines()) == 4


def test_a_directory_is_read_with_binary_files_left_out(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.txt").write_text("日本", encoding="utf-16")
    (tmp_path / "a.log").write_bytes(b"one\r\n")
    (tmp_path / "c.bin").write_bytes(b"\x7fELF\x00\x00\x01")
    (tmp_path / "empty").touch()
    assert read_outputs(tmp_path) == [Output("a.log", "one\r\n"), Output("deep/b.txt", "日本")]
    with pytest.raises(InputError, match="no such directory of outputs"):
        read_outputs(tmp_path / "none")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="no text file in this directory"):
        read_outputs(tmp_path / "nothing")


@pytest.mark.data
def test_the_projects_own_outputs_are_of_many_kinds():
    if not (project.cache_dir() / "trees").is_dir():
        pytest.skip("no data/cache/trees")
    made = make_outputs("data/cache/trees", "data/cache/toolsets/registry.json")
    kinds = {output.name: recognise(output.text) for output in made}
    assert set(kinds.values()) == {
        *("json", "ndjson", "csv", "markdown", "code", "log", "diff", "search", "plain")
    }
    assert made == make_outputs("data/cache/trees", "data/cache/toolsets/registry.json")
    assert min(tokens.count(output.text) for output in made) > 2_000
    with pytest.raises(InputError, match="no source tree django here"):
        make_outputs("data", "data/cache/toolsets/registry.json")


def test_the_made_history_and_log_are_the_same_everywhere():
    assert git_log({"a.py": "x = 1\n"}, "--format=%h", edits=1) == "c9bb64a\nd61d794\n"
    text = service_log()
    assert recognise(text) == "log"
    assert text.count(" ERROR ") == len(FAILURES)
    assert text.count("RuntimeError: order") == len(FAILURES)
    assert "^" not in text
    assert str(project.root()) not in text
