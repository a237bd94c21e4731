from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import math

import pytest

from ctxlab.errors import InputError, ToolPrefixViolation
from ctxlab.prefix import (
    ToolSegments,
    ToolSetSession,
    canonical,
    canonical_tool,
    prefix_chain,
)
from tests.prefix.arrays import base_array, reversed_keys, tool

MARK = {"type": "ephemeral"}


def segments() -> ToolSegments:
    tools = base_array()
    return ToolSegments(core=tools[:3], tail=tools[3:])


def test_the_breakpoint_stands_on_the_last_core_tool():
    sent = segments().to_request_tools()
    assert [one["name"] for one in sent] == [one["name"] for one in base_array()]
    assert [i for i, one in enumerate(sent) if "cache_control" in one] == [2]
    assert sent[2]["cache_control"] == MARK


def test_what_is_sent_is_canonical():
    tools = reversed_keys(base_array())
    tools[0]["input_schema"]["required"] = ["top_k", "query"]
    sent = ToolSegments(tools[:3], tools[3:]).to_request_tools()
    assert json.dumps(sent) == json.dumps(segments().to_request_tools())
    assert json.dumps(sent) == json.dumps(sent, sort_keys=True)
    sent[2].pop("cache_control")
    assert prefix_chain(sent) == prefix_chain(base_array())


def test_core_fingerprint():
    core = base_array()[:3]
    text = "".join(canonical(canonical_tool(one)) for one in core)
    expected = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert segments().core_fingerprint == expected == prefix_chain(core)[-1][:16]
    assert ToolSegments(core).core_fingerprint == expected  # the tail is no part of it
    assert ToolSegments(core, ttl="1h").core_fingerprint == expected  # nor is the marker


def test_segments_are_frozen_and_hold_the_callers_dicts():
    core, tail = base_array()[:2], base_array()[2:]
    made = ToolSegments(core, tail)
    kept, given = [*made.core, *made.tail], core + tail
    assert [id(one) for one in kept] == [id(one) for one in given]
    core.append(tail[0])
    assert len(made.core) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.core = ()  # type: ignore[misc]


def test_ttl():
    sent = ToolSegments(base_array(), ttl="1h").to_request_tools()
    assert sent[-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    with pytest.raises(InputError, match="'2h'"):
        ToolSegments(base_array(), ttl="2h")  # type: ignore[arg-type]


def test_a_tail_with_markers_and_deferred_tools():
    tail = [{**tool("a"), "defer_loading": True}, {**tool("b"), "cache_control": MARK}]
    sent = ToolSegments(base_array()[:1], tail).to_request_tools()
    assert [("cache_control" in one, one.get("defer_loading")) for one in sent] == [
        (True, None),
        (False, True),
        (True, None),
    ]


def marked(name: str, **marker: str) -> dict:
    return {**tool(name), "cache_control": {"type": "ephemeral", **marker}}


@pytest.mark.parametrize(
    ("core", "tail", "told"),
    [
        ([], [], r"^the core is empty"),
        ([], [tool("a")], r"^the core is empty"),
        ([tool("a"), tool("a")], [], r"^/core/1/name: the name 'a' is used already, by /core/0"),
        ([tool("a")], [tool("b"), tool("b")], r"^/tail/1/name: .* by /tail/0"),
        ([tool("a")], [tool("b"), tool("a")], r"^/tail/1/name: .* by /core/0"),
        ([marked("a")], [], r"^/core/0/cache_control: the core tool 'a' must not carry"),
        ([{**tool("a"), "defer_loading": True}], [], r"^/core/0/defer_loading: the core tool 'a'"),
        ([{**tool("a"), "cache_control": None}], [], r"^/core/0/cache_control"),
        ([tool("a"), "b"], [], r"^/core/1: a tool is a dict, this is of type str"),
        ([tool("a")], [None], r"^/tail/0: a tool is a dict, this is of type NoneType"),
        ([{"description": "x"}], [], r"^/core/0/name: .* missing"),
        ([{"name": ""}], [], r"^/core/0/name: .* is ''"),
        ([{"name": 3}], [], r"^/core/0/name: .* is 3"),
        (tool("a"), [], r"^core is a list of tool dicts, not of type dict"),
        ([tool("a")], "tail", r"^tail is a list of tool dicts"),
        (None, [], r"^core is a list"),
        ([{**tool("a"), "x": math.nan}], [], r"^/core/0/x: nan"),
        ([tool("a")], [{**tool("b"), "x": {1: 2}}], r"^/tail/0/x/1: the key 1"),
        ([tool("a")], [marked(n) for n in "bcde"], r"^core and tail carry 5 breakpoints"),
        ([tool("a")], [marked("b", ttl="1h")], r"^/tail/0: a 1h breakpoint"),
        ([tool("a")], [{**marked("b"), "defer_loading": True}], r"^/tail/0: a deferred tool"),
        ([tool("a")], [{**tool("b"), "cache_control": "on"}], r"^/tail/0/cache_control"),
    ],
)
def test_refused_at_construction(core, tail, told):
    with pytest.raises(InputError, match=told):
        ToolSegments(core, tail)


def test_markers_that_the_api_takes():
    assert len(ToolSegments([tool("a")], [marked(n) for n in "bcd"]).to_request_tools()) == 4
    longer = ToolSegments([tool("a")], [marked("b", ttl="1h"), marked("c")], ttl="1h")
    assert longer.to_request_tools()[1]["cache_control"]["ttl"] == "1h"


def test_toolsets_without_a_name():
    tail = [{"type": "mcp_toolset", "mcp_server_name": name} for name in ("x", "y")]
    assert len(ToolSegments([tool("a")], tail).to_request_tools()) == 3
    with pytest.raises(InputError, match="'mcp_toolset:x' is used already"):
        ToolSegments([tool("a")], [tail[0], tail[0]])


# ToolSetSession


def test_the_tail_changes_and_the_core_stays():
    session = ToolSetSession(segments())
    first = session.request_tools()
    session.mutate_tail([tool("new", x="string")])
    second = session.request_tools()
    assert json.dumps(first[:3]) == json.dumps(second[:3])
    assert [one["name"] for one in second[3:]] == ["new"]
    session.mutate_tail([])
    assert len(session.request_tools()) == 3


def test_segments_are_the_callers_own_and_requests_are_copies():
    made = segments()
    before = copy.deepcopy((made.core, made.tail))
    session = ToolSetSession(made)
    assert session.segments is made
    for sent in session.request_tools():
        sent["input_schema"]["properties"].clear()
        sent.clear()
    assert (made.core, made.tail) == before
    assert len(session.request_tools()[0]["input_schema"]["properties"]) == 2


@pytest.mark.parametrize("act", ["request", "mutate"])
def test_a_core_dict_changed_in_place_is_caught(act):
    made = segments()
    session = ToolSetSession(made)
    pinned = made.core_fingerprint
    made.core[1]["input_schema"]["properties"]["path"]["type"] = "integer"
    with pytest.raises(ToolPrefixViolation) as caught:
        session.request_tools() if act == "request" else session.mutate_tail([])
    assert (caught.value.pinned, caught.value.found) == (pinned, made.core_fingerprint)
    assert pinned in str(caught.value)
    assert made.core_fingerprint in str(caught.value)
    assert session.segments is made


def test_a_core_put_back_is_well_again():
    session = ToolSetSession(segments())
    kept = session.segments.core[0].pop("description")
    with pytest.raises(ToolPrefixViolation):
        session.request_tools()
    session.segments.core[0]["description"] = kept  # another key order: the same when sent
    assert len(session.request_tools()) == 5


def test_segments_with_another_core_are_caught():
    session = ToolSetSession(segments())
    session.segments = ToolSegments(base_array()[:2], base_array()[2:])
    with pytest.raises(ToolPrefixViolation):
        session.request_tools()


def test_a_marker_put_on_a_core_dict_is_caught():
    session = ToolSetSession(segments())
    session.segments.core[0]["cache_control"] = MARK
    with pytest.raises(ToolPrefixViolation):
        session.request_tools()


def test_a_dict_changed_into_what_cannot_be_sent():
    session = ToolSetSession(segments())
    session.segments.tail[0]["name"] = "read_file"
    with pytest.raises(InputError, match=r"^/tail/0/name: .*used already"):
        session.request_tools()
    session.segments.core[0]["x"] = {1, 2}
    with pytest.raises(InputError, match=r"^/core/0/x: a set"):
        session.request_tools()


def test_a_refused_tail_changes_nothing():
    session = ToolSetSession(segments())
    before = session.request_tools()
    with pytest.raises(InputError, match="used already"):
        session.mutate_tail([tool("read_file")])
    assert session.request_tools() == before


def test_the_marker_setting_outlives_a_new_tail():
    session = ToolSetSession(ToolSegments([tool("a")], ttl="1h"))
    session.mutate_tail([tool("b")])
    assert session.request_tools()[0]["cache_control"]["ttl"] == "1h"


def test_a_session_takes_segments():
    with pytest.raises(InputError, match="takes ToolSegments"):
        ToolSetSession(base_array())  # type: ignore[arg-type]
