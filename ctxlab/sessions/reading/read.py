"""Recorded sessions read: Claude Code transcripts, request logs, usage records.

The files are recognised by their content, scanned part by part (`scanning`) and joined to sessions:
transcripts over all files together (`joining`), request logs file by file (`conversations`). What
stays in memory is a small row a request and where its lines stand. Every row that does not count is
counted, with its reason and the first place (`Session.skipped`). Formats: facts `prompt-cache` §1
for usage; transcripts and command lines as agents write them.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxlab.sessions.model import Session, Skipped
from ctxlab.sessions.reading import results
from ctxlab.sessions.reading.conversations import Conversations
from ctxlab.sessions.reading.elsewhere import COPIED, Elsewhere
from ctxlab.sessions.reading.finding import Source, sources
from ctxlab.sessions.reading.found import Part, Tally, joined, requests
from ctxlab.sessions.reading.joining import Request, Transcript, exchanges, gathered, sessions, told
from ctxlab.sessions.reading.requests import REPEATED
from ctxlab.sessions.reading.scanning import Task, Told, scanned, tasks

_SHOWN_AFTER = 0.5  # seconds: what is read at once needs no bar


def read_sessions(
    path: str | Path, *, progress: bool | Told = True, processes: int | None = None
) -> list[Session]:
    """Read every recorded session at a path, a file or a tree of them.

    Args:
        path: a transcript (its agents' files are read along), a request log, a usage record, or a
            folder; links to folders are not followed. It may begin with `~`.
        progress: True shows a bar on stderr where that is a terminal; a callable is called with
            the bytes that are read and the bytes that there are.
        processes: how many to use for a large input; None takes the machine's cores.

    Returns:
        Sessions in the order of their paths. A request counts once over all transcripts, and once
        over all request logs (a forwarder's and its upstream's, say); one that stands in a
        transcript and in a request log counts in both.

    Raises:
        InputError: nothing is there, or nothing that is a recorded session.
    """
    with _uncollected(), _shown(progress=progress) as tell:
        found = sources(path)
        return _read(found, _scanned(found, processes or os.cpu_count() or 1, tell))


def _read(found: list[Source], parts: list[Part]) -> list[Session]:
    """The sessions of the sources, from what was found in each."""
    transcripts = [
        Transcript(source.path, source.owner, source.agent, part)
        for source, part in zip(found, parts, strict=True)
        if source.kind == "claude-code"
    ]
    made = sessions(transcripts)
    elsewhere = Elsewhere()
    for source, part in zip(found, parts, strict=True):
        if source.kind == "requests":
            made.append(_log(source, part, elsewhere))
        elif source.kind == "usage":
            made += _records(source)
    return sorted(made, key=lambda each: each.paths)


def _scanned(found: list[Source], processes: int, tell: Told) -> list[Part]:
    """What was found in each source; usage records are read later, they are small."""
    work: list[Task] = []
    owners: list[int] = []
    for index, source in enumerate(found):
        if source.kind != "usage" and not source.problem:
            cut = tasks(source.path, source.kind, source.size, source.owner, source.agent)
            work += cut
            owners += [index] * len(cut)
    sizes = [
        min(task.end, found[owner].size) - task.start
        for task, owner in zip(work, owners, strict=True)
    ]
    parts = scanned(work, processes, sizes, tell)
    of_source: list[list[Part]] = [[] for _ in found]
    for owner, part in zip(owners, parts, strict=True):
        of_source[owner].append(part)
    return [
        joined([*mine, Part(failed=source.problem)])
        for source, mine in zip(found, of_source, strict=True)
    ]


def _log(source: Source, part: Part, elsewhere: Elsewhere) -> Session:
    talks, tally = Conversations(), Tally()
    seen: set[tuple[str, str, float | None]] = set()
    kept: list[Request] = []
    for found in requests(part.items):
        key = (found.id, found.request_id, found.time)
        if found.id and key in seen:
            tally.add(REPEATED, found.places[0][0])
            continue
        if elsewhere.has(found):
            tally.add(COPIED, found.places[0][0])
            continue
        seen.add(key)
        stream = found.base or (talks.name(found.talk) if found.talk else "main")
        kept.append(Request(found, source.path, stream, compacted=False))
    elsewhere.add(each.found for each in kept)
    part.tally.join(tally)
    skipped = gathered(told(source.path, part))
    return Session(source.path.stem, "requests", (source.path,), exchanges(kept), skipped)


def _records(source: Source) -> list[Session]:
    try:
        return results.read(source)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        skipped = (Skipped(reason, 1, str(source.path)),)
        return [Session(source.path.stem, "usage", (source.path,), (), skipped)]


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage collection: rows have no cycles, and to walk what is kept takes half the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def _shown(*, progress: bool | Told) -> Iterator[Told]:
    """What to call with the bytes that are done."""
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from tqdm import tqdm  # noqa: PLC0415  only a terminal needs it

    with tqdm(unit="B", unit_scale=True, leave=False, delay=_SHOWN_AFTER) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield tell
