"""Sessions: recorded ones, and sequences of tool operations that a strategy can replay."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ctxlab.sessions.auditing import AuditedRequest, audit, audited
from ctxlab.sessions.model import Exchange, Line, Session, Skipped
from ctxlab.sessions.operations import ToolOperation, ToolOperations, tool_operations
from ctxlab.sessions.reading import read_sessions

if TYPE_CHECKING:
    from ctxlab.sessions.recorder import AsyncRecorder, Recorder
else:

    def __getattr__(name: str) -> Any:
        """The recorders when they are first used: they need httpx2, which tables do not."""
        if name not in ("AsyncRecorder", "Recorder"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("ctxlab.sessions.recorder"), name)


__all__ = [
    "AsyncRecorder",
    "AuditedRequest",
    "Exchange",
    "Line",
    "Recorder",
    "Session",
    "Skipped",
    "ToolOperation",
    "ToolOperations",
    "audit",
    "audited",
    "read_sessions",
    "tool_operations",
]
