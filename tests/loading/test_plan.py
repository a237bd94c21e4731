from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab import tokens
from ctxlab.cache import PromptCache
from ctxlab.errors import CtxlabError, InputError, InvalidRequest, UsageError
from ctxlab.loading import plan_loading

WINDOW = 200_000


def tool(name, words=20, **fields):
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    return {"name": name, "description": "word " * words, "input_schema": schema, **fields}


TOOLS = [tool(f"mcp__{server}__t{n}") for server in ("a", "b") for n in range(3)]
EACH = tokens.count(json.dumps(TOOLS[0], separators=(",", ":")))


def names(tools):
    return [t["name"] for t in tools]


def plan(mode=None, tools=TOOLS, window=WINDOW, always_load=(), **options):
    return plan_loading(tools, mode, window, always_load, **options)


def test_unset_defers_all_and_keeps_their_names_in_the_context():
    got = plan()
    assert (got.upfront, names(got.deferred)) == ((), names(TOOLS))
    assert got.context.definitions == 0
    assert got.context.names == tokens.count("\n".join(names(TOOLS)))
    assert got.tokens == got.context.names + got.context.search
    assert got.context.search > 0


def test_false_has_all_definitions_and_neither_search_nor_names():
    got = plan("false")
    assert (names(got.upfront), got.deferred) == (names(TOOLS), ())
    assert got.tokens == got.context.definitions == len(TOOLS) * EACH
    assert got.request_tools() == TOOLS


@pytest.mark.parametrize(("fit", "percent"), [(0, 0), (1, 1), (4, 4), (6, 6), (6, 99)])
def test_auto_fills_the_share_in_order_and_defers_the_excess(fit, percent):
    window = 100 * EACH
    got = plan(f"auto:{percent}", window=window)
    assert names(got.upfront) == names(TOOLS)[:fit]
    assert names(got.deferred) == names(TOOLS)[fit:]
    assert got.threshold == percent * EACH
    assert got.context.definitions <= got.threshold


def test_auto_stops_at_the_first_that_does_not_fit():
    tools = [tool("small"), tool("huge", 5_000), tool("late")]
    assert names(plan("auto", tools, window=10_000).upfront) == ["small"]


def test_what_is_always_loaded_fills_the_share_first():
    got = plan("auto:2", TOOLS, 100 * EACH, ["mcp__b__t2"])
    assert names(got.upfront) == ["mcp__a__t0", "mcp__b__t2"]


@pytest.mark.parametrize("wanted", [["b"], ["mcp__b__t0", "mcp__b__t1", "mcp__b__t2"]])
def test_always_load_takes_servers_and_tools(wanted):
    got = plan(None, TOOLS, WINDOW, wanted)
    assert names(got.upfront) == names(TOOLS[3:])
    assert "alwaysLoad keeps 3 upfront" in got.reason


def test_a_server_whose_name_begins_like_another_is_another():
    tools = [tool("mcp__git__x"), tool("mcp__git_hub__y")]
    assert names(plan(None, tools, WINDOW, ["git"]).upfront) == ["mcp__git__x"]


def test_instructions_count_in_every_mode_up_to_two_kilobytes():
    said = {"a": "Use me. " * 5, "b": "word " * 5_000, "c": ""}
    two_kilobytes = ("word " * 5_000)[:2_048]
    expected = tokens.count("Use me. " * 5) + tokens.count(two_kilobytes)
    for mode in (None, "false"):
        assert plan(mode, instructions=said).context.instructions == expected


def test_the_request_still_holds_every_definition():
    sent = plan().request_tools("regex")
    assert sent[0]["type"] == "tool_search_tool_regex_20251119"
    assert [t["defer_loading"] for t in sent[1:]] == [True] * len(TOOLS)
    assert [{k: v for k, v in t.items() if k != "defer_loading"} for t in sent[1:]] == TOOLS
    assert "defer_loading" not in TOOLS[0]


def test_the_marker_stands_on_the_last_tool_that_is_not_deferred():
    marker = {"type": "ephemeral"}
    got = plan(None, TOOLS, WINDOW, ["b"])
    sent = got.request_tools(cache_control=marker)
    assert got.breakpoint == 3
    assert [n for n, t in enumerate(sent) if "cache_control" in t] == [3]
    assert plan().breakpoint == 0
    assert plan("false").breakpoint == 5
    request = {
        "model": "claude-opus-5",
        "tools": sent,
        "messages": [{"role": "user", "content": "x"}],
    }
    PromptCache().send(request)


def test_a_denied_search_tool_leaves_the_deferred_out_of_reach():
    got = plan(search_denied=True)
    assert got.warnings == ("the search tool is denied: 6 deferred tools stay out of reach",)
    assert got.context.search == 0
    assert got.breakpoint is None
    sent = got.request_tools()
    assert all(t["defer_loading"] for t in sent)
    request = {
        "model": "claude-opus-5",
        "tools": sent,
        "messages": [{"role": "user", "content": "x"}],
    }
    with pytest.raises(InvalidRequest, match="All tools cannot be deferred"):
        PromptCache().send(request)
    with pytest.raises(UsageError, match="no tool may carry a marker"):
        got.request_tools(cache_control={"type": "ephemeral"})


def test_true_behind_a_proxy_warns():
    proxy = {"base_url": "https://proxy.example"}
    assert plan("true", **proxy).warnings == (
        "requests fail behind a proxy that drops tool_reference blocks",
    )
    assert plan(None, **proxy).warnings == ()
    assert len(plan(None, **proxy).upfront) == len(TOOLS)


def test_a_marker_on_a_deferred_tool_is_the_apis_400():
    marked = [tool("a"), tool("b", cache_control={"type": "ephemeral"})]
    with pytest.raises(InvalidRequest, match="Tool 'b' cannot have both defer_loading=true and"):
        plan(None, marked)
    assert names(plan("false", marked).upfront) == ["a", "b"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"tools": []}, "no tools"),
        ({"tools": None}, "a list of tool dicts, found a NoneType"),
        ({"always_load": None}, "a list of names; found None"),
        ({"tools": {"name": "a"}}, "a list of tool dicts, found a dict"),
        ({"tools": [tool("a"), tool("a")]}, r"tools\[1\]: 'a' is the name of tools\[0\]"),
        ({"tools": [{"name": "a"}]}, r"tools\[0\].input_schema: missing"),
        ({"tools": ["a"]}, r"tools\[0\]: a tool is an object"),
        ({"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}, "an MCP tool has a name"),
        ({"tools": [{"type": "tool_search_tool_bm25_20251119"}]}, "leave it out"),
        ({"tools": [tool("a") | {"input_schema": {"properties": []}}]}, "JSON schema is invalid"),
        ({"tools": [tool("a", extra={1, 2})]}, "set"),
        ({"mode": "sometimes"}, "found 'sometimes'"),
        ({"window": 0}, "at least 1 token, found 0"),
        ({"window": "200k"}, "number of tokens, found '200k'"),
        ({"always_load": "a"}, "a list of names"),
        ({"always_load": ["nobody"]}, "no tool and no server is called 'nobody'"),
        ({"base_url": "proxy"}, "base_url starts with"),
        ({"platform": "mars"}, "platform is"),
    ],
)
def test_bad_input(bad, words):
    with pytest.raises(CtxlabError, match=words) as refused:
        plan(**bad)
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, InputError | UsageError | InvalidRequest)


def test_no_such_search():
    with pytest.raises(UsageError, match="search is one of regex, bm25"):
        plan().request_tools("semantic")


@given(
    st.sampled_from([None, "true", "false", "auto", "auto:1", "auto:50"]),
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.integers(1, 3_000),
    st.booleans(),
)
def test_upfront_and_deferred_partition_the_tools(mode, sizes, window, betas_disabled):
    tools = [tool(f"t{n}", size) for n, size in enumerate(sizes)]
    got = plan(mode, tools, window, betas_disabled=betas_disabled)
    assert sorted([*names(got.upfront), *names(got.deferred)]) == sorted(names(tools))
    assert all(any(t is given for given in tools) for t in (*got.upfront, *got.deferred))
    assert got.tokens == sum(vars(got.context).values())
    assert len(got.request_tools()) == len(tools) + bool(got.deferred)
