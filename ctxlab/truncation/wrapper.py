r"""Cut, store and notify: what a tool returns, made safe for a context.

>>> from ctxlab.truncation.notice import parse_notice
>>> from ctxlab.truncation.storages import MemoryStorage
>>> store = ResourceStore(MemoryStorage())
>>> wrapper = TruncatingWrapper(store, limit=900)
>>> wrapper.wrap("read_log", "short")
'short'
>>> text = wrapper.wrap("read_log", "one line\n" * 1000)
>>> len(text) <= 900, store.text(parse_notice(text)[1]["resource_id"]) == "one line\n" * 1000
(True, True)

Cutting and keeping go together: when the store cannot keep a text, nothing is cut and the store's
error is raised. The notice counts within the limit (source: `result-handling`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from ctxlab.errors import UsageError
from ctxlab.truncation.kinds import apart
from ctxlab.truncation.mcp_results import (
    as_dict,
    joined,
    like,
    says_the_same,
    structured_text,
    with_text,
)
from ctxlab.truncation.measure import exceeds, size
from ctxlab.truncation.notice import notice
from ctxlab.truncation.store import ResourceStore
from ctxlab.truncation.truncate import Cutting, Truncated, fitted, truncate

_Result = TypeVar("_Result")
_ANY_ID = "a1b2c3d4"


@dataclass(frozen=True)
class Wrapped:
    """What is returned for a content."""

    text: str
    """All of it, the notice included."""
    cut: Truncated | None = None
    """What was cut; None where the content fits."""
    resource_id: str | None = None
    """Where the whole content is."""


class TruncatingWrapper:
    """What bounds the output of any tool; may be shared by threads."""

    def __init__(
        self,
        store: ResourceStore,
        limit: int | Callable[[], int] = 4000,
        unit: str = "chars",
        kind: str = "auto",
        keep: str | float = "auto",
    ) -> None:
        """Bound texts to `limit`, notice included, and keep what is cut in `store`.

        Args:
            store: Where the whole texts go.
            limit: Characters or tokens; or a function that gives them for each call, such as
                `lambda: dynamic_limit(budget.remaining("retrieved_context"))`.
            unit: `chars` or `tokens`.
            kind: As in `truncate`.
            keep: As in `truncate`.

        Raises:
            UsageError: a limit below 1, or what `truncate` refuses.
        """
        self.store = store
        self._limit = limit if callable(limit) else lambda: limit
        self._cutting = Cutting(1 if callable(limit) else limit, unit, kind, keep)

    def wrap(self, tool_name: str, content: str, arguments: Mapping[str, Any] | None = None) -> str:
        """The content if it fits, else what is kept of it, and the notice.

        Args:
            tool_name: The tool that returned the content.
            content: What it returned.
            arguments: What it was called with: an expired id then names the whole call.

        Raises:
            UsageError: a limit that does not hold the notice, content that is no string.
            StoreError: the content cannot be kept; nothing was cut.
        """
        return self.wrapped(tool_name, content, arguments).text

    def wrapped(
        self, tool_name: str, content: str, arguments: Mapping[str, Any] | None = None
    ) -> Wrapped:
        """What `wrap` returns, with the cut behind it: for those who measure cuts."""
        if not isinstance(content, str):
            raise UsageError(f"content must be a string, not {type(content).__name__}")
        cutting = replace(self._cutting, limit=self._limit())
        if not exceeds(content, cutting.limit, cutting.unit):
            return Wrapped(content)
        return _Job(self.store, tool_name, cutting, arguments).cut(content)

    def wrap_result(
        self, tool_name: str, result: _Result, arguments: Mapping[str, Any] | None = None
    ) -> _Result:
        """An MCP tool result with both channels bounded, each by the limit.

        Args:
            tool_name: The tool that returned the result.
            result: `CallToolResult` of the `mcp` package, or the same as a dict. It is not changed.
            arguments: As in `wrap`.

        Of `content`, the texts are joined when together they are too large, and images, audio and
        links stay as they are. `structuredContent` stays an object: its largest member gives way
        first. What tells of it stands in `content`, which is what the model reads. Whatever fits
        is returned untouched. Raises what `wrap` raises.
        """
        fields = as_dict(result)
        content, value = fields.get("content", []), fields.get("structuredContent")
        text, structured = joined(content), "" if value is None else structured_text(value)
        cutting = replace(self._cutting, limit=self._limit())
        text_is_large = exceeds(text, cutting.limit, cutting.unit)
        value_is_large = exceeds(structured, cutting.limit, cutting.unit)
        if not text_is_large and not value_is_large:
            return result
        job = _Job(self.store, tool_name, cutting, arguments)
        extra: list[dict[str, Any]] = []
        if value_is_large:
            is_told = text_is_large and says_the_same(text, value)
            fields["structuredContent"], note = job.cut_value(structured, is_told=is_told)
            extra = [{"type": "text", "text": note}] if note else []
            job = job.less(note)
        if exceeds(text, job.cutting.limit, cutting.unit):
            content = with_text(content, job.cut(text).text)
        return cast("_Result", like(result, {**fields, "content": [*content, *extra]}))


@dataclass(frozen=True)
class _Job:
    """One result that is too large."""

    store: ResourceStore
    tool: str
    cutting: Cutting
    arguments: Mapping[str, Any] | None

    def cut(self, content: str) -> Wrapped:
        """The text with its notice, after the whole of it was kept."""
        cutting = self.cutting
        taken = apart(content, cutting.kind, smart=cutting.keep == "auto")
        nothing = Truncated("", taken.kind, cutting.unit, ((0, len(content)),), original=content)
        self._hold(nothing, _ANY_ID)
        resource_id = self._kept(content, taken.kind)
        # Some ids take a token more than others: a notice that just fitted may not.
        self._hold(nothing, resource_id)

        def whole(cut: Truncated) -> str:
            return cut.text + self._notice(cut, resource_id)

        cut = fitted(content, cutting, taken, whole)
        return Wrapped(whole(cut), cut, resource_id)

    def cut_value(self, structured: str, *, is_told: bool) -> tuple[Any, str]:
        """A JSON value cut to the limit, and its notice unless the text's notice tells of it."""
        cut = truncate(structured, self.cutting.limit, self.cutting.unit, "json")
        value = json.loads(cut.text) if cut.text else {}
        if is_told:
            return value, ""
        of = " on structuredContent"
        taken = size(self._notice(cut, _ANY_ID, of), self.cutting.unit)
        if taken >= self.cutting.limit:
            raise _too_small(self.cutting, taken)
        return value, self._notice(cut, self._kept(structured, "json"), of)

    def less(self, note: str) -> _Job:
        """The same with the room that a note leaves."""
        left = self.cutting.limit - size(note, self.cutting.unit)
        if left < 1:
            raise _too_small(self.cutting, size(note, self.cutting.unit))
        return replace(self, cutting=replace(self.cutting, limit=left))

    def _kept(self, content: str, kind: str) -> str:
        told = {} if self.arguments is None else {"arguments": dict(self.arguments)}
        return self.store.save(content, {"tool": self.tool, "kind": kind, **told})

    def _notice(self, cut: Truncated, resource_id: str, of: str = "") -> str:
        reason = f"limit of {self.cutting.limit:,} {self.cutting.unit}{of}"
        return notice(cut, self.tool, resource_id, reason)

    def _hold(self, nothing: Truncated, resource_id: str) -> None:
        taken = size(self._notice(nothing, resource_id), self.cutting.unit)
        if taken > self.cutting.limit:
            raise _too_small(self.cutting, taken)


def _too_small(cutting: Cutting, taken: int) -> UsageError:
    return UsageError(
        f"a limit of {cutting.limit:,} {cutting.unit} does not hold the truncation notice, "
        f"which takes {taken:,}; give more"
    )
