"""Sessions: recorded ones, and sequences of tool operations that a strategy can replay."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ctxlab.sessions.auditing.audit import AuditedRequest, audit, audited
from ctxlab.sessions.model import Exchange, Line, Session, Skipped
from ctxlab.sessions.operations import ToolOperation, ToolOperations, tool_operations
from ctxlab.sessions.reading.read import read_sessions

if TYPE_CHECKING:
    from ctxlab.sessions.auditing.variants import replay, what_if
    from ctxlab.sessions.context.contents import context_by_origin, input_per_output
    from ctxlab.sessions.context.cutting import large_results
    from ctxlab.sessions.recording.recorder import AsyncRecorder, Recorder
else:
    # They need httpx2 or the tokenizer, which reading and auditing do not.
    _LATER = {
        "AsyncRecorder": "recording.recorder",
        "Recorder": "recording.recorder",
        "context_by_origin": "context.contents",
        "input_per_output": "context.contents",
        "large_results": "context.cutting",
        "replay": "auditing.variants",
        "what_if": "auditing.variants",
    }

    def __getattr__(name: str) -> Any:
        """The names of `_LATER` are imported when they are first used."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"ctxlab.sessions.{_LATER[name]}"), name)


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
    "context_by_origin",
    "input_per_output",
    "large_results",
    "read_sessions",
    "replay",
    "tool_operations",
    "what_if",
]
