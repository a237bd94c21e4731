from __future__ import annotations

import ast
import inspect
import json

import mcp.types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab import tokens
from ctxlab.errors import StoreError, UsageError
from ctxlab.tools import workspace_tools
from ctxlab.truncation import (
    MemoryStorage,
    ResourceStore,
    SqliteStorage,
    TokenBudget,
    TruncatingWrapper,
    dynamic_limit,
    parse_notice,
    truncate,
)
from ctxlab.truncation.lookup import LookupTools
from ctxlab.truncation.notice import written_call
from tests.truncation.strategies import documents, log, records, texts

FIELDS = [
    *("isTruncated", "tool_name", "original_chars", "returned_chars", "returned_fraction_percent"),
    *("truncation_reason", "recovery_hint", "resource_id", "unit", "kind", "shown", "omitted"),
]


@pytest.fixture
def store():
    return ResourceStore(MemoryStorage())


def called(toolset, hint):
    """A call as a notice writes it, parsed and made through the toolset."""
    call = ast.parse(hint, mode="eval").body
    assert isinstance(call, ast.Call)
    assert not call.args
    arguments = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    assert written_call(LookupTools.lookup_full_content, **arguments) == hint
    return json.loads(toolset.call(call.func.id, arguments))


def restored(toolset, resource_id, limit=4000):
    """All pages of a resource, joined."""
    parts, offset = [], 0
    while True:
        arguments = {"resource_id": resource_id, "offset": offset, "limit": limit}
        page = json.loads(toolset.call("lookup_full_content", arguments))
        parts.append(page["content"])
        if not page["has_more"]:
            return "".join(parts), len(parts)
        assert page["returned_chars"] > 0
        offset += page["returned_chars"]


@given(
    texts.map(lambda text: text * 60),
    st.integers(700, 3000),
    st.sampled_from(["chars", "tokens"]),
    st.sampled_from(["auto", "plain", "log", "markdown", "code", "csv"]),
    st.sampled_from(["auto", "head", "tail", "both"]),
)
@settings(max_examples=50, deadline=None)
def test_whatever_is_cut_can_be_restored_by_the_call_in_the_notice(text, limit, unit, kind, keep):
    store = ResourceStore(MemoryStorage())
    toolset = workspace_tools(".", store)
    wrapped = TruncatingWrapper(store, limit, unit, kind, keep).wrap("a tool", text)
    assert (len(wrapped) if unit == "chars" else tokens.count(wrapped)) <= limit
    body, fields = parse_notice(wrapped)
    if fields is None or "resource_id" not in fields:
        assert wrapped == text
        return
    assert list(fields)[:12] == FIELDS
    start = fields["omitted"][0][0]
    assert text[:start] == body[:start]
    page = called(toolset, fields["recovery_hint"])
    assert page["offset"] == start
    assert page["content"] == text[start : start + 4000]
    assert restored(toolset, fields["resource_id"])[0] == text
    assert fields["original_chars"] == len(text)
    assert fields["returned_chars"] == len(body)
    wrapped.encode()


@given(documents.filter(lambda text: len(text) > 900))
@settings(max_examples=20, deadline=None)
def test_a_json_body_parses_beside_its_notice(text):
    wrapped = TruncatingWrapper(ResourceStore(MemoryStorage()), 800).wrap("t", text)
    body, fields = parse_notice(wrapped)
    assert fields is not None
    assert fields["kind"] == "json"
    json.loads(body)


@pytest.mark.parametrize("unit", ["chars", "tokens"])
def test_the_notice_counts_within_the_limit(store, unit):
    wrapped = TruncatingWrapper(store, 2000, unit).wrap("t", "one word or two\n" * 50_000)
    size = len(wrapped) if unit == "chars" else tokens.count(wrapped)
    assert 1980 <= size <= 2000


@pytest.mark.parametrize("unit", ["chars", "tokens"])
@pytest.mark.parametrize("limit", [1, 50, 100])
def test_a_limit_that_does_not_hold_the_notice_is_refused_and_nothing_kept(limit, unit):
    storage = MemoryStorage()
    with pytest.raises(UsageError, match=rf"a limit of {limit} {unit} does not hold the trunc"):
        TruncatingWrapper(ResourceStore(storage), limit, unit).wrap("t", "x" * 50_000)
    assert not storage._kept


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, None])
def test_a_limit_below_one_is_refused(store, limit):
    with pytest.raises(UsageError, match="limit must be a whole number of at least 1"):
        TruncatingWrapper(store, limit)


def test_the_smallest_limit_that_is_not_refused_holds(store):
    for limit in range(360, 440):
        try:
            wrapped = TruncatingWrapper(store, limit).wrap("t", "word " * 10_000)
        except UsageError:
            continue
        assert len(wrapped) <= limit
        return
    pytest.fail("no limit below 440 holds a notice")


@pytest.mark.parametrize("text", ["", "x" * 4000, "日" * 4000, "a\x00\ud800"])
def test_what_fits_passes_untouched(store, text):
    assert TruncatingWrapper(store).wrap("t", text) is text


def test_content_is_a_string(store):
    with pytest.raises(UsageError, match="content must be a string, not dict"):
        TruncatingWrapper(store).wrap("t", {"a": 1})


def test_the_fraction_is_the_documents(store):
    text = "x" * 245_678
    cut = truncate(text, 40_000)
    _, fields = parse_notice(TruncatingWrapper(store, 40_400).wrap("t", text))
    assert len(cut.text) == 40_000
    assert fields["returned_fraction_percent"] == pytest.approx(16.3, abs=0.1)


def test_the_call_is_written_from_the_tools_own_signature(store):
    tool = LookupTools(store).lookup_full_content
    written = written_call(LookupTools.lookup_full_content, resource_id="ab12cd34", offset=3912)
    assert written == 'lookup_full_content(resource_id="ab12cd34", offset=3912, limit=4000)'
    assert list(inspect.signature(tool).parameters) == ["resource_id", "offset", "limit"]
    with pytest.raises(TypeError):
        written_call(LookupTools.lookup_full_content, resource="ab12cd34")


def test_a_one_line_json_pages_in_finitely_many_calls(store):
    text = json.dumps(records(2400))
    assert len(text) > 240_000
    assert "\n" not in text
    wrapped = TruncatingWrapper(store).wrap("t", text)
    _, fields = parse_notice(wrapped)
    whole, calls = restored(workspace_tools(".", store), fields["resource_id"])
    assert whole == text
    assert calls == -(-len(text) // 4000)


def test_a_text_that_quotes_a_notice_does_not_fool_the_reader(store):
    first = TruncatingWrapper(store, 1000).wrap("t", "x\n" * 5000)
    second = TruncatingWrapper(store, 1000).wrap("u", first * 9)
    _, fields = parse_notice(second)
    assert fields["tool_name"] == "u"
    assert store.text(fields["resource_id"]) == first * 9
    assert parse_notice("text\n\n--- TRUNCATION NOTICE ---\nnot json") == (
        "text\n\n--- TRUNCATION NOTICE ---\nnot json",
        None,
    )


def test_a_strange_tool_name_stays_within_the_notice(store):
    for name in ("a\n\n--- TRUNCATION NOTICE ---\n{}", "x" * 9000, "\ud800", "日本"):
        wrapped = TruncatingWrapper(store, 2000).wrap(name, "x\n" * 5000)
        wrapped.encode()
        assert len(wrapped) <= 2000
        assert parse_notice(wrapped)[1]["tool_name"].startswith(name[:10])


def test_a_limit_follows_the_budget(store):
    budget = TokenBudget()
    wrapper = TruncatingWrapper(
        store, lambda: dynamic_limit(budget.remaining("retrieved_context")), "tokens"
    )
    sizes = []
    for _ in range(4):
        wrapped = wrapper.wrap("t", log(3000))
        budget.consume("retrieved_context", tokens.count(wrapped))
        sizes.append(tokens.count(wrapped))
    assert sizes[0] <= 4800
    assert sizes == sorted(sizes, reverse=True)


def test_nothing_is_cut_that_cannot_be_kept(tmp_path):
    storage = SqliteStorage(tmp_path / "s.sqlite")
    wrapper = TruncatingWrapper(ResourceStore(storage))
    storage._connection().execute("DROP TABLE resources")
    with pytest.raises(StoreError, match="no such table"):
        wrapper.wrap("t", "x" * 9000)
    assert wrapper.wrap("t", "x" * 4000) == "x" * 4000


def test_an_expired_resource_names_the_whole_call():
    now = [0.0]
    store = ResourceStore(MemoryStorage(), ttl=10, clock=lambda: now[0])
    wrapped = TruncatingWrapper(store).wrap("grep_search", "x\n" * 5000, {"pattern": "x"})
    _, fields = parse_notice(wrapped)
    now[0] = 11
    page = called(workspace_tools(".", store), fields["recovery_hint"])
    assert page["error"].endswith('has expired; to see it again, call grep_search(pattern="x")')


# --- MCP results: both channels


def sizes(result):
    """Characters of the texts of `content`, and of `structuredContent`."""
    content = sum(len(block.get("text", "")) for block in result["content"])
    return content, len(json.dumps(result.get("structuredContent"), ensure_ascii=False))


def test_both_channels_are_bounded_and_what_they_share_is_kept_once(store):
    value = {"result": records(900), "next": "p2"}
    result = {
        "content": [{"type": "text", "text": json.dumps(value, indent=2)}],
        "structuredContent": value,
        "isError": False,
    }
    bounded = TruncatingWrapper(store).wrap_result("api", result, {"page": 1})
    assert all(size <= 4000 for size in sizes(bounded))
    assert bounded["structuredContent"]["next"] == "p2"
    kept = bounded["structuredContent"]["result"]
    assert kept == value["result"][: len(kept)]
    body, fields = parse_notice(bounded["content"][0]["text"])
    assert json.loads(body)["next"] == "p2"
    assert json.loads(store.text(fields["resource_id"])) == value
    assert len(bounded["content"]) == 1
    assert result["structuredContent"] is value


def test_a_structure_that_the_text_does_not_tell_of_gets_its_own_notice(store):
    value = {"rows": records(900)}
    result = {"content": [{"type": "text", "text": "900 rows"}], "structuredContent": value}
    bounded = TruncatingWrapper(store).wrap_result("api", result)
    assert all(size <= 4000 for size in sizes(bounded))
    assert bounded["content"][0]["text"] == "900 rows"
    _, fields = parse_notice(bounded["content"][1]["text"])
    assert fields["truncation_reason"] == "limit of 4,000 chars on structuredContent"
    assert json.loads(store.text(fields["resource_id"])) == value
    large = {"content": [{"type": "text", "text": log(900)}], "structuredContent": value}
    bounded = TruncatingWrapper(store).wrap_result("api", large)
    assert all(size <= 4000 for size in sizes(bounded))
    notices = [parse_notice(block["text"])[1] for block in bounded["content"]]
    assert [found["kind"] for found in notices] == ["log", "json"]


def test_many_small_texts_are_bounded_together(store):
    blocks = [{"type": "text", "text": json.dumps(record)} for record in records(200)]
    image = {"type": "image", "data": "AAAA" * 5000, "mimeType": "image/png"}
    bounded = TruncatingWrapper(store).wrap_result("api", {"content": [image, *blocks]})
    assert [block["type"] for block in bounded["content"]] == ["image", "text"]
    body, fields = parse_notice(bounded["content"][1]["text"])
    assert fields["kind"] == "ndjson"
    found = [json.loads(line) for line in body.splitlines()]
    assert found == records(200)[: len(found)]
    assert store.text(fields["resource_id"]) == "\n".join(block["text"] for block in blocks)


def test_an_embedded_resource_keeps_its_address(store):
    resource = {"uri": "file:///log", "mimeType": "text/plain", "text": log(900)}
    result = {"content": [{"type": "resource", "resource": resource}]}
    [block] = TruncatingWrapper(store).wrap_result("read", result)["content"]
    assert block["resource"]["uri"] == "file:///log"
    assert len(block["resource"]["text"]) <= 4000


def test_models_of_the_sdk_come_back_as_such(store):
    result = mcp.types.CallToolResult(
        content=[mcp.types.TextContent(type="text", text=log(900))],
        structuredContent={"log": log(900)},
    )
    bounded = TruncatingWrapper(store).wrap_result("read", result)
    assert isinstance(bounded, mcp.types.CallToolResult)
    assert all(len(block.text) <= 4000 for block in bounded.content)
    assert len(json.dumps(bounded.structured_content)) <= 4000
    mixed = {"content": [mcp.types.TextContent(type="text", text=log(900))]}
    [block] = TruncatingWrapper(store).wrap_result("read", mixed)["content"]
    assert len(block["text"]) <= 4000
    small = mcp.types.CallToolResult(content=[])
    assert TruncatingWrapper(store).wrap_result("read", small) is small


def test_a_structure_whose_notice_does_not_fit_is_refused_and_not_kept():
    storage = MemoryStorage()
    result = {"content": [], "structuredContent": {"rows": records(90)}}
    with pytest.raises(UsageError, match="does not hold the truncation notice"):
        TruncatingWrapper(ResourceStore(storage), 300).wrap_result("api", result)
    assert not storage._kept


@given(
    st.lists(texts.map(lambda text: text * 20), max_size=4),
    st.dictionaries(st.text(max_size=5), texts.map(lambda text: text * 20) | st.integers()),
)
@settings(max_examples=40, deadline=None)
def test_no_result_is_larger_than_the_limit(parts, value):
    content = [{"type": "text", "text": text} for text in parts]
    result = {"content": content, "structuredContent": value}
    bounded = TruncatingWrapper(ResourceStore(MemoryStorage()), 1500).wrap_result("t", result)
    content = sum(len(block["text"]) for block in bounded["content"])
    assert content <= 1500
    structured = json.dumps(bounded["structuredContent"], ensure_ascii=False)
    assert len(structured) <= 1500


@pytest.mark.parametrize(
    "wrong",
    ["text", 5, None, {"content": 5}, {"content": [5]}, {"structuredContent": {1: {2}}}],
)
def test_what_is_no_result_is_refused(store, wrong):
    with pytest.raises(UsageError, match=r"MCP tool result|JSON values"):
        TruncatingWrapper(store).wrap_result("t", wrong)
