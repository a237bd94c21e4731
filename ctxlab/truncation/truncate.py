r"""Cut a text at the boundaries of its kind.

>>> people = '[{"id": 1, "name": "one"}, {"id": 2, "name": "two"}, {"id": 3, "name": "three"}]'
>>> cut = truncate(people, 60)
>>> cut.text, cut.kind, cut.omitted
('[{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]', 'json', ((51, 79),))
>>> cut.summary
'array elements 1-2 of 3'
>>> truncate("a long line of words", 9).text
'a long'

Nothing is added: a cut is the original minus its `omitted` ranges. What is missing is told by the
notice, beside the text (source: `result-handling`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ctxlab import tokens
from ctxlab.errors import UsageError
from ctxlab.truncation.boundaries.text import paragraphs
from ctxlab.truncation.cutter import Cutter
from ctxlab.truncation.kinds import KINDS, Apart, apart
from ctxlab.truncation.measure import checked_limit, checked_unit, exceeds, largest, size
from ctxlab.truncation.pieces import Cut, Shown, Span, kept, merged

_SHARES = {"head": 1.0, "tail": 0.0, "both": 0.5}
# The longest token of o200k: 128 spaces.
_CHARS_PER_TOKEN = 128
# Levels too fine to be worth a count in the notice.
_UNCOUNTED = ("words", "characters")
_RUNS_TOLD = 4


@dataclass(frozen=True)
class Cutting:
    """How texts are cut: the arguments of `truncate`, checked.

    Raises:
        UsageError: a limit below 1, or a unit, kind or share that is none.
    """

    limit: int
    unit: str = "chars"
    kind: str = "auto"
    keep: str | float = "auto"

    def __post_init__(self) -> None:
        """Refuse what is none of the choices."""
        checked_limit(self.limit)
        checked_unit(self.unit)
        if self.kind not in ("auto", *KINDS):
            raise UsageError(f"kind must be auto or one of {', '.join(KINDS)}, not {self.kind!r}")
        keeps = ("auto", *_SHARES)
        known = self.keep in keeps if isinstance(self.keep, str) else _is_share(self.keep)
        if not known:
            told = f"{', '.join(keeps)} or the head's share from 0 to 1"
            raise UsageError(f"keep must be {told}, not {self.keep!r}")

    def share(self, kind: str) -> float:
        """The head's share of the room, for a text of this kind."""
        if self.keep == "auto":
            return _SHARES["both" if kind == "log" else "head"]
        return _SHARES[self.keep] if isinstance(self.keep, str) else self.keep


def _is_share(keep: object) -> bool:
    return isinstance(keep, int | float) and not isinstance(keep, bool) and 0 <= keep <= 1


@dataclass(frozen=True)
class Truncated:
    """What is left of a text."""

    text: str
    """The body alone, without any notice."""
    kind: str
    """The kind at whose boundaries it was cut."""
    unit: str
    """`chars` or `tokens` (o200k)."""
    omitted: tuple[Span, ...]
    """The ranges left out: half-open, in characters of the original, ascending."""
    shown: tuple[Shown, ...] = ()
    """The pieces kept, level by level; empty for a text that was left whole."""
    original: str = field(default="", repr=False, compare=False)

    @property
    def is_truncated(self) -> bool:
        """Whether anything was left out."""
        return bool(self.omitted)

    @property
    def original_size(self) -> int:
        """Size of the original in the unit; tokens are counted when this is asked."""
        return size(self.original, self.unit)

    @property
    def returned_size(self) -> int:
        """Size of the text in the unit."""
        return size(self.text, self.unit)

    @property
    def units(self) -> tuple[str, int, int]:
        """What the pieces are called, how many are kept whole, of how many.

        Of several levels the one with the most pieces counts: the rows of `{"rows": [...]}`.
        """
        counted = [level for level in self.shown if level.total and level.name not in _UNCOUNTED]
        if not counted:
            return ("texts", int(not self.omitted), 1)
        level = max(counted, key=lambda level: level.total or 0)
        return (level.name, level.whole, level.total or 0)

    @property
    def summary(self) -> str:
        """The pieces kept, in words."""
        return describe(self.shown)


def truncate(
    text: str, limit: int, unit: str = "chars", kind: str = "auto", keep: str | float = "auto"
) -> Truncated:
    """Cut `text` to at most `limit` characters or o200k tokens, at the boundaries of its kind.

    Args:
        text: Any text.
        limit: The most that is kept, in the unit; the text alone, no notice.
        unit: `chars` or `tokens`.
        kind: `auto`, `code`, `log`, `json`, `ndjson`, `csv`, `markdown`, `diff`, `search`, `plain`.
        keep: `head`, `tail`, `both`, or the head's share of the room, 0 to 1. `auto` keeps the
            head; of a log both ends, and error entries before others; of a JSON object the small
            members before the one that outweighs them all.

    Where not one piece fits, the next smaller boundary is used, down to a grapheme cluster. Where
    nothing at all fits (one emoji into 1 character, JSON into fewer than its brackets), the text
    is empty. JSON that parses still parses when it is cut.

    Raises:
        UsageError: a limit below 1, or a unit, kind or share that is none.
    """
    cutting = Cutting(limit, unit, kind, keep)
    if exceeds(text, limit, unit):
        taken = apart(text, kind, smart=keep == "auto")
        return fitted(text, cutting, taken, whole=lambda cut: cut.text)
    return Truncated(text, apart(text, kind).kind, unit, (), original=text)


def fitted(
    text: str, cutting: Cutting, taken: Apart, whole: Callable[[Truncated], str]
) -> Truncated:
    """The largest cut with which `whole(cut)`, all that is returned, stays within the limit.

    `whole` may add to the text what tells of the cut; without any text it has to fit.
    """
    limit, unit = cutting.limit, cutting.unit

    def made(cut: Cut | None) -> Truncated:
        omitted = cut.omitted if cut else ((0, len(text)),)
        shown = cut.shown if cut else ()
        return Truncated(kept(text, omitted), taken.kind, unit, omitted, shown, original=text)

    def measure(cut: Cut | None) -> int:
        if cut and not cut.omitted:  # the whole text, which is too large: there is no notice for it
            return limit + 1
        return size(whole(made(cut)), unit)

    share = cutting.share(taken.kind)
    room = _room(text, limit - measure(None), unit)
    best = largest(Cutter(text, taken.span, taken.divider, share), measure, limit, *room)
    if best is None and taken.kind == "json":  # nothing fits between the brackets or quotes
        inside = (taken.span[0] + 1, taken.span[1] - 1)
        bare = Cut(merged([(0, taken.span[0]), inside, (taken.span[1], len(text))]), 2, 2)
        return made(bare if measure(bare) <= limit else None)
    if best is None:  # the frame alone is too large: a header of 1 MB
        best = largest(Cutter(text, taken.span, paragraphs, share), measure, limit, *room)
    return made(best)


def _room(text: str, left: int, unit: str) -> tuple[int, int]:
    """The most characters that what is left of the limit can hold, and a first guess."""
    left = max(left, 1)
    if unit == "chars":
        return min(left, len(text)), left
    sample = text[: 4 * left]
    most = min(_CHARS_PER_TOKEN * left, len(text))
    return most, left * len(sample) // max(tokens.count(sample), 1)


def describe(shown: Sequence[Shown]) -> str:
    """Pieces kept, in words, without those too fine to count.

    >>> describe([Shown("array elements", ((0, 2), (4, 5)), part=2, total=9)])
    'array elements 1-2, 5 of 9, and part of 3'
    >>> describe([Shown("characters", ((0, 9),), part=None, total=None)])
    'part of one line'
    """
    parts: list[str] = []
    for level in shown:
        if level.name in _UNCOUNTED or level.total is None:
            break
        if level.runs:
            part = f", and part of {level.part + 1:,}" if level.part is not None else ""
            parts.append(f"{level.name} {_told(level.runs)} of {level.total:,}{part}")
        elif level.part is not None:
            parts.append(f"{level.name}: part of {level.part + 1:,} of {level.total:,}")
        else:
            parts.append(f"{level.name} 0 of {level.total:,}")
    return "; in it ".join(parts) or "part of one line"


def _told(runs: Sequence[Span]) -> str:
    told = [f"{a + 1:,}-{b:,}" if b - a > 1 else f"{b:,}" for a, b in runs]
    if len(told) <= _RUNS_TOLD:
        return ", ".join(told)
    return f"{', '.join(told[: _RUNS_TOLD - 1])} and {len(told) - _RUNS_TOLD + 1} more runs"
