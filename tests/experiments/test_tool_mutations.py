from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab import project, read_tools
from ctxlab.errors import InputError, UsageError
from ctxlab.experiments.claims import check
from ctxlab.experiments.mutating import MUTATIONS
from ctxlab.experiments.tool_mutations import (
    by_breakpoints,
    conclusion,
    even_layouts,
    mutations,
    summary,
    tool_tokens,
)
from ctxlab.prefix import compare_tools

pytestmark = pytest.mark.data  # token counts

ARTICLE = read_tools(project.data_dir() / "tools" / "article.json")


def tools(count):
    schema = {"type": "object"}
    return [{"name": f"t{at}", "description": "d", "input_schema": schema} for at in range(count)]


def column(table, name):
    return dict(zip(table["mutation"], table[name], strict=True))


def test_the_document_s_table_comes_out():
    table = mutations(ARTICLE)
    compared = check("tool_mutations", {"mutations": table, "summary": summary(table)})
    assert len(compared) == 4
    assert set(compared["verdict"]) == {"reproduced"}


@pytest.mark.parametrize("count", [3, 4, 5, 6, 40])
def test_what_each_mutation_keeps_follows_from_where_it_happens(count):
    kept = column(mutations(tools(count)), "shared_prefix")
    middle = count // 2
    assert kept["append"] == kept["rebuild"] == count
    assert kept["drop_last"] == kept["edit_last_description"] == count - 1
    assert kept["add_optional_to_last"] == count - 1
    assert kept["insert_middle"] == kept["drop_middle"] == kept["rename_middle"] == middle
    assert kept["swap_second_third"] == 1
    assert kept["prepend"] == kept["drop_first"] == kept["edit_first_description"] == 0


def test_verdicts():
    verdicts = column(mutations(ARTICLE), "verdict")
    assert [name for name, verdict in verdicts.items() if verdict == "safe"] == [
        "append",
        "rebuild",
    ]
    assert [name for name, verdict in verdicts.items() if verdict == "lost"] == [
        "prepend",
        "drop_first",
        "edit_first_description",
    ]


def test_a_breakpoint_inside_keeps_what_stands_before_it():
    table = mutations(ARTICLE, [1, 3])
    kept = column(table, "kept_at_breakpoint")
    assert kept["append"] == kept["drop_last"] == 4
    assert kept["drop_middle"] == 2
    assert kept["swap_second_third"] == 0
    sizes = tool_tokens(ARTICLE)
    assert column(table, "tokens_kept")["drop_middle"] == sum(sizes[:2])
    assert column(table, "tokens_lost")["drop_middle"] == sum(sizes[2:])


@given(st.integers(3, 12), st.data())
def test_a_breakpoint_never_keeps_more_than_the_prefix(count, data):
    places = data.draw(
        st.lists(st.integers(-count, count - 1), max_size=4, unique_by=lambda p: p % count)
    )
    table = mutations(tools(count), places)
    assert (table["kept_at_breakpoint"] <= table["shared_prefix"]).all()
    assert (table["tokens_kept"] <= table["tokens_shared"]).all()
    assert (table["tokens_kept"] + table["tokens_lost"]).nunique() == 1
    if not places:
        assert not table["kept_at_breakpoint"].any()


def test_each_mutation_changes_what_its_name_says_and_only_that():
    changed = {
        name: [
            (change.kind, change.tool)
            for change in compare_tools(ARTICLE, mutate(copy.deepcopy(ARTICLE)))
        ]
        for name, mutate in MUTATIONS.items()
    }
    assert changed["append"] == [("added", "new_tool")]
    assert {kind for kind, _ in changed["rebuild"]} == {"reserialized"}
    assert changed["drop_last"] == [("removed", "post_report")]
    assert changed["edit_last_description"] == [("edited", "post_report")]
    assert {tool for _, tool in changed["add_optional_to_last"]} == {"post_report"}
    assert changed["insert_middle"] == changed["prepend"] == [("added", "new_tool")]
    assert changed["drop_middle"] == [("removed", "write_file")]
    assert {kind for kind, _ in changed["rename_middle"]} >= {"renamed"}
    assert {kind for kind, _ in changed["swap_second_third"]} == {"moved"}
    assert changed["drop_first"] == [("removed", "search_docs")]
    assert changed["edit_first_description"] == [("edited", "search_docs")]


def test_new_names_are_free_names():
    taken = [*tools(3), {"name": "new_tool"}, {"name": "t2_v2"}]
    for mutate in MUTATIONS.values():
        names = [tool["name"] for tool in mutate(copy.deepcopy(taken))]
        assert len(set(names)) == len(names)


def test_the_caller_s_tools_stay_as_they_were():
    before = copy.deepcopy(ARTICLE)
    mutations(ARTICLE)
    assert before == ARTICLE


def test_tools_that_share_one_schema_object_are_changed_one_at_a_time():
    kept = column(mutations(tools(5)), "shared_prefix")
    assert kept["add_optional_to_last"] == 4


def test_tools_without_description_or_properties_are_mutated_too():
    bare = [{"name": name} for name in "abc"]
    assert len(mutations(bare)) == 12


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([5], "a position of one of 5 tools, not 5"),
        ([-6], "a position of one of 5 tools, not -6"),
        (["last"], "not 'last'"),
        ([1.0], "not 1.0"),
        ([True], "not True"),
        ([4, -1], "two breakpoints stand on one tool: [4, -1]"),
        ([0, 1, 2, 3, 4], "5 breakpoints; a request takes 4 at most"),
    ],
)
def test_breakpoints_that_no_request_could_have(places, message):
    with pytest.raises(UsageError) as caught:
        mutations(ARTICLE, places)
    assert message in str(caught.value)


def test_two_tools_are_too_few():
    with pytest.raises(InputError, match="need 3 tools or more, found 2"):
        mutations(tools(2))


def test_layouts_spread_breakpoints_evenly_and_end_on_the_last_tool():
    assert even_layouts(5) == [
        ("1 breakpoint", [4]),
        ("2 breakpoints", [1, 4]),
        ("3 breakpoints", [1, 2, 4]),
        ("4 breakpoints", [0, 1, 3, 4]),
    ]
    assert even_layouts(2)[-1] == ("2 breakpoints", [0, 1])
    table = by_breakpoints(tools(40), even_layouts(40))
    assert table["keep_anything"].is_monotonic_increasing


def test_the_conclusion_says_what_was_measured():
    table = mutations(ARTICLE)
    told = conclusion(table)
    assert "2 of 12" in told
