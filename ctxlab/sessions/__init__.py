"""Sessions: sequences of tool operations that a strategy can replay."""

from ctxlab.sessions.operations import ToolOperation, ToolOperations, tool_operations

__all__ = ["ToolOperation", "ToolOperations", "tool_operations"]
