"""The prompt cache: its rules, a request laid out, and what it would read and write.

`PromptCache` answers requests with the usage that the API would report; `lay_out` once and append
for sessions that are sent a thousand times. `simulated_client` is the real SDK over one.
Everything here is simulated.
"""

from ctxlab.cache.builder import RequestBuilder
from ctxlab.cache.client import simulated_async_client, simulated_client
from ctxlab.cache.explanation import Change, Explanation, explain
from ctxlab.cache.handler import Answer, MessagesHandler
from ctxlab.cache.layout import Layout
from ctxlab.cache.linting import Finding, lint, lint_file
from ctxlab.cache.replies import Script, echo, tool_call
from ctxlab.cache.rules import Rules, Switch, rules_for, switches
from ctxlab.cache.simulator import Pending, PromptCache
from ctxlab.cache.validation import Envelope
from ctxlab.errors import InvalidRequest

__all__ = [
    "Answer",
    "Change",
    "Envelope",
    "Explanation",
    "Finding",
    "InvalidRequest",
    "Layout",
    "MessagesHandler",
    "Pending",
    "PromptCache",
    "RequestBuilder",
    "Rules",
    "Script",
    "Switch",
    "echo",
    "explain",
    "lint",
    "lint_file",
    "rules_for",
    "simulated_async_client",
    "simulated_client",
    "switches",
    "tool_call",
]
