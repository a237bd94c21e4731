"""The tool arrays of data/tools: the document's own, to the byte, and ours, fit for use."""

from __future__ import annotations

import pytest

from ctxlab import canonical, project, read_tools
from ctxlab.prefix import canonical_tool, prefix_chain

OURS = ("agent", "three_fields")


def array(name):
    return read_tools(project.data_dir() / "tools" / f"{name}.json")


def test_the_article_s_base_array_has_the_stated_sizes_and_chain():
    tools = array("article")
    assert [len(canonical(tool).encode()) for tool in tools] == [185, 144, 178, 146, 186]
    assert [digest[:16] for digest in prefix_chain(tools)] == [
        "e9645932b17d6a64",
        "fbb2335d5aea35d5",
        "0e12d8fc4347134c",
        "8d5a561fd07aa613",
        "0fab5d7489992a4c",
    ]


def test_the_article_s_tools_are_canonical_already():
    assert [canonical(canonical_tool(tool)) for tool in array("article")] == [
        canonical(tool) for tool in array("article")
    ]


def test_the_agent_has_six_core_tools_in_name_order_and_a_pool_of_at_least_ten():
    names = [tool["name"] for tool in array("agent")]
    assert names[:6] == sorted(names[:6])
    assert len(names[6:]) >= 10


@pytest.mark.parametrize(
    "tool", [tool for name in OURS for tool in array(name)], ids=lambda t: t["name"]
)
def test_our_tools_describe_themselves_and_every_argument(tool):
    schema = tool["input_schema"]
    assert len(tool["description"]) > 40
    assert all(len(argument["description"]) > 5 for argument in schema["properties"].values())
    assert set(schema["required"]) <= set(schema["properties"])


def test_the_tool_of_the_orderings_has_three_fields_and_three_properties():
    (tool,) = array("three_fields")
    assert len(tool) == len(tool["input_schema"]["properties"]) == 3
