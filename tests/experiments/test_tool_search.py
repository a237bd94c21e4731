"""Notebook 09 on registries small enough to know the answers."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from ctxlab.errors import DataError, InputError
from ctxlab.experiments import (
    tool_search_missing,
    tool_search_quality,
    tool_search_registry,
    tool_search_session,
    tool_search_size,
)
from ctxlab.experiments.tool_search_registry import Registry
from ctxlab.experiments.tool_tasks import Task
from ctxlab.loading import Listing, ServerFailure, ServerTools

WINDOW = 200_000


def tool(name, description="", **properties):
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "input_schema": schema}


TOOLS = [
    *(tool(f"mcp__mail__send_{n}", f"Sends letter number {n}. " * 3) for n in range(7)),
    tool("mcp__cal__events", "Reads appointments."),
    tool("mcp__cal__book", "Makes one."),
]
REGISTRY = Registry(tuple(TOOLS), {"mail": "I send mail."})
TASKS = [
    Task("day", "What is on tomorrow?", ("appointments",), ("mcp__cal__events",)),
    Task("meet", "Meet Lena.", ("appointment", "new"), ("mcp__cal__book",)),
]


def test_the_registry_knows_its_servers():
    assert REGISTRY.servers == ["mail", "cal"]
    rest = REGISTRY.without(["mail"])
    assert (rest.servers, rest.instructions) == (["cal"], {})


def test_a_server_that_failed_is_kept_by_name_and_reason():
    answered = ServerTools("s", (tool("t") | {"inputSchema": {}},), "Hi", always_load=True)
    listing = Listing((answered,), (ServerFailure("gone", "no answer"),))
    registry = tool_search_registry.joined(listing)
    assert registry.always_load == ("mcp__s__t",)
    assert registry.instructions == {"s": "Hi"}
    assert tool_search_registry.answers(registry).to_dict("list") == {
        "server": ["s", "gone"],
        "tools": [1, 0],
        "answer": ["answered", "no answer"],
    }


def test_no_server_that_answers_is_an_error_with_every_reason():
    failed = (ServerFailure("a", "no answer"), ServerFailure("b", "it ended"))
    with pytest.raises(DataError, match="no MCP server gave a tool; a: no answer; b: it ended"):
        tool_search_registry.joined(Listing((), failed))


def test_an_empty_list_of_tools_is_an_error(tmp_path):
    file = tmp_path / "none.json"
    file.write_text("[]")
    with pytest.raises(InputError, match=r"none.json: no tools"):
        tool_search_registry.load(file)


def test_an_invalid_mcp_json_is_named_with_its_place(tmp_path):
    file = tmp_path / ".mcp.json"
    file.write_text('{"mcpServers": {"x": {"command": 3}}}')
    with pytest.raises(InputError, match=r"mcp.json:/mcpServers/x/command: expected a text"):
        tool_search_registry.load("", file)


def test_modes_add_up_and_false_is_the_sum_of_the_servers():
    modes = tool_search_size.by_mode(REGISTRY, WINDOW).set_index("mode")
    parts = modes[list(tool_search_size.PARTS)].sum(axis=1)
    assert (parts == modes["tokens"]).all()
    servers = tool_search_size.by_server(REGISTRY)
    assert modes.loc["false", "definitions"] == servers["as_sent"].sum()
    assert modes.loc["unset", "deferred_tokens"] == servers["as_sent"].sum()
    assert modes.loc["unset", "request_bytes"] > modes.loc["false", "request_bytes"]
    assert (servers["indented"] > servers["as_sent"]).all()


def test_missing_servers_lower_the_total_by_their_share():
    missing = tool_search_size.by_missing(REGISTRY, WINDOW).set_index("missing")
    servers = tool_search_size.by_server(REGISTRY).set_index("server")
    gone = missing.loc["none", "upfront"] - missing.loc["cal", "upfront"]
    assert gone == servers.loc["cal", "as_sent"]
    assert missing.loc["all but the largest", "tools"] == 7


def test_a_single_server_has_no_other_cases():
    assert len(tool_search_size.by_missing(REGISTRY.without(["mail"]), WINDOW)) == 1


def test_headline_compares_a_server_of_six():
    figures = tool_search_size.headline(REGISTRY, WINDOW).set_index("figure")["tokens"]
    assert figures["difference"] == figures["upfront"] - figures["deferred"]
    assert figures["with"] > figures["without"]


def test_the_searches_show_their_limits():
    limits = tool_search_size.limits()
    assert limits["results"].tolist() == [5, 5]
    assert limits["found_until"].tolist() == [2_048, 2_048]


def found():
    return tool_search_quality.search_all(TOOLS, TASKS)


def test_recall_counts_what_is_among_the_first():
    recall = tool_search_quality.recall(tool_search_quality.ranks(found(), TASKS))
    rows = recall.set_index("search")
    assert rows.loc[tool_search_quality.BM25_KEYWORDS, "recall_5"] == 50.0
    assert rows.loc[tool_search_quality.BM25_KEYWORDS, "mean_rank"] == 1.0
    assert rows.loc[tool_search_quality.BM25_KEYWORDS, "never"] == 1
    assert rows.loc[tool_search_quality.REGEX, "recall_5"] == 50.0


def test_the_whole_registry_is_the_last_size_for_every_seed():
    sizes = tool_search_quality.by_size(TOOLS, TASKS, found(), [3, 9, 500], 4)
    recall = tool_search_quality.recall(tool_search_quality.ranks(found(), TASKS))
    assert sorted(set(sizes["size"])) == [3, 9]
    whole = sizes[sizes["size"] == 9].set_index("search")
    assert whole["recall_5"].to_dict() == recall.set_index("search")["recall_5"].to_dict()
    assert (whole["tasks"] == 4 * len(TASKS)).all()


def test_a_patterns_matches_in_a_subset_are_those_of_the_whole_thinned_out():
    subset = TOOLS[3:]
    names = {t["name"] for t in subset}
    whole = tool_search_quality._within(found(), names)
    alone = tool_search_quality.search_all(subset, TASKS)
    for way in (tool_search_quality.REGEX, tool_search_quality.REGEX_ARRAY):
        assert whole[way] == alone[way]


def test_words_behind_the_cut_are_lost():
    by_cut = tool_search_quality.by_cut(TOOLS, TASKS, found()).set_index(["description", "search"])
    way = tool_search_quality.BM25_KEYWORDS
    assert by_cut.loc[("before the cut", way), "recall_5"] == 50.0
    assert by_cut.loc[("behind the cut", way), "recall_5"] == 0.0


def test_a_family_is_found_by_its_prefix_only():
    families = tool_search_quality.families(TOOLS).set_index("server")
    assert families.loc["mail", "found_with_prefix"] == 7
    assert families.loc["mail", "found_without_prefix"] == 0


def test_names_that_are_one_without_their_servers_stay_two():
    tools = [tool("mcp__a__list", "apples"), tool("mcp__b__list", "pears")]
    tasks = [Task("pear", "A pear?", ("pears",), ("mcp__b__list",))]
    found_ = tool_search_quality.search_all(tools, tasks)
    naming = tool_search_quality.by_naming(tools, tasks, found_)
    assert (naming["recall_5"][naming["search"] == "BM25, keywords"] == 100).all()


def test_a_tool_that_none_of_its_tasks_finds_is_listed_with_what_it_lacks():
    lost = tool_search_missing.unfindable(TOOLS, TASKS, found())
    assert lost["tool"].tolist() == ["mcp__cal__book"]
    assert lost["missing"].tolist() == ["meet lena appointment new"]
    assert lost["best_rank"].isna().all()
    by_tool = tool_search_missing.by_tool(TOOLS, TASKS, found())
    sums = tool_search_missing.found_tools(by_tool).set_index("search")
    assert sums.loc["BM25, keywords", ["found", "lost"]].tolist() == [1, 1]


def test_only_long_descriptions_lose_words():
    tools = [tool("a", "word " * 500 + "zebra"), tool("b", "word")]
    beyond = tool_search_missing.beyond_cut(tools)
    assert beyond.to_dict("list") == {"tool": ["a"], "bytes": [2_505], "words_lost": ["zebra"]}


def session(tasks=None, turns=4):
    return tool_search_session.Session(tasks or {}, turns, "claude-opus-5", "2026-11-30", 50, 600)


NEEDS = {2: ("appointments", "mcp__cal__events"), 3: ("letter", "mcp__mail__send_1")}


def test_over_the_sdk_and_without_it_the_rows_are_the_same():
    for mode, adds in (("true", False), ("true", True), ("false", False)):
        plan = tool_search_size.plan(REGISTRY, mode, WINDOW)
        rows = [
            tool_search_session.play(api(session(NEEDS)), session(NEEDS), plan, adds=adds)
            for api in (tool_search_session.SdkApi, tool_search_session.LayoutApi)
        ]
        assert rows[0] == rows[1]


def test_a_search_keeps_the_prefix_and_adding_to_tools_loses_it():
    requests = tool_search_session.run(REGISTRY, session(NEEDS), WINDOW, ["cal"])
    totals = tool_search_session.totals(requests).set_index("strategy")
    assert totals.loc[tool_search_session.DEFERRED, "kept_after_search"] == 100
    assert totals.loc[tool_search_session.APPENDED, "kept_after_search"] == 0
    assert pd.isna(totals.loc[tool_search_session.UPFRONT, "kept_after_search"])
    assert (totals["requests"] == 6).all()
    events = requests[requests["strategy"] == tool_search_session.ALWAYS]["event"].tolist()
    assert events == ["", "call", "result", "search", "result", ""]


def test_the_session_needs_tools_that_can_be_found():
    needed = tool_search_session.draw(REGISTRY, TASKS, [2, 3])
    assert needed == {2: ("appointments", "mcp__cal__events")}
    assert tool_search_session.draw(REGISTRY, [], [2]) == {}


def test_the_grid_compares_both_on_the_same_session():
    grid = tool_search_session.break_even(REGISTRY, session(), WINDOW, [2, 9], [0, 1, 5, 50])
    assert grid[["tools", "searches"]].to_numpy().tolist() == [[2, 0], [2, 1], [9, 0], [9, 1]]
    assert (
        grid["cheaper"] == grid["ratio"].map(lambda r: "deferred" if r < 1 else "upfront")
    ).all()


def test_conclusions_are_sentences_of_the_tables():
    modes = tool_search_size.by_mode(REGISTRY, WINDOW)
    told = tool_search_size.conclusion(modes, tool_search_size.by_missing(REGISTRY, WINDOW))
    assert f"of {modes['tokens'][0]:,} tokens" in told
    requests = tool_search_session.run(REGISTRY, session(), WINDOW, [])
    grid = tool_search_session.break_even(REGISTRY, session(), WINDOW, [9], [0])
    assert "upfront" in tool_search_session.conclusion(tool_search_session.totals(requests), grid)
    assert json.dumps(told)
