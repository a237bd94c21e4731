"""Everything ctxlab refuses, it refuses with one of these.

CtxlabError                   exit code 2
├── UsageError                a parameter, option or argument is wrong
├── InputError                a file or a value in it is wrong: path, place, what would be right
├── DataError                 a fetched input is missing or not what its recipe says
├── SearchError               a search was refused
├── RunFailed                 a run failed, or got worse (exit code 1)
├── Locked                    another batch holds the lock (exit code 75)
├── ToolPrefixViolation       the pinned core of a tool set changed (exit code 1)
├── InvalidRequest            the Messages API would answer this request with an error
├── BudgetExceeded            a token budget would overflow
└── StoreError                a resource store cannot answer
    └── ResourceExpired       it had the resource, and its time is over

`str(error)` is one line for people. What a model reads (`Error: …`) is made by the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar


class CtxlabError(Exception):
    """The root: `except CtxlabError` catches whatever ctxlab refuses."""

    exit_code: ClassVar[int] = 2


class UsageError(CtxlabError):
    """A parameter, option or argument is wrong."""


class InputError(CtxlabError):
    """A file, or a value that was passed in, is not what it should be.

    >>> str(InputError("no such field", path="tools.json", place="[3].name"))
    'tools.json:[3].name: no such field'
    """

    def __init__(
        self, message: str, *, path: str | Path | None = None, place: str | int | None = None
    ) -> None:
        """Say what is wrong and what would be right; `place` is a line or a JSON pointer."""
        self.message = message
        self.path = path
        self.place = place
        where = ":".join(str(part) for part in (path, place) if part not in (None, ""))
        super().__init__(f"{where}: {message}" if where else message)


class DataError(CtxlabError):
    """A fetched input is missing or not what its recipe says."""


class SearchError(CtxlabError):
    """A search was refused; `code` is the API's own name for the reason where it has one."""

    def __init__(self, message: str, code: str = "invalid_tool_input") -> None:
        self.code = code
        super().__init__(message)


class RunFailed(CtxlabError):
    """A run failed, or got worse."""

    exit_code: ClassVar[int] = 1


class Locked(CtxlabError):
    """Another batch holds the lock (75 is EX_TEMPFAIL: try again later)."""

    exit_code: ClassVar[int] = 75


class ToolPrefixViolation(CtxlabError):
    """The pinned core of a tool set changed; both fingerprints are named (`tool-registry`)."""

    exit_code: ClassVar[int] = 1

    def __init__(self, pinned: str, found: str) -> None:
        self.pinned = pinned
        self.found = found
        super().__init__(
            f"the core of the tool array changed: pinned {pinned}, found {found}; "
            "the core must stay as it was for the whole session"
        )


class InvalidRequest(CtxlabError):
    """The Messages API would answer this request with an error.

    `status` is the HTTP status, `message` the API's text, `error_code` the machine-readable
    `details.error_code` where the API gives one (source: facts `prompt-cache` §0).
    """

    def __init__(self, message: str, *, status: int = 400, error_code: str | None = None) -> None:
        self.status = status
        self.message = message
        self.error_code = error_code
        super().__init__(f"{status}: {message}")


class BudgetExceeded(CtxlabError):
    """A token budget would overflow; `overflows` maps each route to tokens over its limit."""

    def __init__(self, overflows: Mapping[str, int]) -> None:
        self.overflows = dict(overflows)
        told = ", ".join(f"{route} by {over:,} tokens" for route, over in overflows.items())
        super().__init__(f"token budget exceeded: {told}")


class StoreError(CtxlabError):
    """A resource store cannot answer: an unknown id, a bad offset, a storage that is away."""


class ResourceExpired(StoreError):
    """The store had this resource, and its time is over."""
