"""The prompt cache, simulated: a request in, the usage that the API would report out.

The rules are our reading of the sources (facts `prompt-cache`), model by model in
`data/cache_rules.toml`; what they leave open is a switch. Nothing here was billed by anybody:
whatever shows these figures says `simulated`. Not handled here: money (`ctxlab.prices`), replies
(`simulated_client`), other providers' caches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

from ctxlab.cache.blocks import BlockReader, Count, shared_reader
from ctxlab.cache.diagnostics import Fingerprints
from ctxlab.cache.head import TOOLS, Marker
from ctxlab.cache.layout import Layout
from ctxlab.cache.requests import RequestReader
from ctxlab.cache.rules import Rules, rules_for
from ctxlab.cache.shape import check_outline
from ctxlab.cache.validation import BARE, Envelope

Key = tuple[bytes, bytes]
Clock = Callable[[], float]
SIMULATED = "msg_simulated_"
"""How the ids of simulated answers begin: whoever records one knows it by that."""
_SWEEP_EVERY = 4_096


class Entry(NamedTuple):
    """What the cache holds of one prefix."""

    expires: float
    lifetime: float


@dataclass
class Pending:
    """A request that was sent and whose response has not begun."""

    usage: dict[str, Any]
    """What the API will report: it is settled when the request starts."""
    message_id: str
    _cache: PromptCache = field(repr=False)
    _written: list[tuple[Key, Entry]] = field(repr=False)

    def finish(self) -> dict[str, Any]:
        """The response begins: what this request wrote can be read from now on.

        A second call changes nothing.
        """
        self._cache.keep(self._written)
        self._written = []
        return self.usage


class PromptCache:
    """The cache of one workspace.

    Args:
        model_rules: laid over `data/cache_rules.toml` for every model, for example
            `{"minimum_tokens": 100}` or a switch such as
            `{"tool_entries_survive_later_changes": False}`.
        clock: seconds; `time.time` by default.
        count: tokens of one content block, system block or tool. When it is given the total is
            the sum of its answers; else blocks are counted with o200k (an estimate) and the
            tokens that tools bring along are added where the table knows them.
        run: stands in every id: ids of several caches that meet in one log are told apart by it.

    >>> cache = PromptCache({"minimum_tokens": 1}, count=lambda block: 10)
    >>> request = {"model": "claude-opus-5", "cache_control": {"type": "ephemeral"},
    ...            "messages": [{"role": "user", "content": "hello"}]}
    >>> cache.send(request)["cache_creation_input_tokens"]
    10
    >>> cache.send(request)["cache_read_input_tokens"]
    10
    """

    def __init__(
        self,
        model_rules: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        count: Count | None = None,
        *,
        run: str = "",
    ) -> None:
        """See the class."""
        self.run = run
        self._overrides = dict(model_rules or {})
        if count is not None:
            self._overrides.setdefault("tool_prompt_tokens", (0, 0))
        self._clock = clock or time.time
        self._count = count
        self._readers: dict[tuple[str, ...], BlockReader] = {}
        self._entries: dict[Key, Entry] = {}
        self._requests = RequestReader()
        self._fingerprints = Fingerprints()
        self._sent = 0
        self._lock = Lock()
        rules_for("any", {"minimum_tokens": 0, **self._overrides})  # a wrong override fails here

    def rules(self, model: str) -> Rules:
        """The rules that hold for a model in this cache."""
        return rules_for(model, self._overrides)

    def lay_out(
        self,
        request: Mapping[str, Any],
        envelope: Envelope = BARE,
    ) -> Layout:
        """The request laid out for this cache; see `ctxlab.cache.layout`.

        Raises:
            InvalidRequest: what the API would refuse.
            InputError: something that is not JSON.
        """
        if not isinstance(request.get("model"), str):
            check_outline(request)  # a model that is missing is none that is not known
        rules = self.rules(str(request.get("model")))
        return self._requests.lay_out(request, rules, self._reader(rules), envelope)

    def send(
        self,
        request: Mapping[str, Any] | Layout,
        envelope: Envelope = BARE,
    ) -> dict[str, Any]:
        """Send a request and have its response begin at once.

        Args:
            request: a Messages API request body, or one that was laid out.
            envelope: the headers it came with; by default a beta is not asked for.

        Returns:
            A Messages API usage mapping (tokens), with `diagnostics` and `message_id` beside it.

        Raises:
            InvalidRequest: what the API would refuse.
            InputError: something that is not JSON.
        """
        return self.begin(request, envelope).finish()

    def begin(
        self,
        request: Mapping[str, Any] | Layout,
        envelope: Envelope = BARE,
    ) -> Pending:
        """Send a request whose response begins at `finish()`, for requests that overlap."""
        if isinstance(request, Layout):
            layout, asked = request, None
        else:
            layout = self.lay_out(request, envelope)
            asked = request.get("diagnostics")
        with self._lock:
            return self._begin(layout, asked)

    def count_tokens(
        self,
        request: Mapping[str, Any],
        envelope: Envelope = BARE,
    ) -> int:
        """Input tokens of a request, without sending it."""
        return self.lay_out(request, envelope).total

    def keep(self, written: Iterable[tuple[Key, Entry]]) -> None:
        """Make entries readable; the longer-lived of two for one prefix stays."""
        with self._lock:
            for key, entry in written:
                known = self._entries.get(key)
                if known is None or known.expires < entry.expires:
                    self._entries[key] = entry

    def _begin(self, layout: Layout, asked: Mapping[str, Any] | None) -> Pending:
        now = self._clock()
        self._sent += 1
        if not self._sent % _SWEEP_EVERY:
            self._sweep(now)
        read = self._read(layout, now)
        usage, written = self._settle(layout, read, now)
        message_id = f"{SIMULATED}{self.run}{self._sent:012d}"
        usage["diagnostics"] = self._fingerprints.compare(layout, asked, message_id, read)
        usage["message_id"] = message_id
        return Pending(usage, message_id, self, written)

    def _read(self, layout: Layout, now: float) -> int:
        """Tokens at the highest entry that a breakpoint finds; the entry is refreshed."""
        found = found_by(layout, self._entries, now)
        if found is None:
            return 0
        key, tokens = found
        self._refresh(key, self._entries[key], now)
        return tokens

    def _settle(
        self, layout: Layout, read: int, now: float
    ) -> tuple[dict[str, Any], list[tuple[Key, Entry]]]:
        """Usage by the billing rule (facts §1), and the entries that this request writes."""
        written: list[tuple[Key, Entry]] = []
        rules, hour_end, end = layout.rules, read, read
        for marker in layout.breakpoints:
            tokens = layout.tokens_at(marker)
            if tokens < rules.minimum_tokens:
                continue
            end = max(end, tokens)
            if marker.ttl == "1h":
                hour_end = max(hour_end, tokens)
            key = key_of(layout, marker)
            known = self._entries.get(key)
            if known is not None and now < known.expires:
                self._refresh(key, known, now)
            else:
                lifetime = rules.ttl_seconds[marker.ttl]
                written.append((key, Entry(now + lifetime, lifetime)))
        usage: dict[str, Any] = {
            "input_tokens": layout.total - end,
            "cache_creation_input_tokens": end - read,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": end - hour_end,
                "ephemeral_1h_input_tokens": hour_end - read,
            },
            "output_tokens": 0,
        }
        if "speed" in layout.head.parameters:  # another price list
            usage["speed"] = "fast"
        return usage, written

    def _refresh(self, key: Key, entry: Entry, now: float) -> None:
        self._entries[key] = Entry(now + entry.lifetime, entry.lifetime)

    def _reader(self, rules: Rules) -> BlockReader:
        if self._count is None:
            return shared_reader(rules.run_types)
        if rules.run_types not in self._readers:
            self._readers[rules.run_types] = BlockReader(self._count, rules.run_types)
        return self._readers[rules.run_types]

    def _sweep(self, now: float) -> None:
        self._entries = {key: entry for key, entry in self._entries.items() if now < entry.expires}


def key_of(layout: Layout, marker: Marker) -> Key:
    """What the entry at a breakpoint is found under."""
    return layout.keys[marker.segment], layout.chain(marker.segment).columns.keys[marker.block]


def found_by(
    layout: Layout, entries: Mapping[Key, Entry], now: float = 0.0
) -> tuple[Key, int] | None:
    """The highest living entry that the breakpoints of a request find, and its tokens.

    The latest breakpoint looks first: at its own block, then back position by position, all the
    blocks of a position (facts §1, Read).
    """
    for marker in reversed(layout.breakpoints):
        for segment, block, lowest in _windows(layout, marker):
            keys, tokens, positions, _ = layout.chain(segment).columns
            start = layout.keys[segment]
            while block >= 0 and positions[block] >= lowest:
                entry = entries.get((start, keys[block]))
                if entry is not None and now < entry.expires:
                    return (start, keys[block]), layout.offsets[segment] + tokens[block]
                block -= 1  # noqa: PLW2901  the window is walked down
    return None


def _windows(layout: Layout, marker: Marker) -> Iterator[tuple[int, int, int]]:
    """Where a breakpoint looks: segment, highest block, lowest position."""
    left = layout.rules.lookback_positions
    block = marker.block
    for segment in range(marker.segment, -1, -1):
        chain = layout.chain(segment)
        if segment != marker.segment:
            block = chain.length - 1
        if block < 0:
            continue
        if segment == TOOLS != marker.segment and layout.rules.lookback_into_tools != "per_tool":
            if layout.rules.lookback_into_tools == "one_position":
                yield TOOLS, block, 0
            return
        position = chain.columns.positions[block]
        yield segment, block, position - left + 1
        left -= position + 1
        if left <= 0:
            return
