from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxlab.cache import lint, lint_file
from ctxlab.cache.linting.finding import RULES
from ctxlab.cache.linting.volatile import volatile
from ctxlab.errors import InputError
from tests.cache.requests import MARK, assistant, base, call, result, user
from tests.conftest import shared

LONG = "word " * 900


def told(name: str = "get_weather", **changes: Any) -> dict[str, Any]:
    """A tool that no rule minds."""
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "A city."}},
    }
    description = "Tells the weather in one city; use it when somebody asks for it."
    return {"name": name, "description": description, "input_schema": schema, **changes}


def paged(name: str) -> dict[str, Any]:
    description = "Gives the text of a file by lines; page through it with offset and limit."
    return told(name, description=description)


def arguments(**described: str) -> dict[str, Any]:
    properties = {
        name: {"type": "string", **({"description": text} if text else {})}
        for name, text in described.items()
    }
    return {"type": "object", "properties": properties}


def request(**changes: Any) -> dict[str, Any]:
    """A request that no rule minds."""
    system = [{"type": "text", "text": "You help with the weather. " + LONG, "cache_control": MARK}]
    plain = {"model": "claude-opus-5", "max_tokens": 9, "tools": [told()], "system": system}
    return {**plain, "messages": [user("Is it cold?")], **changes}


def answered(text: Any, name: str = "get_weather", **more: Any) -> dict[str, Any]:
    return request(
        messages=[user("go"), assistant(call(1, name=name)), user(result(1, content=text, **more))],
        tools=[told(), *([] if name == "get_weather" else [paged(name)])],
    )


def notice(hint: str) -> str:
    body = json.dumps({"isTruncated": True, "recovery_hint": hint, "resource_id": "ab12cd34"})
    return f"row 1\n\n--- TRUNCATION NOTICE ---\n{body}"


LOOKUP = 'lookup_full_content(resource_id="ab12cd34", offset=3, limit=4000)'


def two_results(first: str, second: str) -> dict[str, Any]:
    calls = assistant(call(1, name="get_weather"), call(2, name="get_weather"))
    answers = user(result(1, content=first), result(2, content=second))
    return request(messages=[user("go"), calls, answers])


def many_turns(pairs: int) -> list[dict[str, Any]]:
    return [
        turn
        for number in range(pairs)
        for turn in (assistant(call(number, name="get_weather")), user(result(number)))
    ]


TIDE = told("get_tide", description="Tells the tide at a coast, hour by hour.")
CLOCK = {"type": "text", "text": f"Now 10:42 {LONG}", "cache_control": MARK}
GONE = [user("go"), assistant(call(1, name="gone")), user(result(1))]
FORMS = ("a\n[truncated] use offset 3", "b\n<truncated/> use offset 3")
FIRST = "Finds text in files and returns the first 200 matches."
BAD: list[tuple[str, Any]] = [
    ("vague-description", [told(description="")]),
    ("vague-description", [told(description="The get weather tool.")]),
    ("vague-description", [told(description="Weather by city.")]),
    ("argument-without-description", [told(input_schema=arguments(city=""))]),
    ("no-stated-limit", [told("list_files")]),
    ("no-stated-limit", [told("mcp__fs__searchFiles")]),
    ("first-come-cut", [told(description=FIRST)]),
    ("unguarded-regex", [told(input_schema=arguments(regex="A pattern."))]),
    ("volatile-tool", [told(description="Reads files below /home/ada/work, nothing else at all.")]),
    ("differ-in-name-only", [told("wx"), told("wy")]),
    ("volatile-system", request(system="You help. It is 2026-11-30T10:42:07Z.")),
    ("volatile-system", request(system="Today is November 30, 2026.")),
    ("volatile-system", request(system="session_id: 8f14e45f")),
    ("volatile-system", request(system="Trace 0b5c2f8e-2f6b-4f1c-9a58-2f3f2a8d7c11 runs.")),
    ("useless-breakpoint", request(system=[CLOCK])),
    ("no-breakpoint", request(system=LONG)),
    ("below-minimum", request(system=[{"type": "text", "text": "Short.", "cache_control": MARK}])),
    ("lookback-exceeded", request(messages=[user("go"), *many_turns(11)])),
    ("invalid-request", request(system=[{"type": "text", "text": "", "cache_control": MARK}])),
    ("invalid-request", request(temperature=1)),
    ("tools-changed", request(messages=GONE)),
    ("tools-changed", [request(), request(tools=[told(), TIDE])]),
    ("notice-in-side-channel", answered("rows", truncated=True)),
    ("cut-mid-record", answered('[{"a": 1}, {"a": ')),
    ("cut-mid-record", answered("text \ufffd")),
    ("cut-mid-record", answered("```python\nprint(1)\n")),
    ("truncation-not-told", answered("x" * 30_000)),
    ("truncation-not-told", answered("word " * 2_000 + "...")),
    ("metadata-dropped", answered("line\n" * 700, name="read_file")),
    ("no-recovery", answered("row 1\n[output truncated]")),
    ("recovery-does-not-work", answered(notice(LOOKUP))),
    ("notice-format-changes", two_results(*FORMS)),
    ("summarised-at-once", answered("Summary: three files were found.")),
    ("over-budget", [told(description="word " * 4_001)]),
    ("over-budget", request(system="word " * 4_001)),
    ("over-budget", request(max_tokens=40_001)),
    ("over-budget", request(messages=[user("word " * 4_001)])),
    ("over-budget", request(messages=[user("word " * 60_001), assistant("x"), user("y")])),
    ("first-come-cut", answered("showing first 50 of 504 matches, use offset=50")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "value"), BAD, ids=[f"{rule}-{n}" for n, (rule, _) in enumerate(BAD)]
)
def test_a_rule_finds_what_it_is_for(rule: str, value: Any):
    assert rule in [finding.rule for finding in lint(value)]


@pytest.mark.parametrize(
    "value",
    [
        [told()],
        request(),
        [request(), request(messages=[user("Is it cold?"), assistant("No."), user("Sure?")])],
        answered("Cold."),
        answered(notice(LOOKUP), name="lookup_full_content"),
        answered('{"a": 1}'),
        answered(
            "line\n" * 700 + "Lines 1 to 700 (of 900 total lines), offset=701", name="read_file"
        ),
        [told("list_files", input_schema=arguments(limit="At most so many."))],
        [
            told(
                "list_files",
                description="Lists at most 200 files of one directory, sorted by name.",
            )
        ],
        [told("mark_all_notifications_read")],
        [told(input_schema=arguments(regex="A pattern, linear-time; at most 3 s."))],
        [told(description='Takes a time in ISO format, e.g. "2026-11-30T10:42:07Z", and a city.')],
        [{"type": "web_search_20260318", "name": "web_search"}],
    ],
)
def test_what_is_well_is_left_alone(value: Any):
    assert [str(finding) for finding in lint(value)] == []


def test_every_rule_has_a_document_and_a_test():
    assert {document for document, _ in RULES.values()} == {
        "tool-design",
        "result-handling",
        "prompt-cache",
    }
    assert set(RULES) - {rule for rule, _ in BAD} == set()


def test_a_finding_says_where_and_of_which_tool():
    (finding,) = lint([told(), told("get_tide", description="Tide.")])
    assert (finding.place, finding.tool) == ("/tools/1/description", "get_tide")
    assert finding.as_dict()["document"] == "tool-design"
    assert str(finding).startswith("/tools/1/description: vague-description (tool-design): ")


def test_places_in_a_session_begin_with_the_request():
    bad = request(system="It is 10:42:07.")
    assert {finding.place for finding in lint([request(), bad])} >= {"/1/system"}


@pytest.mark.parametrize(
    "text", ["Dates like 2026-11-30T10:42:07Z are fine", "from 08:00:00 on", "v1.2.3"]
)
def test_examples_are_not_volatile(text: str):
    assert volatile(text) == []


def test_files_of_every_kind(tmp_path: Path):
    tools, one, log = (tmp_path / name for name in ("tools.json", "request.json", "log.jsonl"))
    tools.write_text(json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    one.write_text(json.dumps(base()))
    rows = [{"request": request()}, {"request": request(tools=[])}]
    log.write_text("\n".join(map(json.dumps, rows)))
    assert [finding.rule for finding in lint_file(tools)] == ["vague-description"]
    assert {finding.place.split("/")[1] for finding in lint_file(one)} == {
        "tools",
        "system",
        "messages",
    }
    assert "tools-changed" in [finding.rule for finding in lint_file(log)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "bad.json:1:2: not JSON"),
        ('{"a": 1}', "bad.json: expected a list of tools"),
        ("", "empty"),
    ],
)
def test_files_of_no_kind(tmp_path: Path, content: str, message: str):
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        lint_file(path)


def test_a_real_registry_is_told_little_that_is_wrong():
    rules = [finding.rule for finding in lint_file(shared("toolsets", "chrome-devtools.json"))]
    assert rules == ["over-budget"]
