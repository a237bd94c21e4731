from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from ctxlab.cache import Explanation, explain
from ctxlab.errors import InputError, InvalidRequest
from tests.cache.requests import (
    MARK,
    assistant,
    base,
    call,
    one_marker,
    result,
    size,
    text,
    tool,
    user,
)

RULES = {"minimum_tokens": 100}


def told(after: dict[str, Any], before: dict[str, Any] | None = None, **rules: Any) -> Explanation:
    return explain(before or base(), after, model_rules={**RULES, **rules}, count=size)


def with_tools(*tools: dict[str, Any]) -> dict[str, Any]:
    marked = [*tools[:-1], {**tools[-1], "cache_control": MARK}]
    return base(tools=marked)


def test_nothing_changed():
    same = told(base())
    assert (same.segment, same.path, same.changes, same.broke) == (None, "", (), False)
    assert (same.lost_tokens, same.lost_tokens_at_breakpoint) == (0, 0)
    assert same.advice.startswith("Nothing that was sent before has changed")


def test_appending_is_no_change():
    request = base()
    request["messages"] += [assistant("fine"), user(text(50, cache_control=MARK))]
    request["messages"][0]["content"][0].pop("cache_control")
    assert not told(request).broke


def test_one_tool_inserted_is_one_change():
    added = told(with_tools(tool("new"), tool("a"), tool("b")))
    assert (added.segment, added.path, added.kind, added.tool) == (
        "tools",
        "/tools/0",
        "added",
        "new",
    )
    assert [str(change) for change in added.changes] == ["added new"]
    assert (added.lost_tokens, added.lost_tokens_at_breakpoint) == (800, 800)


def test_a_tool_appended_loses_nothing_of_the_tools_by_prefix_when_they_carry_a_marker():
    appended = base()
    appended["tools"].append(tool("c"))
    kept = told(appended)
    assert (kept.path, kept.lost_tokens, kept.lost_tokens_at_breakpoint) == ("/tools/2", 400, 400)
    lost = told(appended, tool_entries_survive_later_changes=False)
    assert (lost.lost_tokens, lost.lost_tokens_at_breakpoint) == (800, 800)


def test_by_prefix_and_by_breakpoint_are_two_things():
    changed = one_marker(system=[text(300, "day 2")])
    day = told(changed, one_marker(system=[text(300, "day 1")]))
    assert (day.segment, day.path) == ("system", "/system/0/text")
    assert (day.lost_tokens, day.lost_tokens_at_breakpoint) == (400, 800)


def test_a_reserialized_tool_says_so():
    request = base()
    schema = request["tools"][1]["input_schema"]
    schema["properties"] = dict(reversed(schema["properties"].items()))
    swapped = told(request)
    assert swapped.only_reserialized
    assert (swapped.kind, swapped.path) == ("reserialized", "/tools/1/input_schema/properties")
    assert "canonical form" in swapped.advice
    assert (swapped.lost_tokens, swapped.lost_tokens_at_breakpoint) == (600, 800)


@pytest.mark.parametrize(
    ("tools", "kind", "path", "name", "changes"),
    [
        ([tool("b"), tool("a")], "moved", "/tools/0", "b", ["moved"]),
        ([tool("b")], "removed", "/tools/0", "a", ["removed"]),
        (
            [tool("a"), tool("z", description="b tool")],
            "renamed",
            "/tools/1/name",
            "b",
            ["renamed"],
        ),
        (
            [tool("a"), tool("b", description="new")],
            "edited",
            "/tools/1/description",
            "b",
            ["edited"],
        ),
    ],
)
def test_what_happened_to_which_tool(
    tools: list[dict[str, Any]], kind: str, path: str, name: str, changes: list[str]
):
    found = told(with_tools(*tools))
    assert (found.kind, found.path, found.tool) == (kind, path, name)
    assert [change.kind for change in found.changes] == changes
    assert name in found.advice


def test_places_of_moved_tools_are_those_of_the_whole_arrays():
    names = ["a", "b", "c", "d", "e"]
    before = with_tools(*map(tool, names))
    after = with_tools(*map(tool, ["a", "c", "d", "b", "e"]))
    (change,) = told(after, before).changes
    assert (change.kind, change.before, change.after) == ("moved", 1, 3)


def test_the_model():
    other = told(base(model="claude-sonnet-5"))
    assert (other.segment, other.path, other.lost_tokens) == ("model", "/model", 800)
    assert other.lost_tokens_at_breakpoint == 800


@pytest.mark.parametrize(
    ("changes", "segment", "path", "lost"),
    [
        ({"tool_choice": {"type": "any"}}, "messages", "/tool_choice", 100),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "messages", "/thinking", 100),
        ({"speed": "fast"}, "system", "/speed", 400),
    ],
)
def test_parameters_lose_what_the_table_says(
    changes: dict[str, Any], segment: str, path: str, lost: int
):
    found = told(base(**changes))
    assert (found.segment, found.path) == (segment, path)
    assert (found.lost_tokens, found.lost_tokens_at_breakpoint) == (lost, lost)
    assert found.parameter == path[1:]


def test_a_web_tool_keeps_the_tools():
    web = {"type": "web_search_20260318", "name": "web_search"}
    found = told(base(tools=[*base()["tools"], web]))
    assert (found.segment, found.path, found.kind) == ("system", "/tools/2", "added")
    assert (found.lost_tokens, found.parameter) == (400, "web_tools")


def test_an_image_loses_the_messages():
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    request = base()
    request["messages"] += [assistant("fine"), user("look", image)]
    found = told(request)
    assert (found.segment, found.path, found.message) == ("messages", "/messages/2/content/1", 2)
    assert (found.parameter, found.lost_tokens) == ("images", 100)


def test_the_earliest_of_several_changes_is_told():
    request = base(tool_choice={"type": "any"}, system=[text(300, "other", cache_control=MARK)])
    assert told(request).segment == "system"


def history(*said: str) -> dict[str, Any]:
    messages = [user(text(100, one)) for one in said]
    messages[-1]["content"][-1]["cache_control"] = MARK
    return base(messages=messages)


@pytest.mark.parametrize(
    ("said", "kind", "path"),
    [
        (("one", "two", "3"), "edited", "/messages/2/content/0/text"),
        (("one", "three"), "removed", "/messages/1/content/0"),
        (("one", "and", "two", "three"), "added", "/messages/1/content/0"),
    ],
)
def test_messages(said: tuple[str, ...], kind: str, path: str):
    found = told(history(*said), history("one", "two", "three"))
    assert (found.segment, found.kind, found.path) == ("messages", kind, path)
    assert found.message == int(path.split("/")[2])


def test_string_content_is_pointed_at_as_it_stands():
    before, after = (
        base(system="You help.", messages=[{"role": "user", "content": said}]) for said in "ab"
    )
    found = told(after, before)
    assert (found.path, found.changes[0].before) == ("/messages/0/content", "a")


def test_a_call_whose_input_keys_moved_is_only_reserialized():
    def asked(arguments: dict[str, int]) -> dict[str, Any]:
        return base(messages=[user("go"), assistant(call(1, input=arguments)), user(result(1))])

    found = told(asked({"y": 1, "x": 2}), asked({"x": 2, "y": 1}))
    assert found.only_reserialized
    assert (found.kind, found.path) == ("reserialized", "/messages/1/content/0/input")


def test_a_lookback_that_is_too_short_is_no_change_and_a_loss():
    blocks = [text(100, f"block {number}") for number in range(10)]
    before = {"model": "claude-opus-5", "messages": [user(*blocks)], "cache_control": MARK}
    after = deepcopy(before)
    for number in range(10):
        after["messages"] += [assistant(call(number)), user(result(number))]
    found = told(after, before)
    assert (found.segment, found.lost_tokens, found.lost_tokens_at_breakpoint) == (None, 0, 1000)
    assert "within 20 positions" in found.advice


def test_nothing_cached_is_nothing_lost_at_a_breakpoint():
    before, after = (
        {"model": "claude-opus-5", "messages": [user(text(100, said))]} for said in ("one", "two")
    )
    found = told(after, before)
    assert (found.lost_tokens, found.lost_tokens_at_breakpoint) == (100, 0)
    assert "no cache_control" in told(before, before).advice
    small = {**before, "cache_control": MARK}
    assert "minimum of 101 tokens" in told(small, small, minimum_tokens=101).advice


def test_a_deferred_tool_that_was_found_and_then_changed():
    reference = {"type": "tool_reference", "tool_name": "z"}
    messages = [
        user("find"),
        assistant(call(1)),
        user({"type": "tool_result", "tool_use_id": "toolu_1", "content": [reference]}),
    ]
    before, after = (
        base(tools=[tool("a"), tool("z", defer_loading=True, description=said)], messages=messages)
        for said in ("old", "new")
    )
    found = told(after, before)
    assert (found.segment, found.path, found.tool) == ("messages", "/tools/1", "z")
    assert "found by a search" in found.advice


def test_json_bodies_and_what_is_none():
    text_body = json.dumps(base())
    assert not explain(text_body, text_body.encode(), model_rules=RULES, count=size).broke
    with pytest.raises(InputError, match="after is not JSON"):
        explain(text_body, "{")
    with pytest.raises(InputError, match="before is not a request body"):
        explain("[]", text_body)
    with pytest.raises(InvalidRequest, match="messages: Field required"):
        explain('{"model": "claude-opus-5"}', text_body)
