from __future__ import annotations

import bm25s
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import SearchError
from ctxlab.loading import Bm25ToolSearch
from ctxlab.loading.searchable import CUT
from ctxlab.loading.words import words


def tool(name, description="", **properties):
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "input_schema": schema}


def search(tools, query, **options):
    return Bm25ToolSearch(tools).search(query, **options)


def test_the_rarer_word_weighs_more():
    tools = [tool("a", "list mail"), tool("b", "list events"), tool("c", "list files")]
    assert search(tools, "list events")[0] == "b"
    assert set(search(tools, "list events")) == {"a", "b", "c"}


def test_the_shorter_text_wins_among_equals():
    assert search([tool("a", "mail and much more of it"), tool("b", "mail")], "mail") == ["b", "a"]


def test_ties_stand_in_array_order():
    tools = [tool(f"t{n}", "same words") for n in range(9)]
    assert search(tools, "words", limit=9) == [f"t{n}" for n in range(9)]


def test_five_by_default_and_as_many_as_asked():
    tools = [tool(f"t{n}", "mail") for n in range(9)]
    assert len(search(tools, "mail")) == 5
    assert len(search(tools, "mail", limit=1)) == 1
    assert len(search(tools, "mail", limit=1_000)) == 9


@pytest.mark.parametrize("query", ["zebra", "☃", "… — !"])
def test_no_match_is_an_empty_list(query):
    assert search([tool("a", "mail")], query) == []


def test_no_tools_and_tools_without_words_find_nothing():
    assert search([], "mail") == []
    assert search([tool("___"), tool("-")], "mail") == []


def test_parts_of_names_and_arguments_are_found():
    tools = [tool("mcp__s__listUserEvents"), tool("x", "", time_zone={"description": "IANA name"})]
    assert search(tools, "user") == search(tools, "EVENTS") == ["mcp__s__listUserEvents"]
    assert search(tools, "zone") == search(tools, "iana") == ["x"]


def test_one_letter_words_count():
    assert search([tool("a", "plan b"), tool("c", "plan")], "b") == ["a"]


def test_a_word_behind_the_cut_is_not_found():
    filler = "x " * (CUT // 2)
    assert search([tool("a", filler + "zebra")], "zebra") == []
    assert search([tool("a", filler[: -len("zebra ")] + "zebra")], "zebra") == ["a"]


@pytest.mark.parametrize("query", ["", "  \n", "x" * 501, None, 7, ["mail"]])
def test_a_refused_query(query):
    with pytest.raises(SearchError, match="query") as refused:
        search([tool("a", "mail")], query)
    assert refused.value.code == "invalid_tool_input"


def test_five_hundred_characters_are_let_pass():
    assert search([tool("a", "mail")], "mail" + " " * 496) == ["a"]


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "3", None])
def test_a_refused_limit(limit):
    with pytest.raises(SearchError, match="limit is a whole number from 1"):
        search([tool("a", "mail")], "mail", limit=limit)


WORD = st.sampled_from(["mail", "list", "event", "file", "a", "b"])


@given(
    st.lists(st.lists(WORD, min_size=1, max_size=9).map(" ".join), min_size=2, max_size=8),
    st.lists(WORD, min_size=1, max_size=4).map(" ".join),
)
def test_scores_are_those_of_bm25s(descriptions, query):
    tools = [tool(f"t{n}", text) for n, text in enumerate(descriptions)]
    reference = bm25s.BM25(method="lucene")
    corpus = [words(f"t{n}\n{text}") for n, text in enumerate(descriptions)]
    reference.index(corpus, show_progress=False)
    expected = reference.get_scores(words(query))
    scores = Bm25ToolSearch(tools).scores(query)
    assert scores == pytest.approx(expected, abs=1e-5)
