from __future__ import annotations

import json

import pytest

from ctxlab.tooldef import definition
from ctxlab.tools import workspace_tools
from ctxlab.truncation import MemoryStorage, ResourceStore, lookup_tools
from ctxlab.truncation.lookup import MOST
from ctxlab.truncation.searching import search
from tests.truncation.strategies import records


@pytest.fixture
def store():
    return ResourceStore(MemoryStorage())


@pytest.fixture
def call(store):
    toolset = workspace_tools(".", store)
    return lambda name, **arguments: json.loads(toolset.call(name, arguments))


def test_the_toolset_carries_them_only_with_a_store(store):
    names = [tool["name"] for tool in workspace_tools(".", store).definitions]
    assert names == ["read_file", "grep_search", "lookup_full_content", "search_full_content"]
    assert [tool["name"] for tool in workspace_tools(".").definitions] == names[:2]


def test_every_argument_is_described(store):
    for tool in lookup_tools(store):
        told = definition(tool)
        assert all(p["description"] for p in told["input_schema"]["properties"].values())


def test_a_page_has_the_documents_fields(store, call):
    key = store.save("0123456789")
    assert call("lookup_full_content", resource_id=key, offset=4, limit=3) == {
        "resource_id": key,
        "offset": 4,
        "returned_chars": 3,
        "total_chars": 10,
        "has_more": True,
        "content": "456",
    }
    assert call("lookup_full_content", resource_id=key.upper())["content"] == "0123456789"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"resource_id": "00000000"}, "no resource '00000000'"),
        ({"resource_id": "../x"}, "is no resource id"),
        ({"resource_id": 5}, "resource_id must be a string"),
        ({}, "resource_id is missing"),
        ({"resource_id": "KEY", "offset": -1}, "offset must be at least 0"),
        ({"resource_id": "KEY", "offset": 11}, "offset 11 is past the end"),
        ({"resource_id": "KEY", "offset": "x"}, "offset must be a whole number"),
        ({"resource_id": "KEY", "limit": 0}, "limit must be at least 1"),
        ({"resource_id": "KEY", "page": 1}, "no argument"),
    ],
)
def test_what_is_wrong_comes_back_as_an_error_object(store, call, arguments, told):
    key = store.save("0123456789")
    arguments = {name: key if value == "KEY" else value for name, value in arguments.items()}
    found = call("lookup_full_content", **arguments)
    assert list(found) == ["error"]
    assert told in found["error"]


def test_called_from_python_they_do_not_raise_either(store):
    lookup, search = lookup_tools(store)
    key = store.save("text")
    answers = [lookup("nope"), lookup(key, -1), lookup(key, 0, "x"), lookup(None)]
    answers += [search(key, "("), search("x", "y"), search(key, 5)]
    assert all("error" in json.loads(answer) for answer in answers)


def test_a_page_has_an_end_whatever_is_asked_for(store, call):
    key = store.save("x" * (MOST + 5))
    page = call("lookup_full_content", resource_id=key, limit=10**9)
    assert (page["returned_chars"], page["has_more"]) == (MOST, True)


@pytest.mark.parametrize("text", ["a\x00b\x1b[0m", "\ud83d half", "\u2028\x85\r", '"\\'])
def test_every_character_comes_back_and_the_answer_is_utf8(store, text):
    answer = lookup_tools(store)[0](store.save(text))
    answer.encode()
    assert json.loads(answer)["content"] == text


def test_a_search_gives_lines_and_offsets_to_look_up(store, call):
    fine = "".join(f"{n} ok\n" for n in range(500))
    text = f"{fine}500 FAILED here\n{fine}"
    key = store.save(text)
    found = call("search_full_content", resource_id=key, pattern=r"^\d+ FAILED")
    at = text.index("500 FAILED")
    assert found["matches"] == [{"offset": at, "line": 501, "text": "500 FAILED here"}]
    page = call("lookup_full_content", resource_id=key, offset=at, limit=10)
    assert page["content"] == "500 FAILED"
    many = call("search_full_content", resource_id=key, pattern="ok")
    assert (many["total_matches"], many["returned_matches"]) == (1000, 50)


def test_a_search_in_one_long_line_shows_windows(store, call):
    text = json.dumps(records(2200))
    key = store.save(text)
    found = call("search_full_content", resource_id=key, pattern=r'"name": "user 15\d\d"')
    assert found["total_matches"] == 100
    assert 0 < found["returned_matches"] < 100
    for match in found["matches"]:
        assert match["line"] == 1
        assert match["text"].strip("…") in text
        assert text[match["offset"] :].startswith('"name": "user 15')
        assert len(match["text"]) <= 202


@pytest.mark.parametrize("pattern", ["(", "", "x" * 2000, "(?=x)", r"(x)\1", "x{2000}", "\ud800"])
def test_a_bad_pattern_is_an_error_object(store, call, pattern):
    found = call("search_full_content", resource_id=store.save("text"), pattern=pattern)
    assert list(found) == ["error"]
    assert "pattern" in found["error"]


def test_a_pattern_that_explodes_elsewhere_takes_linear_time(store, call):
    key = store.save("found\n" + "a" * 100_000 + "!\n")
    found = call("search_full_content", resource_id=key, pattern=r"found|(?:a|aa)+$|(a+)+$")
    assert [match["text"] for match in found["matches"]] == ["found"]


def test_a_search_with_too_many_matches_keeps_what_it_found():
    found = search("x" * 1_000_000, "x", seconds=0.05)
    assert "stopped after 0.05 s" in found["incomplete"]
    assert 0 < found["total_matches"] < 1_000_000
    assert found["matches"][0]["offset"] == 0


def test_offsets_count_characters_in_any_text(store, call):
    key = store.save("日本😀\ud800 needle\r\nneedle\n")
    found = call("search_full_content", resource_id=key, pattern="needle")
    assert [match["offset"] for match in found["matches"]] == [5, 13]
    assert [match["line"] for match in found["matches"]] == [1, 2]


def test_nothing_found_is_said(store, call):
    found = call("search_full_content", resource_id=store.save("text"), pattern="zzz|q*")
    assert (found["total_matches"], found["matches"]) == (0, [])
