"""Where the tokens of a context come from: system, tools, results of each tool, assistant, user.

Counts are o200k estimates. The documents' own figures stand beside these in the notebook.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxlab.sessions.auditing.audit import AuditedRequest, audited
from ctxlab.sessions.context.pieces import Piece, pieces
from ctxlab.sessions.model import Session, check_session

if TYPE_CHECKING:
    import pandas as pd

HEAD = "system + tools"
"""The head of a context whose bodies were not recorded."""


class Share(NamedTuple):
    """What came from one origin."""

    origin: str
    """system, tools, tool results, assistant, user; `system + tools` where only the sum is known.
    """
    tool: str
    """Of tool results: whose."""
    blocks: int
    tokens: int
    inferred: bool
    """Not counted: the first request's input less what its blocks explain."""


def context_by_origin(
    session: Session, rows: Sequence[AuditedRequest] | None = None
) -> pd.DataFrame:
    """The context of a session by origin.

    Args:
        session: a transcript, or a log with bodies.
        rows: what `audited` says of it, where that is at hand.

    Returns:
        A row an origin, and a tool for tool results, the largest first: `origin`, `tool`, `blocks`,
        `tokens` (o200k estimate, every block once), `share` (of all tokens, 0 to 1), `inferred`.
        No rows where neither bodies nor blocks were recorded.
    """
    import pandas as pd  # noqa: PLC0415  1.3 s that the command's text does not need

    check_session(session)
    told = audited(session) if rows is None else rows
    shares = by_origin(pieces(session), told, headless=session.kind == "claude-code")
    whole = sum(share.tokens for share in shares)
    frame = pd.DataFrame(shares, columns=list(Share._fields))
    frame.insert(4, "share", [share.tokens / whole if whole else 0.0 for share in shares])
    return frame.astype({"blocks": "int64", "tokens": "int64", "inferred": "bool"})


def by_origin(
    found: Iterable[Piece], rows: Sequence[AuditedRequest], *, headless: bool
) -> list[Share]:
    """Blocks added up by origin, the largest first.

    Args:
        found: the blocks.
        rows: the requests that carried them, in the order of time.
        headless: whether the head was not recorded and is to be inferred.
    """
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    explained: dict[int, int] = defaultdict(int)
    for piece in found:
        size = piece.tokens
        entry = sums[piece.origin, piece.tool if piece.origin == "tool results" else ""]
        entry[0] += 1
        entry[1] += size
        explained[piece.request] += size
    shares = [
        Share(origin, tool, blocks, size, inferred=False)
        for (origin, tool), (blocks, size) in sums.items()
    ]
    if sums and headless:
        shares += _heads(rows, explained)
    return sorted(shares, key=lambda share: (-share.tokens, share.origin, share.tool))


def input_per_output(rows: Iterable[AuditedRequest]) -> float:
    """Tokens that went in, cached or not, for each that came out; NaN where none came out."""
    counts = [row.counts for row in rows if row.counts]
    out = sum(each.output for each in counts)
    return sum(each.total for each in counts) / out if out else math.nan


def _heads(rows: Sequence[AuditedRequest], explained: dict[int, int]) -> Iterator[Share]:
    """What the first request of each stream sent beyond its blocks."""
    streams: set[str] = set()
    sizes = []
    for number, row in enumerate(rows):
        if row.stream in streams or row.counts is None:
            continue
        streams.add(row.stream)
        if not row.exchange.follows:
            sizes.append(max(0, row.counts.total - explained[number]))
    if sizes:
        yield Share(HEAD, "", len(sizes), sum(sizes), inferred=True)
