"""What the simulated model says: an echo, a script, or whatever a function makes of the request.

A reply is a text, or a list of content blocks as the API returns them; ids may be left out.

>>> script = Script(["Let me look.", [tool_call("read_file", path="a.py")]])
>>> script({})
'Let me look.'
>>> script({})
[{'type': 'tool_use', 'name': 'read_file', 'input': {'path': 'a.py'}}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from threading import Lock
from typing import Any, Literal

from ctxlab import tokens
from ctxlab.cache.estimate import estimate
from ctxlab.cache.tool_search import answer_search, is_search
from ctxlab.errors import InvalidRequest

Blocks = list[dict[str, Any]]
Reply = str | Sequence[Mapping[str, Any]]
Replies = Callable[[Mapping[str, Any]], Reply] | Iterable[Reply]
ServerTool = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
"""A server tool: the request and a `server_tool_use` block in, its result block out."""
Then = Literal["error", "echo", "repeat"]
"""What follows the last reply of a script: a 400, an echo, or the first one again."""
_ID_PREFIXES = {"tool_use": "toolu", "server_tool_use": "srvtoolu"}


class Script:
    """Replies in order, one a request; then what `then` says.

    >>> again = Script(["one", "two"], then="repeat")
    >>> [again({}) for _ in range(3)]
    ['one', 'two', 'one']
    """

    def __init__(self, replies: Iterable[Reply], then: Then = "error") -> None:
        self._replies = list(replies)
        self._then = then
        self._next = 0
        self._lock = Lock()

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """The next reply, whatever the request.

        Raises:
            InvalidRequest: there is none left, and that is an error.
        """
        with self._lock:
            number, self._next = self._next, self._next + 1
        if number >= len(self._replies):
            if self._then == "echo":
                return echo(request)
            if self._then == "repeat" and self._replies:
                return self._replies[number % len(self._replies)]
            raise InvalidRequest(f"the script has {len(self._replies)} replies, and all were given")
        return self._replies[number]


def echo(request: Mapping[str, Any]) -> Reply:
    """Says back the last text of the last message; calls a tool when it is made to.

    A forced call takes the tool that `tool_choice` names, or the first one that is not deferred,
    with an empty input.
    """
    choice = request.get("tool_choice") or {}
    if choice.get("type") == "tool":
        return [tool_call(str(choice.get("name")))]
    if choice.get("type") == "any":
        offered = [tool for tool in request.get("tools") or () if not tool.get("defer_loading")]
        return [tool_call(str(offered[0].get("name")))] if offered else ""
    content = request["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    said = [block["text"] for block in content if block.get("type") == "text"]
    return said[-1] if said else "Understood."


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    """A `tool_use` block for a script."""
    return {"type": "tool_use", "name": name, "input": arguments}


class Replier:
    """Turns replies into what a response holds: blocks with ids, stop reason, output tokens."""

    def __init__(
        self, replies: Replies | None, server_tool: ServerTool | None = None, run: str = ""
    ) -> None:
        self._run = run
        self._reply = echo if replies is None else replies if callable(replies) else Script(replies)
        self._server_tool = server_tool
        self._ids = count(1)

    def __call__(self, request: Mapping[str, Any]) -> tuple[Blocks, str, int]:
        """Content blocks, `stop_reason`, output tokens (o200k estimate)."""
        limit = request.get("max_tokens")
        if limit == 0:  # the caller only warms the cache
            return [], "max_tokens", 0
        reply = self._reply(request)
        plain = [{"type": "text", "text": reply}] if isinstance(reply, str) else reply
        answered = {block.get("tool_use_id") for block in plain}
        blocks = [done for block in plain for done in self._complete(block, request, answered)]
        spent = sum(map(_written, blocks))
        if limit is not None and spent > limit:
            return _cut(blocks, limit), "max_tokens", limit
        called = any(block["type"] == "tool_use" for block in blocks)
        return blocks, "tool_use" if called else "end_turn", max(1, spent)

    def _complete(
        self, block: Mapping[str, Any], request: Mapping[str, Any], answered: set[Any]
    ) -> Blocks:
        """The block with an id, and behind a server tool's call its result."""
        prefix = _ID_PREFIXES.get(str(block.get("type")))
        done = dict(block)
        if prefix and "id" not in done:
            done = {"type": done["type"], "id": self._new_id(prefix), **done}
        if block.get("type") != "server_tool_use" or done["id"] in answered:
            return [done]
        answer = self._server_tool or (answer_search if is_search(done) else None)
        return [done, dict(answer(request, done))] if answer else [done]

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_simulated_{self._run}{next(self._ids):06d}"


def _written(block: Mapping[str, Any]) -> int:
    """Output tokens of a block: the model writes calls and text, not what a server tool found."""
    return 0 if str(block["type"]).endswith("_tool_result") else estimate(block)


def _cut(blocks: Blocks, limit: int) -> Blocks:
    """The blocks within `limit` tokens: the text that crosses it is cut, what follows is lost."""
    kept: Blocks = []
    for block in blocks:
        size = _written(block)
        if size > limit:
            if block["type"] == "text" and limit > 0:
                said = tokens.decode_bytes(tokens.encode(block["text"])[:limit])
                kept.append({**block, "text": said.decode(errors="ignore")})
            break
        kept.append(block)
        limit -= size
    return kept
