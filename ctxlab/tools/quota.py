"""Who gets how many rows when more was found than is shown.

>>> largest_remainder({"a.py": 500, "b.py": 300, "c.py": 150, "d.py": 50, "e.py": 10}, 200)
{'a.py': 99, 'b.py': 59, 'c.py': 30, 'd.py': 10, 'e.py': 2}

The method is `tool-design` §4; unlike the document's own code, the sum here never exceeds the cap.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from ctxlab.errors import UsageError


def largest_remainder(counts: Mapping[str, int], cap: int) -> dict[str, int]:
    """Rows to show of each path, from its matches: in proportion, at least one for each.

    The sum is `min(sum of counts, cap)`. When more paths have matches than there are rows, those
    with the most matches get one each, the others 0. Ties go by path: the order of `counts` is
    that of the answer, and says nothing else.

    >>> largest_remainder({"a": 50, "b": 3, "c": 1, "d": 1}, 10)
    {'a': 7, 'b': 1, 'c': 1, 'd': 1}

    Raises:
        UsageError: a negative count or cap.
    """
    if cap < 0 or any(count < 0 for count in counts.values()):
        raise UsageError("counts and cap must be 0 or more")
    total = sum(counts.values())
    if total <= cap:
        return dict(counts)
    found = [path for path, count in counts.items() if count]
    if len(found) > cap:
        kept = set(heapq.nsmallest(cap, found, key=lambda path: (-counts[path], path)))
        return {path: int(path in kept) for path in counts}
    shares = {path: divmod(count * cap, total) for path, count in counts.items()}
    rows = {path: whole for path, (whole, _) in shares.items()}
    by_remainder = sorted(found, key=lambda path: (-shares[path][1], -counts[path], path))
    for path in by_remainder[: cap - sum(rows.values())]:
        rows[path] += 1
    for path in found:
        rows[path] = max(rows[path], 1)
    return _taken_back(rows, {path: rest for path, (_, rest) in shares.items()}, cap)


def _taken_back(rows: dict[str, int], remainders: dict[str, int], cap: int) -> dict[str, int]:
    """What the guaranteed rows took too much, from the largest, smallest remainder first."""
    over = sum(rows.values()) - cap
    # Equal in both: the last path gives first.
    last_first = enumerate(sorted(rows, reverse=True))
    heap = [(-rows[path], remainders[path], place, path) for place, path in last_first]
    heapq.heapify(heap)
    for _ in range(over):
        count, rest, place, path = heap[0]
        rows[path] -= 1
        heapq.heapreplace(heap, (count + 1, rest, place, path))
    return rows
