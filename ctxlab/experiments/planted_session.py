"""A session of a coding agent with six planted cache breaks, whose answers are therefore known.

An agent looks for failures in a service's log. Its requests go through the real SDK to a simulated
cache and are recorded as `ctxlab.Recorder` records anybody's; `BREAKS` says what was planted where.
The markers are the usual ones: the last tool, the system prompt, and the end of the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import httpx2

from ctxlab.cache import MessagesHandler, PromptCache
from ctxlab.cache.transport import SimulatedTransport
from ctxlab.experiments.made_log import service_log
from ctxlab.experiments.sized import Clock
from ctxlab.sessions import Recorder

Tool = dict[str, Any]
Message = dict[str, Any]
Blocks = list[dict[str, Any]]

REQUESTS = 28
BREAKS = {
    5: "system",
    9: "tools",
    13: "TTL expired",
    17: "messages",
    21: "lookback",
    25: "model",
}
"""Number of a request (1-based) → why it does not find what the request before it left."""

MODELS = ("claude-opus-5", "claude-sonnet-5")
"""The session's model, and the one it is switched to."""
START = 1_796_050_800.0
"""2026-11-30 15:00 UTC, in seconds since the epoch."""
GAP = 40.0
"""Seconds from one request to the next."""
PAUSE = 720.0
"""Seconds of the one pause that outlives the entries."""

_CLEARED = "[old tool result cleared]"
_AT_ONCE = 11
"""Call and result pairs that arrive in one turn: more positions than a breakpoint looks back."""
_MARKER = {"type": "ephemeral"}
_RULES = (
    "You are an agent that looks after the order service of a small shop.",
    "Find out why an order failed before you change anything, and say what you found.",
    "Read logs before code, and code before configuration; never guess what a file holds.",
    "A failure that happens once is noted. A failure that happens twice is looked into.",
    "Quote the line of the log that you rely on, with its time.",
    "Change one thing at a time, and run the tests of the module that you changed.",
    "Prices are whole cents. A price that has no count is an error of the caller, not ours.",
    "Ask before you deploy, before you delete, and before you write to a customer.",
    "When a tool fails, say so, and try the next best one at most twice.",
    "End with a summary of at most five lines: cause, evidence, change, test, what is open.",
)


@dataclass(frozen=True)
class Step:
    """One request of the session, when it is sent, and what the model answers."""

    number: int
    at: float
    """Seconds since the epoch."""
    request: dict[str, Any]
    reply: Blocks


@dataclass
class _Talk:
    """The conversation as it grows, and what of its head a break changes."""

    tools: list[Tool]
    log: list[str]
    model: str = MODELS[0]
    today: str = ""
    at: float = START
    messages: list[Message] = field(default_factory=list)


def steps(tools: Sequence[Tool], requests: int = REQUESTS) -> Iterator[Step]:
    """The session's requests in order; every break of `BREAKS` below `requests` is planted."""
    talk = _Talk(deepcopy(list(tools)), service_log().splitlines(keepends=True))
    talk.messages.append(_said("user", "Two orders failed this afternoon. Why?"))
    for number in range(1, requests + 1):
        _plant(talk, BREAKS.get(number, ""))
        reply: Blocks = [
            {"type": "text", "text": f"Step {number}: the log of the next minutes."},
            _call(f"toolu_{number:04d}", number),
        ]
        yield Step(number, talk.at, deepcopy(_request(talk)), deepcopy(reply))
        talk.at += GAP
        talk.messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": [_result(talk, f"toolu_{number:04d}", number)]},
        ]


def _plant(talk: _Talk, cause: str) -> None:
    if cause == "system":
        talk.today = "Today is Monday, 30 November."
    elif cause == "tools":  # a server reconnects, and its tools come last
        moved = [tool for tool in talk.tools if tool["name"].startswith("q")]
        talk.tools = [tool for tool in talk.tools if tool not in moved] + moved
    elif cause == "TTL expired":
        talk.at += PAUSE
    elif cause == "messages":  # the client clears what it thinks nobody needs again
        talk.messages[2]["content"][0]["content"] = _CLEARED
    elif cause == "lookback":
        talk.messages += list(_pairs(talk))
    elif cause == "model":
        talk.model = MODELS[1]


def _request(talk: _Talk) -> dict[str, Any]:
    system = [{"type": "text", "text": "\n".join([*_RULES, talk.today]).strip()}]
    return {
        "model": talk.model,
        "max_tokens": 4096,
        "cache_control": _MARKER,
        "tools": [*talk.tools[:-1], {**talk.tools[-1], "cache_control": _MARKER}],
        "system": [{**system[0], "cache_control": _MARKER}],
        "messages": talk.messages,
    }


def _pairs(talk: _Talk) -> Iterator[Message]:
    """What a sub-agent did, pasted into the conversation as calls one after the other."""
    for number in range(100, 100 + _AT_ONCE):
        call = f"toolu_{number:04d}"
        yield {"role": "assistant", "content": [_call(call, number)]}
        yield {"role": "user", "content": [_result(talk, call, number, lines=3)]}


def _call(call: str, number: int) -> dict[str, Any]:
    name = ("run_command", "search_code", "read_file")[number % 3]
    arguments = {
        "run_command": {"command": f"sed -n {number * 20},{number * 20 + 20}p orders.log"},
        "search_code": {"pattern": f"request {1000 + number * 20}"},
        "read_file": {"path": f"logs/orders.{number}.log"},
    }
    return {"type": "tool_use", "id": call, "name": name, "input": arguments[name]}


def _result(talk: _Talk, call: str, number: int, lines: int = 0) -> dict[str, Any]:
    """Lines of the log; every seventh result is a long one, as real ones are now and then."""
    first = number * 20 % len(talk.log)
    many = lines or (200 if number % 7 == 0 else 12)
    text = "".join(talk.log[first : first + many])
    return {"type": "tool_result", "tool_use_id": call, "content": text}


def _said(role: str, text: str) -> Message:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def record(tools: Sequence[Tool], log: Path, requests: int = REQUESTS) -> None:
    """Send the session to a simulated cache through the SDK, and record it in `log`."""
    planned = list(steps(tools, requests))
    clock = Clock()
    handler = MessagesHandler(PromptCache(clock=clock), [step.reply for step in planned])
    transport = Recorder(log, SimulatedTransport(handler), clock=clock)
    with httpx2.Client(transport=transport) as sender:
        client = anthropic.Anthropic(
            api_key="simulated", base_url="http://simulated.invalid", http_client=sender
        )
        for step in planned:
            clock.now = step.at
            client.messages.create(**step.request)
