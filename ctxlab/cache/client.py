"""The real `anthropic` SDK over a simulated cache: typed responses, typed errors, no network.

>>> client = simulated_client(replies=["It is 42."])
>>> message = client.messages.create(
...     model="claude-opus-5", max_tokens=64, messages=[{"role": "user", "content": "What is it?"}])
>>> message.content[0].text, message.usage.cache_read_input_tokens
('It is 42.', 0)

The same code talks to the real API with `anthropic.Anthropic()` in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.cache.handler import MessagesHandler
from ctxlab.cache.replies import Replies, ServerTool
from ctxlab.cache.simulator import PromptCache

if TYPE_CHECKING:
    import anthropic

_BASE_URL = "http://simulated.invalid"
_KEY = "simulated"


def simulated_client(
    cache: PromptCache | None = None,
    replies: Replies | None = None,
    server_tool: ServerTool | None = None,
) -> anthropic.Anthropic:
    """An `anthropic.Anthropic` that a PromptCache answers.

    Args:
        cache: its cache; a new one by default. Clients may share one.
        replies: what the model says: a list in order, a function of the request, or None for an
            echo. A reply is a text or content blocks (`tool_call` makes a call).
        server_tool: answers `server_tool_use` blocks in replies, for tools that the API runs; by
            default tool searches are answered (`ctxlab.cache.tool_search`), others left alone.
    """
    import anthropic  # noqa: PLC0415  2 s that a command without a client should not pay
    import httpx2  # noqa: PLC0415  comes with it

    from ctxlab.cache.transport import SimulatedTransport  # noqa: PLC0415  needs httpx2

    transport = SimulatedTransport(MessagesHandler(cache, replies, server_tool))
    client = httpx2.Client(transport=transport)
    return anthropic.Anthropic(api_key=_KEY, base_url=_BASE_URL, http_client=client)


def simulated_async_client(
    cache: PromptCache | None = None,
    replies: Replies | None = None,
    server_tool: ServerTool | None = None,
) -> anthropic.AsyncAnthropic:
    """`simulated_client` for `async` code: requests awaited together overlap, and each writes."""
    import anthropic  # noqa: PLC0415  as above
    import httpx2  # noqa: PLC0415  as above

    from ctxlab.cache.transport import AsyncSimulatedTransport  # noqa: PLC0415  as above

    transport = AsyncSimulatedTransport(MessagesHandler(cache, replies, server_tool))
    client = httpx2.AsyncClient(transport=transport)
    simulated = anthropic.AsyncAnthropic(api_key=_KEY, base_url=_BASE_URL, http_client=client)
    # The SDK would look for its platform in a thread first, and requests sent together would
    # reach the cache one after another, by chance.
    simulated._platform = "Unknown"  # noqa: SLF001
    return simulated
