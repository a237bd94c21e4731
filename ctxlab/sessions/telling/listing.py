"""Many sessions, a line each, and what to type to see one of them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxlab.sessions.model import Session
from ctxlab.sessions.telling.shown import aligned, columns_of, padded, shown, shown_end
from ctxlab.sessions.telling.summary import Audited, dearest_first
from ctxlab.sessions.telling.words import money

_MOST = 20
"""Sessions that are shown; the others are in the JSON."""
_GAP = 2


def listed(found: Sequence[Audited], root: Path | None, width: int) -> Iterator[str]:
    """What lost most first, each with its file; a name that is too long stands on its own line.

    Args:
        found: the sessions.
        root: what was audited: names are paths below it.
        width: columns of the widest line.
    """
    ranked = dearest_first(found)
    names = _names([each.session for each in ranked], root)
    beside = aligned([_HEAD, *map(_numbers, ranked[:_MOST])])
    room = width - _GAP - max(map(columns_of, beside))
    short = [columns_of(name) for name in names[:_MOST] if columns_of(name) <= room]
    column = max([len("session"), *short])
    yield f"{padded('session', column)}{' ' * _GAP}{beside[0]}"
    for name, numbers in zip(names, beside[1:], strict=False):
        if columns_of(name) > room:
            yield shown_end(name, width)
            name = ""  # noqa: PLW2901  it has its own line
        yield f"{padded(name, column)}{' ' * _GAP}{numbers}"
    if len(ranked) > _MOST:
        yield f"… and {len(ranked) - _MOST:,} more; --json tells of all"
    first = ranked[0].session.paths
    if first:
        yield "The requests of one session, such as the first:"
        yield f"ctxlab audit {shown(shlex.quote(str(first[0])), _LONGEST)}"


_HEAD = ["worst cause", "requests", "breaks", "USD", "USD lost"]
_LONGEST = 4_000


def _numbers(each: Audited) -> list[str]:
    told = each.summary
    return [
        next(iter(told.breaks), ""),
        f"{told.requests:,}",
        f"{told.broken:,}",
        money(told.usd, told.unpriced),
        money(told.usd_lost, told.unpriced_breaks),
    ]


def _names(sessions: Sequence[Session], root: Path | None) -> list[str]:
    """Each session's file, and its id where a file holds several."""
    paths = [_below(each, root) for each in sessions]
    held = Counter(paths)
    told = [
        f"{path} {each.id}" if held[path] > 1 else path
        for path, each in zip(paths, sessions, strict=True)
    ]
    return [shown(name, _LONGEST) for name in told]


def _below(session: Session, root: Path | None) -> str:
    if not session.paths:
        return session.id
    path = session.paths[0]
    if root is not None and root != path and path.is_relative_to(root):
        return str(path.relative_to(root))
    return path.name if root == path else str(path)
