"""Tool arrays and what a prompt cache sees of them.

Canonical JSON and prefix chains (`canonical`, `prefix_chain`), a core that never changes with a
tail that may (`ToolSegments`, `ToolSetSession`), what changed between two arrays
(`compare_tools`), and tools from a file (`read_tools`).
"""

from ctxlab.errors import ToolPrefixViolation
from ctxlab.prefix.canonical import canonical, canonical_tool
from ctxlab.prefix.chain import prefix_chain, shared_prefix_len
from ctxlab.prefix.compare import ToolChange, compare_tools
from ctxlab.prefix.read import read_tools
from ctxlab.prefix.segments import ToolSegments, ToolSetSession

__all__ = [
    "ToolChange",
    "ToolPrefixViolation",
    "ToolSegments",
    "ToolSetSession",
    "canonical",
    "canonical_tool",
    "compare_tools",
    "prefix_chain",
    "read_tools",
    "shared_prefix_len",
]
