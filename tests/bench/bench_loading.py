"""What tool search costs on a thousand tools, and what deferring costs a request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bm25s

from ctxlab.loading import Bm25ToolSearch, RegexToolSearch, plan_loading
from ctxlab.loading.searchable import read_catalogue
from ctxlab.loading.words import words
from ctxlab.prefix import read_tools
from tests.bench import Figure, best, interleaved

REGISTRY = "data/cache/toolsets/registry.json"
TOOLS = 1_000
QUERY = "send an email with an attachment to my colleague"
PATTERN = "(send|draft).*(mail|message)"


def figures() -> Iterator[Figure]:
    tools = many(read_tools(REGISTRY))
    size = f"{TOOLS:,} tools"
    ours, reference = interleaved(lambda: Bm25ToolSearch(tools), lambda: by_bm25s(tools))
    detail = f"{ours * 1e3:.0f} ms against {reference * 1e3:.0f} ms"
    yield Figure(f"BM25 index, {size}", ours / reference, 1, "bm25s, same words", detail=detail)
    yield Figure(f"BM25 index, {size}", ours * 1e3, 100, "a bound", unit=" ms")
    bm25, regex = Bm25ToolSearch(tools), RegexToolSearch(tools)
    query = best(lambda: bm25.search(QUERY), repeats=50)
    yield Figure(f"BM25 query, {size}", query * 1e3, 1, "a bound", unit=" ms")
    pattern = best(lambda: regex.search(PATTERN), repeats=5)
    yield Figure(f"regex query, {size}", pattern * 1e3, 1_000, "its time limit", unit=" ms")
    plan = plan_loading(tools, None, 200_000)
    sent, plain = interleaved(lambda: json.dumps(plan.request_tools()), lambda: json.dumps(tools))
    detail = f"{sent * 1e3:.1f} ms against {plain * 1e3:.1f} ms"
    name = f"a request with {size} deferred"
    yield Figure(name, sent / plain, 1.5, "one json.dumps of the tools", detail=detail)


def by_bm25s(tools: list[dict[str, Any]]) -> bm25s.BM25:
    index = bm25s.BM25(method="lucene")
    corpus = [words("\n".join(tool.texts)) for tool in read_catalogue(tools)]
    index.index(corpus, show_progress=False)
    return index


def many(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The registry again and again under other names, a thousand tools."""
    times = range(-(-TOOLS // len(tools)))
    return [{**tool, "name": f"{tool['name']}_{n}"} for n in times for tool in tools][:TOOLS]
