"""What filled the context of sessions, for `ctxlab audit`: origin, tokens, share.

To count every block takes longer than to audit: it is done for one session that is not large, or
when asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxlab.sessions.context.contents import Share, by_origin
from ctxlab.sessions.context.pieces import pieces
from ctxlab.sessions.model import Session
from ctxlab.sessions.telling.shown import aligned, shown
from ctxlab.sessions.telling.summary import Audited

_MOST = 8
"""Origins that are shown; the others are one line."""
_WIDEST = 44
SMALL = 32 << 20
"""Bytes of a session that is counted without being asked to."""


def is_small(session: Session) -> bool:
    """Whether counting takes no longer than people wait."""
    try:
        return sum(path.stat().st_size for path in session.paths) <= SMALL
    except OSError:
        return True


def shares(each: Audited) -> list[Share]:
    """Where the tokens of a session came from, the largest first; empty where nobody recorded it.

    The size of an unrecorded head is inferred. Tokens are o200k estimates, every block once.
    """
    return by_origin(pieces(each.session), each.rows, headless=each.session.kind == "claude-code")


def added(found: Iterable[Sequence[Share]]) -> list[Share]:
    """The shares of several sessions by origin and tool, the largest first."""
    sums: dict[tuple[str, str], Share] = {}
    for share in (share for each in found for share in each):
        before = sums.get((share.origin, share.tool), share._replace(blocks=0, tokens=0))
        blocks, size = before.blocks + share.blocks, before.tokens + share.tokens
        sums[share.origin, share.tool] = share._replace(blocks=blocks, tokens=size)
    return sorted(sums.values(), key=lambda share: (-share.tokens, share.origin, share.tool))


def as_lines(found: Sequence[Share]) -> Iterator[str]:
    """A heading and a line an origin; nothing where there is none."""
    if not found:
        return
    whole = sum(share.tokens for share in found)
    rows = [["filled by", "blocks", "tokens", "share"]]
    rows += [_row(_name(share), share.blocks, share.tokens, whole) for share in found[:_MOST]]
    rest = found[_MOST:]
    if rest:
        sums = sum(share.blocks for share in rest), sum(share.tokens for share in rest)
        rows.append(_row(f"… {len(rest):,} more; --json tells of all", *sums, whole))
    yield "context, every block once (o200k estimate):"
    yield from aligned(rows)


def as_json(found: Sequence[Share]) -> list[dict[str, Any]]:
    """The same for a script."""
    whole = sum(share.tokens for share in found)
    return [{**share._asdict(), "share": share.tokens / whole if whole else 0.0} for share in found]


def _row(name: str, blocks: int, tokens: int, whole: int) -> list[str]:
    return [name, f"{blocks:,}", f"{tokens:,}", f"{tokens / whole if whole else 0:.0%}"]


def _name(share: Share) -> str:
    told = f"{share.origin}: {share.tool}" if share.tool else share.origin
    return shown(told, _WIDEST) + (" (inferred)" if share.inferred else "")
