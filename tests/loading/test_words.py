from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.loading.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mcp__git__git_log", ["mcp", "git", "git", "log"]),
        ("listEvents", ["listevents", "list", "events"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("Lists", ["lists"]),
        ("JQL", ["jql"]),
        ("x y_z 7", ["x", "y", "z", "7"]),
        ("user's", ["user", "s"]),
        ("café Ünder", ["café", "ünder"]),
        ("カレンダー", ["カレ", "レン", "ンダ", "ダー"]),
        ("Jiraの課題", ["jira", "の課", "課題"]),
        ("字", ["字"]),
        ("ＪＱＬ", ["jql"]),
        ("", []),
        ("—  … ☃", []),
    ],
)
def test_words(text, found):
    assert words(text) == found


@given(st.text())
def test_words_are_lower_case_and_have_no_white_space(text):
    for word in words(text):
        assert word
        assert word == word.lower()
        assert not set(word) & set(" _\n\t")


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1), min_size=1))
def test_how_words_are_joined_does_not_matter(parts):
    assert words("_".join(parts)) == words(" ".join(parts)) == parts
