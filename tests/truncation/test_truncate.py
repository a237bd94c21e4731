from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab import tokens
from ctxlab.errors import UsageError
from ctxlab.truncation import Truncated, truncate
from ctxlab.truncation.kinds import KINDS
from ctxlab.truncation.pieces import kept
from tests.conftest import shared
from tests.truncation.strategies import documents, log, records, texts

KEEPS = ["auto", "head", "tail", "both", 0.2, 0.8]


def holds(cut: Truncated, text: str, limit: int, unit: str) -> None:
    """What is true of every cut."""
    assert cut.returned_size <= limit
    assert cut.text == kept(text, cut.omitted)
    assert cut.is_truncated == (cut.text != text)
    flat = [place for span in cut.omitted for place in span]
    assert flat == sorted(set(flat))
    assert all(0 <= place <= len(text) for place in flat)
    assert cut.original_size == (len(text) if unit == "chars" else tokens.count(text))


def is_part(part: Any, whole: Any) -> bool:
    """Whether a JSON value is another less elements, members and characters of strings."""
    if isinstance(whole, list):
        rest = iter(whole)
        return isinstance(part, list) and all(any(is_part(x, y) for y in rest) for x in part)
    if isinstance(whole, dict):
        return isinstance(part, dict) and all(
            key in whole and is_part(value, whole[key]) for key, value in part.items()
        )
    if isinstance(whole, str):
        rest = iter(whole)
        return isinstance(part, str) and all(char in rest for char in part)
    return bool(part == whole) and type(part) is type(whole)


@given(
    texts,
    st.integers(1, 200),
    st.sampled_from(["chars", "tokens"]),
    st.sampled_from(["auto", *KINDS]),
    st.sampled_from(KEEPS),
)
@settings(max_examples=150, deadline=None)
def test_every_cut_is_the_text_less_ranges_and_within_the_limit(text, limit, unit, kind, keep):
    holds(truncate(text, limit, unit, kind, keep), text, limit, unit)


@given(
    texts,
    st.integers(1, 100),
    st.sampled_from(["plain", "log", "markdown", "search", "diff"]),
    st.sampled_from(KEEPS),
)
@settings(max_examples=120, deadline=None)
def test_no_cut_inside_a_grapheme_cluster(text, limit, kind, keep):
    clusters = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    cut = truncate(text, limit, kind=kind, keep=keep)
    assert all(place in clusters for span in cut.omitted for place in span)


@given(st.text(), st.integers(1, 40), st.sampled_from(KINDS), st.sampled_from(KEEPS))
@settings(deadline=None)
def test_a_cut_of_utf8_is_utf8(text, limit, kind, keep):
    truncate(text, limit, kind=kind, keep=keep).text.encode("utf-8")


@given(documents, st.integers(2, 200), st.sampled_from(["chars", "tokens"]), st.sampled_from(KEEPS))
@settings(max_examples=60, deadline=None)
def test_json_stays_json_and_becomes_a_part_of_itself(text, limit, unit, keep):
    cut = truncate(text, limit, unit, "json", keep)
    holds(cut, text, limit, unit)
    assert is_part(json.loads(cut.text), json.loads(text))
    cut.text.encode("utf-8") if text.isascii() else None


@given(documents, st.integers(2, 200))
@settings(max_examples=40, deadline=None)
def test_json_strings_stay_free_of_half_a_pair(text, limit):
    def walk(value):
        if isinstance(value, str):
            value.encode("utf-8")
        for inner in value if isinstance(value, list) else []:
            walk(inner)
        for item in value.items() if isinstance(value, dict) else []:
            walk(list(item))

    whole = json.loads(text)
    try:
        walk(whole)
    except UnicodeEncodeError:
        return
    walk(json.loads(truncate(text, limit, kind="json").text))


def test_an_array_keeps_whole_elements_and_their_bytes():
    text = json.dumps(records(500), indent=2, ensure_ascii=False)
    cut = truncate(text, 4000)
    found = json.loads(cut.text)
    assert cut.kind == "json"
    assert 0 < len(found) < 500
    assert found == records(500)[: len(found)]
    assert cut.text[:-2] == text[: len(cut.text) - 2]
    assert cut.units == ("array elements", len(found), 500)
    assert truncate(text, 4000, keep="tail").text.endswith(text[-2000:])


def test_an_object_gives_way_in_the_member_that_outweighs_the_others():
    text = json.dumps({"status": "ok", "items": records(500), "next": "page2"})
    found = json.loads(truncate(text, 4000).text)
    assert found["status"] == "ok"
    assert found["next"] == "page2"
    assert found["items"] == records(500)[: len(found["items"])]
    assert 10 < len(found["items"]) < 500
    assert list(json.loads(truncate(text, 4000, keep="head").text)) == ["status", "items"]


def test_numbers_keep_their_digits_and_objects_their_doubled_keys():
    text = '{"a": 1.50, "a": 1e400, "b": 123456789012345678901234567890, "c": [' + "9" * 9000 + "]}"
    cut = truncate(text, 80)
    assert cut.text == '{"a": 1.50, "a": 1e400, "b": 123456789012345678901234567890}'


@pytest.mark.parametrize("depth", [70, 900, 100_000])
def test_nesting_however_deep_does_not_touch_the_stack(depth):
    deep = "[" * depth + "1" + "]" * depth
    for text in (deep, f'{{"a": {deep}, "b": 2}}'):
        cut = truncate(text, 100 if depth > 70 else 60, kind="json")
        assert json.loads(cut.text) in ([], {"b": 2}, {"a": [], "b": 2}, {})


def test_broken_json_is_cut_as_plain_text_and_says_so():
    cut = truncate('[{"a": 1},' * 1000, 200, kind="json")
    assert cut.kind == "plain"
    assert cut.returned_size <= 200


def test_rows_stay_whole_and_a_csv_keeps_its_header():
    rows = [["id", "text"], *([str(n), f'line\none, "{n}"'] for n in range(500))]
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    cut = truncate(buffer.getvalue(), 2000)
    assert cut.kind == "csv"
    found = list(csv.reader(io.StringIO(cut.text, newline="")))
    assert found == rows[: len(found)]
    assert len(found) > 50
    tail = list(
        csv.reader(io.StringIO(truncate(buffer.getvalue(), 2000, keep="tail").text, newline=""))
    )
    assert tail == [rows[0], *rows[1 - len(tail) :]]


def test_ndjson_rows_stay_whole_and_one_that_is_too_large_stays_json():
    text = "".join(json.dumps(record) + "\n" for record in records(300))
    cut = truncate(text, 3000)
    assert cut.kind == "ndjson"
    assert [json.loads(line) for line in cut.text.splitlines()] == records(300)[: cut.units[1]]
    huge = json.dumps({"type": "match", "lines": ["x" * 50] * 900})
    first = truncate(f"{huge}\n{huge}\n", 500)
    assert first.kind == "ndjson"
    assert json.loads(first.text)["type"] == "match"


def test_a_log_keeps_both_ends_and_errors_with_their_traces():
    text = log(2000, errors=(700, 1300))
    cut = truncate(text, 4000)
    assert cut.kind == "log"
    assert cut.text.startswith(text[:200])
    assert cut.text.endswith(text[-200:])
    for n in (700, 1300):
        at = text.index(f"ERROR app: request {n}")
        entry = text[text.rindex("\n", 0, at) + 1 : text.index(f"ValueError: key {n}\n")]
        assert entry in cut.text
    assert set(cut.text.splitlines()) <= set(text.splitlines())
    assert "ERROR" not in truncate(text, 4000, keep="head").text


def test_errors_that_do_not_fit_leave_room_for_both_ends():
    text = log(3000, errors=tuple(range(100, 2900, 3)))
    cut = truncate(text, 4000)
    assert cut.text.startswith(text[:100])
    assert cut.text.endswith(text[-100:])
    assert "request 100 failed" in cut.text


def test_markdown_keeps_sections_whole_and_fences_closed():
    sections = [
        f"## Part {n}\n\nSome words on {n}.\n\n```python\n# Not a heading\nprint({n})\n```\n\n"
        for n in range(200)
    ]
    text = "# All\n\n" + "".join(sections)
    cut = truncate(text, 3000)
    assert cut.kind == "markdown"
    assert cut.text == "# All\n\n" + "".join(sections[: cut.units[1]])
    one = "# Code\n\n```python\n" + "".join(f"x = {n}\n" for n in range(2000)) + "```\n\nThe end.\n"
    for keep in KEEPS:
        inside = truncate(one, 500, kind="markdown", keep=keep).text
        assert inside.count("```") % 2 == 0
        assert len(inside) > 250


def test_code_keeps_functions_whole_and_a_class_its_head():
    methods = "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(300))
    head = '# Why.\n@final\nclass A:\n    """Doc."""\n\n'
    text = f"import os\n\n\n{head}{methods}\n\ndef last():\n    pass\n"
    cut = truncate(text, 2000)
    assert cut.kind == "code"
    compile(cut.text, "cut", "exec")
    assert head in cut.text
    assert cut.units[1] > 20
    assert cut.text.rstrip().endswith(f"return {cut.units[1] - 2}") or "last" in cut.text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("seattle_weather.csv", "csv"),
        ("vega_cars.json", "json"),
        ("github_webhooks_array.json", "json"),
        ("mcp_directory_tree_flask.json", "json"),
        ("ruff_pytest.ndjson", "ndjson"),
        ("express_History.md", "markdown"),
        ("flask_app.py", "code"),
        ("hiredis.c", "code"),
        ("jquery-4.0.0.min.js", "code"),
        ("gcc_warnings_hiredis.txt", "log"),
        ("pytest_v_flask_1fail.txt", "log"),
        ("find_django_py.txt", "plain"),
        ("django_ja.po", "plain"),
    ],
)
def test_real_outputs_are_recognised_and_cut(name, kind):
    text = shared("outputs", name).read_bytes().decode()
    for unit, limit in (("chars", 3000), ("tokens", 800)):
        cut = truncate(text, limit, unit)
        holds(cut, text, limit, unit)
        assert cut.kind == kind
        assert cut.returned_size > limit / 3
    if name.startswith("pytest"):
        assert "FAILED" in cut.text


@pytest.mark.parametrize("limit", [3, 400])
@pytest.mark.parametrize("keep", ["head", "both", "tail"])
@pytest.mark.parametrize(
    "line", ["x", "日", "👨‍👩‍👧‍👦", "\\u00e9", "a ", "🇯🇵", "\x1b[0m", "e\u0301"]
)
def test_one_line_of_a_megabyte(line, keep, limit):
    text = line * (1_000_000 // len(line))
    cut = truncate(text, limit, keep=keep)
    holds(cut, text, limit, "chars")
    assert cut.returned_size >= limit - 2 * len(line)
    assert cut.text.strip() in text


def test_what_fits_is_left_alone():
    for text in ("", "short", '{"a": 1}', "x" * 100):
        cut = truncate(text, 100)
        assert (cut.text, cut.is_truncated, cut.omitted) == (text, False, ())


def test_a_cluster_that_does_not_fit_leaves_nothing():
    assert truncate("👨‍👩‍👧‍👦" * 9, 3).text == ""
    assert truncate("[1, 2]", 1).text == ""


@pytest.mark.parametrize("limit", [0, -1, True, 2.0, None, "9"])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(UsageError, match="limit must be a whole number of at least 1"):
        truncate("text", limit)


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ({"unit": "bytes"}, "chars, tokens"),
        ({"kind": "xml"}, "auto or one of code"),
        ({"keep": "middle"}, "head"),
        ({"keep": 1.5}, "0 to 1"),
        ({"keep": True}, "0 to 1"),
    ],
)
def test_what_is_none_of_the_choices_is_refused(argument, told):
    with pytest.raises(UsageError, match=told):
        truncate("text", 10, **argument)
