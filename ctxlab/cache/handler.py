"""The Messages API's two paths over a PromptCache: bytes in, status and bytes out.

One handler, several doors: the transports of `simulated_client` call it in process, a server may
call it over a socket. It knows nothing of either. Not handled here: authentication, rate limits,
batches, models that truly think.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import orjson

from ctxlab.cache.replies import Replier, Replies, ServerTool
from ctxlab.cache.simulator import Pending, PromptCache
from ctxlab.cache.stream import events
from ctxlab.cache.validation import API_VERSION, Envelope
from ctxlab.errors import CtxlabError, InvalidRequest

MESSAGES_PATH = "/v1/messages"
COUNT_PATH = "/v1/messages/count_tokens"
_ERROR_TYPES = {
    400: "invalid_request_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    504: "timeout_error",
}
_INTERNAL = 500


@dataclass(frozen=True)
class Answer:
    """A response whose body has not begun."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes] = field(repr=False)
    """The body. Drawing the first chunk is the moment at which the response begins: only then can
    others read what this request wrote to the cache."""
    usage: Mapping[str, Any] | None = None
    """What `PromptCache` reports of a request to `/v1/messages`, with its diagnostics."""


class MessagesHandler:
    """Answers requests from one cache.

    Args:
        cache: the cache; by default one with the dated table's rules and this machine's clock.
        replies: a function from request to reply, or replies in order; an echo by default.
        server_tool: answers the `server_tool_use` blocks of a reply; None answers tool searches
            and leaves the others alone.
    """

    def __init__(
        self,
        cache: PromptCache | None = None,
        replies: Replies | None = None,
        server_tool: ServerTool | None = None,
    ) -> None:
        self.cache = cache or PromptCache()
        self._reply = Replier(replies, server_tool, self.cache.run)
        self._requests = count(1)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer one HTTP request; whatever is refused comes back in the API's own error form."""
        request_id = f"req_simulated_{self.cache.run}{next(self._requests):06d}"
        sent = {name.lower(): value for name, value in headers.items()}
        try:
            return self._route(method, path, sent, body, request_id)
        except InvalidRequest as error:
            return failure(error.status, error.message, request_id, error.error_code)
        except CtxlabError as error:
            return failure(400, str(error), request_id)
        except RecursionError:
            return failure(400, "The request body is nested too deep", request_id)

    def _route(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, request_id: str
    ) -> Answer:
        if path not in (MESSAGES_PATH, COUNT_PATH):
            raise InvalidRequest(f"no such path: {path}", status=404)
        if method != "POST":
            raise InvalidRequest(f"{path} takes POST, not {method}", status=405)
        request = _parsed(body)
        betas = frozenset(name.strip() for name in headers.get("anthropic-beta", "").split(","))
        version = headers.get("anthropic-version", API_VERSION)
        envelope = Envelope(betas, version, parsed=True)
        if path == COUNT_PATH:
            tokens = self.cache.count_tokens(request, envelope)
            return _json(200, {"input_tokens": tokens}, request_id)
        pending = self.cache.begin(request, envelope)
        return self._message(request, pending, request_id)

    def _message(self, request: dict[str, Any], pending: Pending, request_id: str) -> Answer:
        content, stop_reason, output = self._reply(request)
        usage = {**pending.usage, "output_tokens": output, "service_tier": "standard"}
        diagnostics, message_id = usage.pop("diagnostics"), usage.pop("message_id")
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "stop_details": None,
            "usage": usage,
            "diagnostics": diagnostics,
        }
        streamed = bool(request.get("stream"))
        parts = events(message) if streamed else iter([orjson.dumps(message)])
        kind = "text/event-stream; charset=utf-8" if streamed else "application/json"
        headers = {"content-type": kind, "request-id": request_id}
        reported = {**pending.usage, "output_tokens": output}
        return Answer(200, headers, _begun(pending, parts), reported)


def failure(status: int, message: str, request_id: str, code: str | None = None) -> Answer:
    """An error in the API's form (facts `prompt-cache` §0)."""
    kind = _ERROR_TYPES.get(status, "api_error" if status >= _INTERNAL else "invalid_request_error")
    error: dict[str, Any] = {"type": kind, "message": message}
    if code:
        error["details"] = {"error_code": code}
    return _json(status, {"type": "error", "error": error, "request_id": request_id}, request_id)


def _begun(pending: Pending, parts: Iterator[bytes]) -> Iterator[bytes]:
    pending.finish()
    yield from parts


def _json(status: int, body: dict[str, Any], request_id: str) -> Answer:
    headers = {"content-type": "application/json", "request-id": request_id}
    return Answer(status, headers, iter([orjson.dumps(body)]))


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"The request body is not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise InvalidRequest("The request body is not a JSON object")
    return request
