from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxlab.sessions.telling.shown import aligned, columns_of, padded, shown


@given(st.text(), st.integers(1, 40))
def test_one_line_of_that_width_without_a_control_character(text, width):
    told = shown(text, width)
    assert columns_of(told) <= width
    assert told.isprintable() or not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in told)


def test_what_turns_the_direction_of_a_text_is_no_longer_in_it():
    assert shown("a\u202egnp.exe\x9b31m\x07", 40) == "a·gnp.exe·31m·"


def test_secrets_are_masked_before_anything_is_cut():
    key = "sk-ant-api03-abcdefghijklmnop"
    assert shown(f"key {key}", 10) == "key ***"
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk"
    assert shown(f"{jwt} AKIAABCDEFGHIJKLMNOP", 40) == "*** ***"


def test_wide_characters_take_two_columns():
    assert columns_of("日本") == 4
    assert shown("日本語", 5) == "日本…"
    assert padded("日", 4, right=True) == "  日"


def test_columns_are_aligned():
    assert aligned([["name", "n"], ["日本", "10"]]) == ["name   n", "日本  10"]
