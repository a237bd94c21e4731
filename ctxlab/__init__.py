"""ctxlab measures what an LLM agent's tools do to its context.

The public names of every instrument stand here flat, and are imported when they are first used:
`import ctxlab` stays fast.

>>> import ctxlab
>>> ctxlab.canonical({"b": 1, "a": [2]})
'{"a":[2],"b":1}'
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "errors": "BudgetExceeded CtxlabError DataError InputError InvalidRequest ToolPrefixViolation "
    "UsageError",
    "tokens": "count count_many",
    "cache": "Explanation Finding Layout PromptCache RequestBuilder explain lint lint_file "
    "rules_for simulated_async_client simulated_client switches tool_call",
    "prices": "Cost Rates cost price_table rates",
    "prefix": "ToolChange ToolSegments ToolSetSession canonical canonical_tool compare_tools "
    "prefix_chain read_tools shared_prefix_len",
    "loading": "Bm25ToolSearch LoadingPlan McpServer RegexToolSearch ServerTools join_tools "
    "list_many list_tools plan_loading read_servers",
    "tools": "SearchResult Toolset largest_remainder render search workspace_tools",
    "truncation": "DEFAULT_BUDGETS FsspecStorage MemoryStorage Page RedisStorage ResourceStore "
    "SqliteStorage TokenBudget Truncated TruncatingWrapper dynamic_limit lookup_tools parse_notice "
    "truncate",
    "sessions": "AsyncRecorder Recorder Session ToolOperation ToolOperations audit "
    "context_by_origin large_results read_sessions tool_operations what_if",
    "workbench": "Record Rule compare_runs load_table run_batch run_notebook",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_HOME)  # noqa: PLE0605  one table says both where a name lives and that it is public


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ctxlab' has no attribute {name!r}")
    return getattr(import_module(f"ctxlab.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, *globals()]
