"""The prompt cache: whole request bodies, laid-out requests, long sessions, explanations."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import orjson

from ctxlab.cache import Layout, PromptCache, explain
from ctxlab.cache.estimate import estimate
from ctxlab.tokens import count
from tests.bench import Figure, best, interleaved

TOOLS, TURNS, LONG = 100, 40, 1_000
MARK = {"type": "ephemeral"}
RULES = {"minimum_tokens": 100}


def figures() -> Iterator[Figure]:
    bodies = session()
    yield whole_bodies(bodies)
    yield first_sight(bodies)
    yield laid_out(bodies)
    yield growth(bodies[0])
    yield thousand_sessions(bodies[0])
    yield explaining(bodies[-2], bodies[-1], "appended")
    yield explaining(bodies[-2], with_edited_tool(bodies[-1]), "a tool edited")


def session() -> list[dict[str, Any]]:
    """Forty turns of a hundred tools: about 5 MB of request bodies."""
    words = random.Random(1)
    system = [{"type": "text", "text": prose(words, 600), "cache_control": MARK}]
    head = {"model": "claude-opus-5", "cache_control": MARK, "system": system}
    head["tools"] = [tool(words, number) for number in range(TOOLS)]
    messages: list[dict[str, Any]] = []
    bodies = []
    for turn in range(TURNS):
        messages = [*messages, *exchange(words, turn)]
        bodies.append({**head, "messages": messages})
    return bodies


def tool(words: random.Random, number: int) -> dict[str, Any]:
    properties = {
        f"p{index}": {"type": "string", "description": prose(words, 10), "default": None}
        for index in range(3)
    }
    schema = {"type": "object", "properties": properties, "required": ["p0"]}
    return {"name": f"tool_{number}", "description": prose(words, 40), "input_schema": schema}


def exchange(words: random.Random, turn: int) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "tool_3"}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": prose(words, 300)}
    said = {"type": "text", "text": prose(words, 20)}
    return [
        {"role": "user", "content": prose(words, 60)},
        {"role": "assistant", "content": [said, {**call, "input": {"p0": prose(words, 4)}}]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": prose(words, 40)},
    ]


def prose(words: random.Random, count: int) -> str:
    vocabulary = (
        "cache",
        "token",
        "prefix",
        "tool",
        "result",
        "marker",
        "the",
        "of",
        "and",
        "tail",
    )
    return " ".join(words.choice(vocabulary) for _ in range(count))


def whole_bodies(bodies: list[dict[str, Any]]) -> Figure:
    def ours() -> None:
        cache = PromptCache(RULES)
        for body in bodies:
            cache.send(body)

    def reference() -> None:
        for body in bodies:
            json.dumps(body)

    ours()  # blocks are counted once
    mine, theirs = interleaved(ours, reference)
    size = sum(len(json.dumps(body)) for body in bodies) / 1e6
    detail = f"({size:.1f} MB: {mine * 1e3:.0f} ms against {theirs * 1e3:.0f} ms)"
    return Figure(
        "40 turns × 100 tools as whole bodies", mine / theirs, 1.5, "json.dumps", detail=detail
    )


def first_sight(bodies: list[dict[str, Any]]) -> Figure:
    """Every block new to the counter, against the same text counted whole and nothing else."""
    text = json.dumps(bodies[-1], ensure_ascii=False)

    def ours() -> None:
        cache = PromptCache(RULES, count=estimate)  # a counter of its own remembers nothing
        for body in bodies:
            cache.send(body)

    def reference() -> None:
        count(text)
        for body in bodies:
            json.dumps(body)

    mine, theirs = interleaved(ours, reference)
    detail = f"({mine * 1e3:.0f} ms against {theirs * 1e3:.0f} ms)"
    name, against = (
        "the same, every block counted anew",
        "json.dumps and one count of the last body",
    )
    return Figure(name, mine / theirs, 1.5, against, detail=detail)


def laid_out(bodies: list[dict[str, Any]]) -> Figure:
    layouts = [PromptCache(RULES).lay_out(body) for body in bodies]

    def send() -> None:
        cache = PromptCache(RULES)
        for layout in layouts:
            cache.send(layout)

    seconds = best(lambda: [send() for _ in range(25)])
    rate = 25 * len(layouts) / seconds
    return Figure("laid-out requests", rate, 20_000, "", "/s", at_least=True)


def growth(body: dict[str, Any]) -> Figure:
    """Cost per request in a session of 1,000 turns against sessions of 40."""
    layout = PromptCache(RULES).lay_out(body)

    def short() -> None:
        for _ in range(LONG // TURNS):
            append(layout, TURNS)

    long, many = interleaved(lambda: append(layout, LONG), short)
    detail = f"({long / LONG * 1e6:.0f} µs a request, appended and sent)"
    name = "a request in a session of 1,000 turns"
    return Figure(name, long / many, 1.25, "in sessions of 40", detail=detail)


def append(layout: Layout, turns: int) -> None:
    cache = PromptCache(RULES)
    new = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}]
    for _ in range(turns):
        layout = layout.append(new)
        cache.send(layout)


def thousand_sessions(body: dict[str, Any]) -> Figure:
    layout = PromptCache(RULES).lay_out(body)
    seconds = best(lambda: [append(layout, TURNS) for _ in range(100)], 3) * 10
    return Figure("a thousand forty-turn sessions, one strategy", seconds, 5, "", "s")


def with_edited_tool(body: dict[str, Any]) -> dict[str, Any]:
    tools = [dict(one) for one in body["tools"]]
    tools[50]["description"] = "edited"
    return {**body, "tools": tools}


def explaining(before: dict[str, Any], after: dict[str, Any], what: str) -> Figure:
    old, new = orjson.dumps(before), orjson.dumps(after)

    def ours() -> None:
        explain(old, new, count=lambda _: 1)

    def reference() -> None:
        json.loads(old)
        json.loads(new)

    mine, theirs = interleaved(ours, reference, 40)
    faster = best(lambda: (orjson.loads(old), orjson.loads(new)), 40)
    detail = f"({mine * 1e3:.1f} ms; {mine / faster:.1f}× orjson.loads)"
    return Figure(
        f"explain from JSON, {what}", mine / theirs, 2, "json.loads of both", detail=detail
    )
