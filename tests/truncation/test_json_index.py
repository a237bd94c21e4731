from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.truncation.boundaries import json_index
from ctxlab.truncation.boundaries.json_index import JsonIndex
from tests.truncation.strategies import documents

SIGNS = '[]{},:"\\ \n01-.e日'
PARTS = [*SIGNS, "null", "true", '"a"', '"a":', "[1]", '{"a":1}', "\\u00e9", '\\"', "NaN"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks and batches of a few characters, so that everything crosses their edges."""
    monkeypatch.setattr(json_index, "_BLOCK", 3)
    monkeypatch.setattr(json_index, "_BATCH", 4)


def parses(text):
    try:
        return isinstance(json.loads(text), dict | list | str)
    except ValueError:
        return False


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.sampled_from(["{}", "[{}]"]))
@settings(max_examples=400, deadline=None)
def test_what_is_json_is_what_the_standard_parser_reads(text, form):
    text = form.replace("{}", text)
    assert JsonIndex(text).is_json() == parses(text)


@given(documents)
@settings(max_examples=60, deadline=None)
def test_documents_are_json_and_less_a_character_what_the_parser_says(text):
    assert JsonIndex(text).is_json()
    for cut in (text[:-1], text[1:], text[: len(text) // 2] + text[len(text) // 2 + 1 :]):
        assert JsonIndex(cut).is_json() == parses(cut)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("", False),
        (" \n", False),
        ("5", False),
        ('"text"', True),
        ("\ufeff[1]\n", True),
        ("[NaN, 1e999]", True),
        ("[" + "9" * 10_000 + "]", True),
        ('["\ud800", "\\ud800"]', True),
        ("[" * 5_000 + "]" * 5_000, True),
        ("[" * 5_000 + "]" * 4_999, False),
        ("[1] [2]", False),
        ("{'a': 1}", False),
        ('["a\nb"]', False),
    ],
)
def test_what_is_json(text, is_one):
    assert JsonIndex(text).is_json() is is_one
