"""The tools of an agent as one object: what to send to the API, and what to call.

>>> tools = workspace_tools(Path(__file__).parent)
>>> [tool["name"] for tool in tools.definitions]
['read_file', 'grep_search']
>>> tools.call("read_file", {"path": "../secret"})
"Error: '../secret' is outside the workspace; paths are relative to its root"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

from ctxlab.errors import CtxlabError, UsageError
from ctxlab.tooldef import call, definition
from ctxlab.tools.formats import render
from ctxlab.tools.grep import search
from ctxlab.tools.read_file import MAX_LINES, read
from ctxlab.tools.workspace import Workspace
from ctxlab.truncation.lookup import lookup_tools
from ctxlab.truncation.store import ResourceStore

MAX_RESULTS = 200
"""Matching lines that one grep_search shows at most (`tool-design` §4)."""


class Toolset:
    """Functions as tools, in the order that they are given: it is part of the prompt's prefix."""

    def __init__(self, functions: Iterable[Callable[..., str]]) -> None:
        self._functions = {function.__name__: function for function in functions}

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """Anthropic tool dicts in canonical form; the caller's own to change."""
        return [definition(function) for function in self._functions.values()]

    def call(self, name: str, arguments: object) -> str:
        """The tool's answer; whatever a model sends, what is wrong comes back as `Error: …`.

        A tool with errors of another form has them made by its attribute `refused`.
        """
        function = self._functions.get(name) if isinstance(name, str) else None
        try:
            if function is None:
                known = ", ".join(self._functions)
                raise UsageError(f"there is no tool {name!r:.80}; there are {known}")
            return str(call(function, arguments))
        except (CtxlabError, OSError) as error:
            return str(getattr(function, "refused", "Error: {}".format)(str(error)))


def workspace_tools(root: str | Path, store: ResourceStore | None = None) -> Toolset:
    """read_file and grep_search over one folder, and with a store the tools that look into it.

    Args:
        root: The folder; no tool reads outside it.
        store: Where truncated results are kept: adds lookup_full_content and search_full_content.

    Raises:
        InputError: the root is not a directory.
    """
    tools = WorkspaceTools(root)
    lookups = [] if store is None else lookup_tools(store)
    return Toolset([tools.read_file, tools.grep_search, *lookups])


class WorkspaceTools:
    """The tools that read one workspace; their docstrings are written for the model."""

    def __init__(self, root: str | Path) -> None:
        self.workspace = Workspace(root)

    def read_file(
        self,
        path: str,
        offset: Annotated[int, {"minimum": 1}] = 1,
        limit: Annotated[int, {"minimum": 1}] = MAX_LINES,
    ) -> str:
        """Read a text file of the workspace, or a range of its lines.

        Use it before you edit a file, and to see what surrounds a line that grep_search found.
        The answer begins with the range and the file's total number of lines; when lines remain,
        it gives the exact next call. Then follows the text, exactly as it is in the file. One call
        gives at most 2000 lines; of a line longer than 2000 characters it gives head and tail.

        Args:
            path: The file, from the workspace's root (`src/app.py`) or absolute inside it.
            offset: The first line to read, 1-based.
            limit: How many lines to read, at most 2000.
        """
        return read(self.workspace, path, offset, limit)

    def grep_search(
        self,
        pattern: str,
        include: str = "**/*",
        max_results: Annotated[int, {"minimum": 1}] = MAX_RESULTS,
        literal: bool = False,  # noqa: FBT001, FBT002  a model names its arguments
        case_sensitive: bool = True,  # noqa: FBT001, FBT002
    ) -> str:
        r"""Search the text of the workspace's files, line by line, for a regular expression.

        Use it to find where something is defined or used, before you read files. The answer gives
        the number of matching lines and files, then for each file its path and the matching lines
        with their line numbers (1-based, as read_file counts). When there are more than
        max_results, every file keeps its share and the answer says what is left out. Files that
        .gitignore names and binary files are not searched.

        Args:
            pattern: A regular expression in the syntax of ripgrep: `a|b`, `\bword\b`,
                `def \w+\(`; no look-around and no backreferences.
            include: A glob from the workspace's root: `**/*.py`, `src/**`, `*.{ts,tsx}`; a file or
                folder may be named as it is.
            max_results: How many matching lines to show, at most 200; all are counted.
            literal: true when the pattern is the text itself and no regular expression.
            case_sensitive: false when upper and lower case are the same.
        """
        cap = min(max_results, MAX_RESULTS)
        result = search(
            self.workspace, pattern, include, cap, literal, case_sensitive, first_come=False
        )
        return render(result, "grep")
