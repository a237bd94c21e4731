"""The prompt cache: its rules, a request laid out, and what it would read and write.

`PromptCache` answers requests with the usage that the API would report; `lay_out` once and append
for sessions that are sent a thousand times. Everything here is simulated.
"""

from ctxlab.cache.layout import Layout
from ctxlab.cache.rules import Rules, Switch, rules_for, switches
from ctxlab.cache.simulator import Pending, PromptCache
from ctxlab.errors import InvalidRequest

__all__ = [
    "InvalidRequest",
    "Layout",
    "Pending",
    "PromptCache",
    "Rules",
    "Switch",
    "rules_for",
    "switches",
]
