"""The engines that may run a notebook, by name.

An engine is a papermill engine whose `execute_managed_notebook` takes a `kernel.Session`. It is
imported and registered with papermill when it is first used: papermill's own entry points would
import us before papermill.
"""

from __future__ import annotations

from importlib import import_module

from ctxlab.errors import UsageError
from ctxlab.workbench import warm_parent

ENGINES = {
    "ordinary": "ctxlab.workbench.kernel:OrdinaryEngine",
    "forked": "ctxlab.workbench.forked:ForkedEngine",
}
"""Name → module:class."""

DEFAULT = "ordinary"


def for_batches() -> str:
    """A batch's default: the engine that starts kernels fastest on this machine."""
    return "forked" if warm_parent.available() else DEFAULT


def checked_engine(name: str) -> str:
    """The name, when there is such an engine.

    Raises:
        UsageError: there is none.
    """
    if name not in ENGINES:
        raise UsageError(f"no engine {name!r}; there are {', '.join(ENGINES)}")
    return name


def register(name: str) -> str:
    """Import the engine; the name under which papermill now knows it."""
    from papermill.engines import papermill_engines  # noqa: PLC0415  1 s: when something runs

    module, kind = ENGINES[checked_engine(name)].split(":")
    papermill_engines.register(f"ctxlab-{name}", getattr(import_module(module), kind))
    return f"ctxlab-{name}"
