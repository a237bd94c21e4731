r"""Requests in a cache-friendly order: what is stable first, what varies last.

The system prompt carries a breakpoint and holds nothing that varies; tools are canonical and fixed
for the session; the runtime context (time, user) is appended at the very end, behind the last
breakpoint, so that no later request finds it in its way (source: `tool-design` §6, §7).

>>> builder = RequestBuilder("claude-opus-5", "You help.", max_tokens=64)
>>> request = builder.request([{"role": "user", "content": "hello"}], {"time": "10:42"})
>>> [block.get("text") for block in request["messages"][0]["content"]]
['hello', '<context>\ntime: 10:42\n</context>']
>>> ["cache_control" in block for block in request["messages"][0]["content"]]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from ctxlab.cache.blocks import UNMARKABLE
from ctxlab.cache.rules import rules_for
from ctxlab.errors import UsageError
from ctxlab.prefix import canonical_tool

Message = Mapping[str, Any]


class RequestBuilder:
    """Builds the requests of one session.

    Args:
        model: its model.
        system: the system prompt, or its text blocks; nothing in it may vary.
        tools: the tools of the whole session; they are copied and sent in canonical form.
        max_tokens: of each request.
        ttl: of the breakpoint behind tools and system, `5m` or `1h`.
        message_ttl: of those in the history; by default the same.

    Raises:
        UsageError: a marker that is set already, or a `message_ttl` that outlives `ttl`.
        InputError: a tool that is not JSON.
    """

    def __init__(  # noqa: PLR0913  a session has that many constants
        self,
        model: str,
        system: str | Sequence[Mapping[str, Any]] = "",
        tools: Sequence[dict[str, Any]] = (),
        *,
        max_tokens: int = 4096,
        ttl: str = "5m",
        message_ttl: str | None = None,
    ) -> None:
        """See the class."""
        self._rules = rules_for(model, {"minimum_tokens": 0})
        self._message_ttl = message_ttl or ttl
        seconds = self._rules.ttl_seconds
        unknown = {ttl, self._message_ttl} - set(seconds)
        if unknown:
            raise UsageError(f"no ttl {unknown.pop()!r}; there are {', '.join(seconds)}")
        if seconds[self._message_ttl] > seconds[ttl]:
            raise UsageError("the history's breakpoints cannot outlive those before it")
        self._head = {"model": model, "max_tokens": max_tokens, **_stable(system, tools, ttl)}

    def request(
        self, messages: Sequence[Message], context: Mapping[str, object] | None = None, **more: Any
    ) -> dict[str, Any]:
        """The request for a conversation so far; the caller's messages are left alone.

        Args:
            messages: the conversation, without context of earlier requests.
            context: what varies: shown to the model at the end, not cached, not part of history.
            more: further parameters, such as `tool_choice`.

        Raises:
            UsageError: no messages, markers of the caller's own, or a context without a user
                message at the end.
        """
        history = [_blocks(message) for message in messages]
        if not history:
            raise UsageError("a request has at least one message")
        self._mark(history)
        if context:
            if history[-1]["role"] != "user":
                raise UsageError("the context goes with a user message, and the last is none")
            history[-1]["content"].append({"type": "text", "text": _told(context)})
        return {**deepcopy(self._head), "messages": history, **more}

    def _mark(self, history: list[dict[str, Any]]) -> None:
        """Breakpoints at the end and, as far as they go, one lookback apart from there.

        A turn of many sequential calls puts the last entry out of reach of the last breakpoint;
        those before it reach further back.
        """
        left = self._rules.maximum_breakpoints - _markers(self._head)
        step, position, next_at = self._rules.lookback_positions, 0, 0
        run = None
        for block in _backwards(history):
            kind = block.get("type") if block.get("type") in self._rules.run_types else None
            position += not (kind and kind == run)
            run = kind
            if left and position > next_at and _markable(block):
                block["cache_control"] = _marker(self._message_ttl)
                left, next_at = left - 1, position + step - 1


def _stable(
    system: str | Sequence[Mapping[str, Any]], tools: Sequence[dict[str, Any]], ttl: str
) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if tools:
        head["tools"] = [canonical_tool(tool) for tool in tools]
    parts = [{"type": "text", "text": system}] if isinstance(system, str) else deepcopy([*system])
    blocks: list[dict[str, Any]] = [dict(part) for part in parts if part.get("text")]
    if blocks:
        head["system"] = blocks
    if _markers(head):
        raise UsageError("breakpoints are set here: give tools and system without cache_control")
    upfront = [tool for tool in head.get("tools", ()) if not tool.get("defer_loading")]
    last = blocks or upfront  # one breakpoint behind both: an entry holds everything before it
    if last:
        last[-1]["cache_control"] = _marker(ttl)
    return head


def _blocks(message: Message) -> dict[str, Any]:
    content = message["content"]
    told = [{"type": "text", "text": content}] if isinstance(content, str) else deepcopy(content)
    blocks = [dict(block) for block in told]
    if any("cache_control" in block for block in blocks):
        raise UsageError("breakpoints are set here: give messages without cache_control")
    return {**message, "content": blocks}


def _backwards(history: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in reversed(history):
        yield from reversed(message["content"])


def _markable(block: Mapping[str, Any]) -> bool:
    return block.get("type") not in UNMARKABLE and block.get("text") != ""


def _marker(ttl: str) -> dict[str, str]:
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}


def _markers(head: Mapping[str, Any]) -> int:
    parts = [*head.get("tools", ()), *head.get("system", ())]
    return sum("cache_control" in part for part in parts)


def _told(context: Mapping[str, object]) -> str:
    lines = [f"{name}: {value}" for name, value in context.items()]
    return "\n".join(["<context>", *lines, "</context>"])
