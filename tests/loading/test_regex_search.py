from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import SearchError
from ctxlab.loading import RegexToolSearch
from ctxlab.loading.searchable import CUT


def tool(name, description="", **properties):
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "input_schema": schema}


TOOLS = [
    tool("a_mail", "Sends it."),
    tool("b", "Reads mail."),
    tool("c", "", mail_id={"type": "string"}),
    tool("d", "", x={"description": "Of the mail."}),
    tool("e_mail"),
]


def search(pattern, tools=TOOLS, limit=5, **options):
    return RegexToolSearch(tools, **options).search(pattern, limit)


def test_every_text_is_searched_case_ignored_names_first():
    assert search("MAIL") == ["a_mail", "e_mail", "b", "c", "d"]


def test_the_order_of_the_array_when_asked_for():
    assert search("mail", order="array") == ["a_mail", "b", "c", "d", "e_mail"]
    with pytest.raises(SearchError, match="order is one of fields, array"):
        search("mail", order="random")


def test_each_text_is_searched_by_itself():
    assert search("^Sends") == ["a_mail"]
    assert search("a_mail.*Sends") == []
    assert search("mail_id$") == ["c"]


def test_look_around_is_let_pass():
    assert search("(?<=a_)mail") == ["a_mail"]
    assert search(r"mail(?!_id)\b", limit=9) == ["a_mail", "e_mail", "b", "d"]


def test_five_by_default():
    many = [tool(f"t{n}") for n in range(9)]
    assert RegexToolSearch(many).search("t") == [f"t{n}" for n in range(5)]
    assert len(search("t", many, limit=99)) == 9


def test_no_match_is_an_empty_list():
    assert search("zebra") == search("mail", []) == []


def test_behind_the_cut_nothing_is_found():
    assert search("zebra", [tool("a", "x" * CUT + "zebra")]) == []
    assert search("zebr", [tool("a", "x" * (CUT - 4) + "zebra")]) == ["a"]


@pytest.mark.parametrize(
    "pattern", ["(", "*", "[a", "(?P<a", "a{2,1}", r"\p{L}", "(?R)", "(?<=a+)b"]
)
def test_an_invalid_pattern_is_invalid_tool_input(pattern):
    with pytest.raises(SearchError, match="no regular expression") as refused:
        search(pattern)
    assert refused.value.code == "invalid_tool_input"


@pytest.mark.parametrize("pattern", ["", " ", "x" * 201, None, b"mail"])
def test_a_refused_pattern(pattern):
    with pytest.raises(SearchError, match="pattern") as refused:
        search(pattern)
    assert refused.value.code == "invalid_tool_input"


def test_two_hundred_characters_are_let_pass():
    assert search("x" * 195 + "|mail", limit=1) == ["a_mail"]


@pytest.mark.parametrize("pattern", [r"(x+x+)+y", r"(?:x?){60}x{60}y"])
def test_a_pattern_that_explodes_is_stopped(pattern):
    tools = [tool(f"t{n}", "x" * 2_000) for n in range(20)]
    with pytest.raises(SearchError, match=r"took longer than 0\.2 s") as stopped:
        search(pattern, tools, time_limit=0.2)
    assert stopped.value.code == "execution_time_exceeded"


TEXTS = ["a{e}", "a{e<=1}", "ab", "{,3}", "[:alpha:]", "x:]", "a", "aaa", "b{1}", "λ", "a]"]
PIECES = [
    *(
        "a",
        "b",
        "{",
        "}",
        "{e}",
        "{e<=1}",
        "{2}",
        "{,2}",
        "{1,}",
        "[",
        "]",
        "[:",
        ":]",
        "[:alpha:]",
    ),
    *("\\", r"\{", r"\[", ".", "|", "(", ")", "*", "?", "^", "$", "x", ":", ",", "1", r"\w", "λ"),
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join))
def test_patterns_mean_what_they_mean_to_re(pattern):
    found = RegexToolSearch([tool(f"t{n}_", text) for n, text in enumerate(TEXTS)], order="array")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference = re.compile(pattern, re.IGNORECASE)
    except re.error:
        with pytest.raises(SearchError):
            found.search(pattern)
        return
    expected = [
        f"t{n}_" for n, text in enumerate(TEXTS) if any(map(reference.search, (f"t{n}_", text)))
    ]
    assert found.search(pattern, limit=99) == expected
