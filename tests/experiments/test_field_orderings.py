from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab import project, read_tools
from ctxlab.errors import UsageError
from ctxlab.experiments.claims import check
from ctxlab.experiments.field_orderings import (
    _orders,
    by_properties,
    conclusion,
    orderings,
    registry_orderings,
    registry_summary,
)
from ctxlab.experiments.serialisations import CONTROL, FORMS, absorbed

(TOOL,) = read_tools(project.data_dir() / "tools" / "three_fields.json")
ARTICLE = read_tools(project.data_dir() / "tools" / "article.json")


def test_the_document_s_orderings_come_out():
    compared = check("field_orderings", {"orderings": orderings(TOOL)})
    assert len(compared) == 3
    assert set(compared["verdict"]) == {"reproduced"}


def test_a_tool_without_properties_has_the_orders_of_its_fields():
    table = orderings({"name": "f", "description": "d"})
    assert table["orders"].tolist() == [2, 2, 1]
    assert table["canonical"].tolist() == [1, 1, 1]


def test_a_registry_row_is_the_same_question_for_one_tool():
    table = registry_orderings([*ARTICLE, TOOL])
    assert table["tool"].tolist()[-1] == "book_room"
    assert table["orders"].tolist() == [12, 6, 12, 6, 12, 36]
    assert (table["raw"] == table["orders"]).all()
    assert (table["canonical"] == 1).all()
    assert (table["false_invalidations"] == 100).all()


def test_tools_of_as_many_properties_stand_together():
    table = by_properties(registry_orderings([*ARTICLE, TOOL]), most=2)
    assert table["properties"].tolist() == ["1", "2 or more"]
    assert table["tools"].tolist() == [2, 4]
    assert table["raw"].tolist() == [12, 72]
    assert table["canonical"].tolist() == [2, 4]


def test_the_summary_adds_up():
    table = registry_orderings([*ARTICLE, TOOL])
    figures = registry_summary(table).set_index("figure")
    assert figures.loc["orders tried"].tolist() == [84, 84]
    assert figures.loc["fingerprints"].tolist() == [84, 6]
    assert figures.loc["tools with more than one"].tolist() == [6, 0]
    assert figures.loc["false invalidations, %"].tolist() == [100, 0]


@given(st.integers(0, 7), st.integers(1, 60), st.integers(0, 1000))
def test_orders_are_distinct_and_begin_with_the_tool_s_own(count, sample, seed):
    from random import Random

    names = tuple("gfedcba"[:count])
    orders = list(_orders(names, sample, Random(seed)))
    assert orders[0] == names
    assert len(orders) == len(set(orders)) == min(sample, math.factorial(count))
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(names))}


def test_a_sample_is_drawn_the_same_way_again():
    wide = {"name": "f", "input_schema": {"properties": {name: {} for name in "abcdefgh"}}}
    again = [registry_orderings([wide], sample=50, seed=3) for _ in range(2)]
    assert again[0].equals(again[1])
    assert again[0]["orders"].tolist() == [100]


def test_no_sample_is_refused():
    with pytest.raises(UsageError, match="1 or more, not 0"):
        registry_orderings(ARTICLE, sample=0)


def test_progress_sees_every_tool():
    seen = []
    registry_orderings(
        ARTICLE, progress=lambda tools: (seen.append(tool) or tool for tool in tools)
    )
    assert seen == ARTICLE


# One test, so that only one worker imports the SDK, which takes seconds.
def test_what_each_form_absorbs():
    table = absorbed(TOOL).set_index("difference")
    assert table["present"].all()
    keys = ["order of fields", "order of properties", "order of keys at every level"]
    text = ["white space", "ASCII escapes"]
    by_form = {form: set(table.index[table[form]]) for form in FORMS}
    assert by_form == {
        "text as received": set(),
        "raw dumps": set(text),
        "sorted dumps": {*keys, *text},
        "canonical": {*keys, *text},
        "canonical tool": {*keys, *text, "order of required"},
        "sent as given": set(text),
        "sent in canonical form": {*keys, *text, "order of required"},
    }
    assert not table.loc[CONTROL, list(FORMS)].any()
    bare = absorbed({"name": "f", "input_schema": {"type": "object"}}).set_index("difference")
    assert not bare.loc["ASCII escapes", "present"]
    assert not bare.loc["1.0 for 1", "present"]
    assert bare.loc[CONTROL, "present"]


def test_the_conclusion_says_what_was_measured():
    told = conclusion(registry_orderings([*ARTICLE, TOOL]))
    assert "84" in told
    assert "6 tools" in told
