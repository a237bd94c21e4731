"""A session with deferred tools in the simulated client (notebook 09).

Every turn the user says something; at some turns the task needs a tool. Upfront the model calls
it; deferred it searches first, and the definitions it finds stand in the conversation from there
on (facts `prompt-cache` §4). Four strategies (`STRATEGIES`); the last is the mistake to avoid: a
client that adds what was found to `tools` changes what stands in front of everything.

Simulated, tokens are o200k estimates: nothing here was billed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pandas as pd

from ctxlab.cache import Layout, PromptCache, simulated_client
from ctxlab.cache.replies import Replier
from ctxlab.experiments.tool_search_registry import Registry, Tool
from ctxlab.experiments.tool_search_size import plan
from ctxlab.experiments.tool_tasks import Task
from ctxlab.loading import Bm25ToolSearch, LoadingPlan, plan_loading
from ctxlab.prices import cost

UPFRONT = "upfront"
DEFERRED = "deferred"
ALWAYS = "deferred, alwaysLoad"
APPENDED = "found tools added to tools"
STRATEGIES = (UPFRONT, DEFERRED, ALWAYS, APPENDED)
Row = dict[str, Any]
MARK: Any = {"type": "ephemeral"}
_WORDS = "the report says that most of what was asked for has been done and the rest is under way "


@dataclass(frozen=True)
class Session:
    """What happens, whatever the strategy."""

    tasks: Mapping[int, tuple[str, str]]
    """Turn → the query that a model searches with, and the tool that it then calls."""
    turns: int
    model: str
    priced_on: str
    turn_tokens: int = 200
    """About the size of what the user says, what the model answers, and what a tool returns."""
    system_tokens: int = 2_000
    seconds: float = 60.0
    """Between one turn and the next; the cache lives for five minutes."""


def draw(
    registry: Registry, tasks: Sequence[Task], at: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """For each turn in `at` a task whose tool BM25 finds among five, spread over the tasks."""
    search = Bm25ToolSearch(registry.tools).search
    found: list[tuple[str, str]] = []
    used: set[str] = set()
    for task in tasks:
        query = " ".join(task.keywords)
        tool = next((name for name in search(query) if name in task.tools), None)
        if tool and tool not in used:
            found.append((query, tool))
            used.add(tool)
    step = max(1, len(found) // max(1, len(at)))
    return dict(zip(at, found[::step], strict=False))


def run(registry: Registry, session: Session, window: int, always: Sequence[str]) -> pd.DataFrame:
    """Every request of the session under each strategy, `deferred` sent with the real SDK.

    Columns: strategy; request, turn; event (`search`, `result` or empty); read, written, uncached,
    output, context (input tokens of the request, o200k estimate, simulated); usd; kept (percent of
    the request before that was read; empty for the first).
    """
    frames = [_run(name, registry, session, window, always) for name in STRATEGIES]
    return pd.concat(frames, ignore_index=True).astype({"kept": "Float64"})


def _run(
    strategy: str, registry: Registry, session: Session, window: int, always: Sequence[str]
) -> pd.DataFrame:
    mode = "false" if strategy == UPFRONT else "true"
    loading = plan(registry, mode, window, always if strategy == ALWAYS else ())
    api: Api = SdkApi(session) if strategy == DEFERRED else LayoutApi(session)
    rows = play(api, session, loading, adds=strategy == APPENDED)
    return pd.DataFrame(rows).assign(strategy=strategy)[["strategy", *rows[0]]]


def play(api: Api, session: Session, loading: LoadingPlan, *, adds: bool = False) -> list[Row]:
    """Every request of the session under one plan; `adds` is the mistake of `APPENDED`."""
    agent = _Agent(api, session, loading, adds=adds)
    for turn in range(1, session.turns + 1):
        agent.turn(turn)
    return agent.rows


class _Agent:
    """An agent's loop: what it sends, and what it keeps of the answers."""

    def __init__(self, api: Api, session: Session, loading: LoadingPlan, *, adds: bool) -> None:
        self._api, self._session, self._adds = api, session, adds
        self._tools = loading.request_tools("bm25", MARK)
        self._system = [{**_text(_system(session, loading)), "cache_control": MARK}]
        self._deferred = {tool["name"] for tool in loading.deferred}
        self._known: set[str] = set()
        self._messages: list[Any] = []
        self.rows: list[Row] = []

    def turn(self, turn: int) -> None:
        self._api.now = turn * self._session.seconds
        query, tool = self._session.tasks.get(turn, ("", ""))
        said = words(self._session.turn_tokens)
        if not tool:
            self._send(turn, "", [_text(f"{turn}: {said}")], [_text(said)])
            return
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": tool, "input": {}}
        asks = tool in self._deferred and tool not in self._known
        reply = [search_call(query), call] if asks else [call]
        self._send(turn, "search" if asks else "call", [_text(f"{turn}: {said}")], reply)
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": said}
        self._send(turn, "result", [result], [_text(said)])

    def _send(self, turn: int, event: str, said: list[Any], reply: list[Any]) -> None:
        self._messages.append({"role": "user", "content": said})
        body = {"tools": self._tools, "system": self._system, "messages": self._messages}
        content, usage = self._api.answer({**body, "cache_control": MARK}, reply)
        self._messages.append({"role": "assistant", "content": content})
        self._learn(content)
        self.rows.append(self._row(turn, event, usage))

    def _learn(self, content: list[dict[str, Any]]) -> None:
        found = [name for block in content for name in references(block)]
        new = [name for name in dict.fromkeys(found) if name not in self._known]
        self._known.update(new)
        if self._adds and new:
            self._tools = [_loaded(tool) if tool["name"] in new else tool for tool in self._tools]

    def _row(self, turn: int, event: str, usage: Mapping[str, Any]) -> Row:
        row = usage_row(usage)
        before = self.rows[-1]["context"] if self.rows else None
        priced = {name: usage[name] for name in _PRICED}
        spent = cost(self._session.model, priced, self._session.priced_on)
        return {
            "request": len(self.rows) + 1,
            "turn": turn,
            "event": event,
            **row,
            "usd": round(spent.total, 6),
            "kept": round(100 * row["read"] / before, 2) if before else None,
        }


class Api(Protocol):
    """Who answers; `now` is its clock, in seconds."""

    now: float

    def answer(self, body: dict[str, Any], reply: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The content and the usage of the response to a request, of which `reply` is said."""


class SdkApi:
    """The real SDK over the simulated cache."""

    def __init__(self, session: Session) -> None:
        """Start with an empty cache."""
        self.now = 0.0
        self._model = session.model
        self._next: list[Any] = []
        cache = PromptCache(clock=lambda: self.now)
        self._client = simulated_client(cache, replies=lambda _request: self._next)

    def answer(self, body: dict[str, Any], reply: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """One request over the SDK; `extra_body` spares the SDK looking into each tool again."""
        self._next = reply
        heavy = {name: body[name] for name in ("tools", "system", "cache_control")}
        message: dict[str, Any] = self._client.messages.create(
            model=self._model, max_tokens=4_096, messages=body["messages"], extra_body=heavy
        ).to_dict()
        return message["content"], message["usage"]


class LayoutApi:
    """The same cache without a wire: what was laid out before is gone on from.

    For sessions by the hundred: the same rows as over the SDK, without 300 kB of JSON a request.
    """

    def __init__(self, session: Session) -> None:
        """Start with an empty cache."""
        self.now = 0.0
        self._model = session.model
        self._cache = PromptCache(clock=lambda: self.now)
        self._layout: Layout | None = None
        self._sent = 0
        self._tools: list[Tool] = []
        self._reply: list[Any] = []
        self._replier = Replier(lambda _request: self._reply)

    def answer(self, body: dict[str, Any], reply: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """One request; only its new messages are read."""
        self._reply, messages = reply, body["messages"]
        if self._layout is None:
            self._layout = self._cache.lay_out({**body, "model": self._model})
        else:
            if body["tools"] is not self._tools:
                self._layout = self._layout.with_head({**body, "model": self._model})
            self._layout = self._layout.append(messages[self._sent :])
        self._sent, self._tools = len(messages), body["tools"]
        usage = self._cache.send(self._layout)
        content, _, output = self._replier({"tools": body["tools"]})
        return content, {**usage, "output_tokens": output}


_PRICED = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
    "cache_read_input_tokens",
)


def totals(requests: pd.DataFrame) -> pd.DataFrame:
    """The session summed up by strategy.

    Columns: strategy, requests, read, written, uncached, output, usd; context_end (tokens of the
    last request); kept_after_search (the smallest share, in percent, of a request that was read
    back after a search, empty where nothing was searched); against_upfront (USD, ratio).
    """
    rows = []
    for strategy, part in requests.groupby("strategy", sort=False):
        after = part[part["event"].shift(fill_value="") == "search"]["kept"]
        sums = {name: part[name].sum() for name in ("read", "written", "uncached", "output", "usd")}
        rows.append(
            {
                "strategy": strategy,
                "requests": len(part),
                **sums,
                "context_end": int(part["context"].iloc[-1]),
                "kept_after_search": float(after.min()) if len(after) else None,
            }
        )
    table = pd.DataFrame(rows).astype({"kept_after_search": "Float64"})
    table["usd"] = table["usd"].round(6)
    table["against_upfront"] = (table["usd"] / table["usd"].iloc[0]).round(3)
    return table


def break_even(
    registry: Registry,
    session: Session,
    window: int,
    sizes: Sequence[int],
    discoveries: Sequence[int],
) -> pd.DataFrame:
    """USD of deferring against upfront, by registry size and number of searches in the session.

    n tools, thinned out evenly; each search asks for a tool by its own name's words; nobody finds
    more tools than there are, or two in a turn. Columns: tools, searches, upfront, deferred (USD,
    simulated), ratio, cheaper, told (the ratio in words).
    """
    rows = []
    for size in dict.fromkeys(min(size, len(registry.tools)) for size in sizes):
        tools = thinned(registry.tools, size)
        for count in (n for n in dict.fromkeys(discoveries) if n <= min(size, session.turns)):
            own = _spread(session, tools, count)
            usd = {
                mode: _spent(plan_loading(tools, mode, window), own) for mode in ("false", "true")
            }
            ratio = usd["true"] / usd["false"]
            rows.append(
                {
                    "tools": size,
                    "searches": len(own.tasks),
                    "upfront": round(usd["false"], 6),
                    "deferred": round(usd["true"], 6),
                    "ratio": round(ratio, 3),
                    "cheaper": "deferred" if ratio < 1 else "upfront",
                    "told": f"{ratio:.2f}×",
                }
            )
    return pd.DataFrame(rows)


def thinned(tools: Sequence[Tool], size: int) -> list[Tool]:
    """`size` tools, spread evenly over the registry.

    >>> thinned([{"name": str(n)} for n in range(10)], 3)
    [{'name': '0'}, {'name': '3'}, {'name': '6'}]
    """
    return [tools[n * len(tools) // size] for n in range(size)]


def _spread(session: Session, tools: Sequence[Tool], count: int) -> Session:
    """The session with `count` searches at evenly spaced turns, each for another tool."""
    names = [tool["name"] for tool in thinned(tools, count)]
    turns = [1 + n * session.turns // count for n in range(count)]
    tasks = {t: (name.replace("_", " "), name) for t, name in zip(turns, names, strict=True)}
    return replace(session, tasks=tasks)


def _spent(loading: LoadingPlan, session: Session) -> float:
    return float(sum(row["usd"] for row in play(LayoutApi(session), session, loading)))


def conclusion(table: pd.DataFrame, grid: pd.DataFrame) -> str:
    """What the tables of `totals` and `break_even` say, in sentences (Markdown)."""
    rows = table.set_index("strategy")
    lines = [
        (
            f"- **{name}** costs {rows.loc[name, 'against_upfront']:.2f} times what upfront costs "
            f"and ends at {rows.loc[name, 'context_end']:,} tokens of context."
        )
        for name in rows.index[1:]
    ]
    kept = rows["kept_after_search"].dropna()
    lines += [
        f"- After a search **{n}** reads back {kept[n]:.1f} % of the request." for n in kept.index
    ]
    dear = grid[grid["cheaper"] == "upfront"]
    if len(dear):
        worst = dear.sort_values("ratio", kind="stable").iloc[-1]
        lines.append(
            f"- Deferring stops paying with few tools: up to {dear['tools'].max()} tools there are "
            f"sessions in which upfront is cheaper; with {worst['tools']} tools and "
            f"{worst['searches']} searches deferring costs {worst['ratio']:.2f} times as much."
        )
    else:
        lines.append("- In no session of the grid is upfront cheaper.")
    return "\n".join(lines)


def search_call(query: str) -> dict[str, Any]:
    """The block by which a model searches."""
    return {
        "type": "server_tool_use",
        "name": "tool_search_tool_bm25",
        "input": {"query": query[:500]},
    }


def references(block: Mapping[str, Any]) -> list[str]:
    """The tools that a result block names."""
    content = block.get("content")
    if block.get("type") != "tool_search_tool_result" or not isinstance(content, Mapping):
        return []
    return [part["tool_name"] for part in content.get("tool_references") or ()]


def usage_row(usage: Mapping[str, Any]) -> dict[str, int]:
    """The API's usage in the tables' words."""
    read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    return {
        "read": read,
        "written": written,
        "uncached": usage["input_tokens"],
        "output": usage["output_tokens"],
        "context": read + written + usage["input_tokens"],
    }


def words(tokens: int) -> str:
    """A plain text of about so many tokens: one for each word."""
    stock = _WORDS.split()
    return " ".join(stock[n % len(stock)] for n in range(tokens))


def _system(session: Session, loading: LoadingPlan) -> str:
    """The system prompt, with the names of the deferred tools, as the article's client has them."""
    names = "\n".join(tool["name"] for tool in loading.deferred)
    told = words(session.system_tokens)
    return f"{told}\nTools that can be searched for:\n{names}" if names else told


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _loaded(tool: Tool) -> Tool:
    return {key: value for key, value in tool.items() if key != "defer_loading"}
