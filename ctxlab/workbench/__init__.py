"""The workbench: notebooks in, run directories out. It knows notebooks, tables and directories.

In a notebook:

>>> from ctxlab.workbench import Record, Rule
>>> record = Record("")  # the parameter output_dir; empty saves nothing
>>> rule = Rule(better="lower", relative=0.05)

Its names are imported when they are first used, so that `ctxlab list` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxlab.workbench.batch import run_batch as run_batch
    from ctxlab.workbench.compare import compare_runs as compare_runs
    from ctxlab.workbench.record import Record as Record
    from ctxlab.workbench.results import load_table as load_table
    from ctxlab.workbench.results import newest_tables as newest_tables
    from ctxlab.workbench.rules import Rule as Rule
    from ctxlab.workbench.run import run_notebook as run_notebook

_MODULES = {
    "batch": "run_batch",
    "compare": "compare_runs",
    "record": "Record",
    "results": "load_table newest_tables",
    "rules": "Rule",
    "run": "run_notebook",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_HOME)  # noqa: PLE0605  one table says both where a name lives and that it is public


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ctxlab.workbench' has no attribute {name!r}")
    return getattr(import_module(f"ctxlab.workbench.{_HOME[name]}"), name)
