"""Reversible truncation: cut at boundaries, say so, keep the whole, and give it back.

`truncate` cuts a text of any kind, `TruncatingWrapper` does so for what a tool returns: it keeps
the whole in a `ResourceStore` and adds the notice that names the call to get it. `lookup_tools`
are what the model calls then. `TokenBudget` says how much there is room for (`result-handling`).
"""

from ctxlab.errors import BudgetExceeded as BudgetExceeded
from ctxlab.truncation.budget import DEFAULT_BUDGETS as DEFAULT_BUDGETS
from ctxlab.truncation.budget import TokenBudget as TokenBudget
from ctxlab.truncation.budget import dynamic_limit as dynamic_limit
from ctxlab.truncation.lookup import lookup_tools as lookup_tools
from ctxlab.truncation.notice import parse_notice as parse_notice
from ctxlab.truncation.storages import FsspecStorage as FsspecStorage
from ctxlab.truncation.storages import MemoryStorage as MemoryStorage
from ctxlab.truncation.storages import RedisStorage as RedisStorage
from ctxlab.truncation.storages import SqliteStorage as SqliteStorage
from ctxlab.truncation.store import Page as Page
from ctxlab.truncation.store import ResourceStore as ResourceStore
from ctxlab.truncation.truncate import Truncated as Truncated
from ctxlab.truncation.truncate import truncate as truncate
from ctxlab.truncation.wrapper import TruncatingWrapper as TruncatingWrapper
