"""Whether another process sees what this one sees: results, commit, source, lock, Python."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from ctxlab import project
from ctxlab.workbench import stores
from ctxlab.workbench.environment import git, lock_sha256
from ctxlab.workbench.identity import source_sha256
from ctxlab.workbench.stores import Store


@dataclass(frozen=True)
class Same:
    """What must be the same wherever runs of one batch are made."""

    python: str | None
    commit: str | None
    source: str | None
    lock: str | None
    results: str | None
    """The content of the probe: a file that stands in the results while the batch runs."""


_WORDS = {
    "results": "does not see the results of this batch",
    "python": "runs Python {seen}, not {here}",
    "commit": "has commit {seen}, not {here}",
    "source": "has another source of ctxlab: {seen}, not {here}",
    "lock": "has another requirements.lock: {seen}, not {here}",
}
_SHOWN = 12


@contextmanager
def probed(store: Store) -> Iterator[tuple[str, Same]]:
    """The name of the probe in the results, and what this process sees; it goes afterwards."""
    token = token_hex(16)
    probe = f".probe-{token}"
    store.put(probe, token)
    try:
        yield probe, seen_here(store.place, probe)
    finally:
        store.drop(probe)


def seen_here(place: str | Path, probe: str) -> Same:
    """What the process that calls it sees."""
    return Same(
        platform.python_version(),
        git(project.root()).commit,
        source_sha256(),
        lock_sha256(),
        stores.at(place).get(probe),
    )


def difference(here: Same, seen: Same | Exception) -> str:
    """How what a worker sees differs from what is seen here; empty where it does not.

    >>> here = Same("3.11.7", None, "ab", "cd", "x")
    >>> difference(here, Same("3.12.1", None, "ab", "cd", "x"))
    'runs Python 3.12.1, not 3.11.7'
    >>> difference(here, here)
    ''
    """
    if not isinstance(seen, Same):
        return f"cannot be asked: {type(seen).__name__}: {seen}"
    for name, words in _WORDS.items():
        mine, its = getattr(here, name), getattr(seen, name)
        if mine != its:
            return words.format(seen=(its or "none")[:_SHOWN], here=(mine or "none")[:_SHOWN])
    return ""
