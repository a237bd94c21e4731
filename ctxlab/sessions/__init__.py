"""Sessions: recorded ones, and sequences of tool operations that a strategy can replay."""

from ctxlab.sessions.model import Exchange, Line, Session, Skipped
from ctxlab.sessions.operations import ToolOperation, ToolOperations, tool_operations

__all__ = [
    "Exchange",
    "Line",
    "Session",
    "Skipped",
    "ToolOperation",
    "ToolOperations",
    "tool_operations",
]
