from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxlab.prefix import canonical, canonical_tool
from ctxlab.tools import Toolset, workspace_tools
from ctxlab.tools.read_file import MAX_CHARS, MAX_LINES
from ctxlab.tools.toolset import MAX_RESULTS
from ctxlab.truncation import MemoryStorage, ResourceStore, TruncatingWrapper, parse_notice


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Toolset:
    root = tmp_path_factory.mktemp("workspace")
    (root / "src").mkdir()
    (root / "src" / "app.py").write_text("def main():\n    return 1\n")
    return workspace_tools(root)


def test_definitions_are_canonical_and_in_a_fixed_order(tools: Toolset):
    definitions = tools.definitions
    assert [tool["name"] for tool in definitions] == ["read_file", "grep_search"]
    for tool in definitions:
        assert json.dumps(tool) == json.dumps(canonical_tool(tool))
        assert canonical(tool) == canonical(canonical_tool(tool))
    definitions[0]["name"] = "changed"
    assert tools.definitions[0]["name"] == "read_file"


def test_everything_is_described_with_units_and_caps(tools: Toolset):
    read, grep = tools.definitions
    for tool in (read, grep):
        assert "Use it" in tool["description"]
        assert "1-based" in json.dumps(tool)
        for argument in tool["input_schema"]["properties"].values():
            assert len(argument["description"]) > 20
    assert f"{MAX_LINES} lines" in read["description"]
    assert f"{MAX_CHARS} characters" in read["description"]
    limit = read["input_schema"]["properties"]["limit"]
    assert (limit["default"], limit["minimum"]) == (MAX_LINES, 1)
    assert f"at most {MAX_LINES}" in limit["description"]
    results = grep["input_schema"]["properties"]["max_results"]
    assert (results["default"], results["minimum"]) == (MAX_RESULTS, 1)
    assert f"at most {MAX_RESULTS}" in results["description"]


def test_calls_work(tools: Toolset):
    assert "2 total lines" in tools.call("read_file", {"path": "src/app.py"})
    assert "1:def main" in tools.call("grep_search", {"pattern": "def "})


def test_the_cap_holds_whatever_is_asked(tmp_path: Path):
    (tmp_path / "a").write_text("x\n" * 1000)
    answer = workspace_tools(tmp_path).call("grep_search", {"pattern": "x", "max_results": 900})
    assert "showing 200 of 1000" in answer


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("read_files", {}, "there is no tool 'read_files'; there are read_file, grep_search"),
        (None, {}, "there is no tool None"),
        (["read_file"], {}, "there is no tool ['read_file']"),
        ("x" * 10_000, {}, "there is no tool"),
        ("read_file", {}, "read_file: the argument path is missing; it takes path (string)"),
        ("read_file", None, "must be one JSON object, not null"),
        ("read_file", "src/app.py", 'not the string "src/app.py"'),
        ("read_file", {"file": "x"}, 'no argument "file"; it takes path (string)'),
        ("read_file", {"path": 1}, "path must be a string, not the number 1"),
        ("read_file", {"path": "src/app.py", "offset": "1"}, "offset must be a whole number"),
        ("grep_search", {"pattern": "x", "literal": "yes"}, "literal must be true or false"),
        ("grep_search", {"pattern": "x", "max_results": 0}, "max_results must be at least 1"),
        ("read_file", {"path": "src/nope.py"}, "'src/nope.py' does not exist in the workspace"),
        ("read_file", {"path": "src"}, "'src' is a directory, not a file"),
        ("read_file", {"path": "src/app.py/x"}, "a part of it is a file"),
    ],
)
def test_what_is_wrong_comes_back_as_text(tools: Toolset, name: Any, arguments: Any, told: str):
    answer = tools.call(name, arguments)
    assert answer.startswith("Error: ")
    assert told in answer
    assert "\n" not in answer
    assert len(answer) < 500


def test_a_workspace_that_is_gone_is_told(tmp_path: Path):
    (tmp_path / "root").mkdir()
    tools = workspace_tools(tmp_path / "root")
    (tmp_path / "root").rmdir()
    told = tools.call("grep_search", {"pattern": "x"})
    assert told == "Error: the workspace's folder is not there any more"
    assert tools.call("read_file", {"path": "a"}) == "Error: 'a' does not exist in the workspace"


@pytest.fixture
def store() -> ResourceStore:
    return ResourceStore(MemoryStorage())


def test_a_store_adds_its_tools_at_the_end(tmp_path: Path, store: ResourceStore):
    alone, joined = workspace_tools(tmp_path), workspace_tools(tmp_path, store=store)
    names = [tool["name"] for tool in joined.definitions]
    assert names == ["read_file", "grep_search", "lookup_full_content", "search_full_content"]
    assert joined.definitions[:2] == alone.definitions
    assert all(json.dumps(tool) == json.dumps(canonical_tool(tool)) for tool in joined.definitions)


def test_what_was_cut_is_got_back_through_the_call_that_the_notice_names(
    tmp_path: Path, store: ResourceStore
):
    (tmp_path / "a.log").write_text("".join(f"entry number {n}\n" for n in range(1000)))
    tools, wrapper = workspace_tools(tmp_path, store=store), TruncatingWrapper(store, limit=2000)
    whole = tools.call("read_file", {"path": "a.log"})
    cut = wrapper.wrap("read_file", whole)
    assert len(cut) <= 2000
    _, notice = parse_notice(cut)
    assert notice is not None
    name, _, arguments = notice["recovery_hint"].partition("(")
    page = json.loads(tools.call(name, eval(f"dict({arguments}", {})))
    assert page["content"] in whole
    found = json.loads(
        tools.call("search_full_content", {"resource_id": page["resource_id"], "pattern": "r 777$"})
    )
    assert found["matches"][0]["text"] == "entry number 777"


@pytest.mark.parametrize("arguments", [None, {}, {"resource_id": 3}, {"resource_id": "feedbeef"}])
def test_lookup_tools_say_in_json_what_is_wrong(
    tmp_path: Path, store: ResourceStore, arguments: Any
):
    tools = workspace_tools(tmp_path, store=store)
    for name in ("lookup_full_content", "search_full_content"):
        assert list(json.loads(tools.call(name, arguments))) == ["error"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
texts = st.sampled_from(
    [
        "src/app.py",
        "src",
        "..",
        "/",
        "",
        "\0",
        "\ud800",
        "a\n",
        "*",
        "**/*.py",
        "[",
        "(",
        r"\p",
        "def",
    ]
)
numbers = st.integers() | st.sampled_from([0, 1, 2**63, -(2**63), 10**5000]) | st.floats()
arguments = st.dictionaries(
    st.sampled_from(
        ["path", "offset", "limit", "pattern", "include", "max_results", "literal", "x"]
    ),
    texts | numbers | st.booleans() | json_values,
)
likely = st.fixed_dictionaries(
    {},
    optional={
        "path": texts | st.text(st.characters()),
        "offset": numbers,
        "limit": numbers,
    },
) | st.fixed_dictionaries(
    {},
    optional={
        "pattern": texts | st.text(st.characters()),
        "include": texts | st.text(st.characters()),
        "max_results": numbers,
        "literal": st.booleans(),
    },
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["read_file", "grep_search"]) | json_values, json_values | arguments | likely
)
def test_no_call_of_a_model_is_an_exception(tools: Toolset, name: Any, arguments: Any):
    answer = tools.call(name, arguments)
    answer.encode()
    assert answer.startswith(("Error: ", "File: ", "Found ", "No matches "))
