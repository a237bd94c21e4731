"""Transcript files joined to sessions: who belongs to whom, and what was told before.

A session is a main file and the files of its agents. Resumed and forked sessions begin with a copy
of the old rows: a request counts once over everything that is read together, in the file that it
belongs to most: one whose session its rows name, a main file before an agent's, the one that ended
first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ctxlab.cache.simulator import SIMULATED
from ctxlab.sessions.model import Exchange, Line, Session, Skipped
from ctxlab.sessions.reading.found import Compaction, Found, Part, Side, merged, requests
from ctxlab.sessions.reading.owners import folder_of
from ctxlab.sessions.reading.transcripts import Sidechains

COPIED = "already counted in another file (a resumed or forked session)"
_NEVER = float("inf")

Key = tuple[str, str]
Rank = tuple[bool, bool, float, int]


@dataclass
class Transcript:
    """One file and what was found in it."""

    path: Path
    session: str
    agent: str
    part: Part


@dataclass
class Request:
    """A request of a session, before its stream has its last name."""

    found: Found
    path: Path
    base: str
    compacted: bool
    order: float = 0.0


@dataclass(frozen=True)
class _Tree:
    """What all files together tell."""

    files: list[Transcript]
    request_ids: dict[str, str]
    """Message id → a request id that some row tells of it: rows without one mean that one."""
    homes: dict[Key, int]
    """For each request the file that it counts in."""
    whole: dict[Key, Found]
    """For each request what all its rows say."""

    def key(self, found: Found) -> Key:
        return _key(found, self.request_ids)


def sessions(files: list[Transcript]) -> list[Session]:
    """Every session of these files, in the order of folder and name."""
    request_ids = _request_ids(files)
    tree = _Tree(files, request_ids, *_homes(files, request_ids))
    groups: dict[tuple[Path, str], list[int]] = {}
    for index, file in enumerate(files):
        groups.setdefault((folder_of(file.path), file.session), []).append(index)
    for members in groups.values():
        members.sort(key=lambda index: (bool(files[index].agent), index))
    return [_session(name, members, tree) for (_, name), members in sorted(groups.items())]


def _request_ids(files: Iterable[Transcript]) -> dict[str, str]:
    known: dict[str, str] = {}
    for file in files:
        for found in requests(file.part.items):
            if found.id and found.request_id:
                known[found.id] = min(known.get(found.id, found.request_id), found.request_id)
    return known


def _key(found: Found, request_ids: dict[str, str]) -> Key:
    return found.id, found.request_id or request_ids.get(found.id, "")


def _homes(
    files: list[Transcript], request_ids: dict[str, str]
) -> tuple[dict[Key, int], dict[Key, Found]]:
    homes: dict[Key, tuple[Rank, int]] = {}
    whole: dict[Key, Found] = {}
    for index, file in enumerate(files):
        times = [each.time for each in requests(file.part.items) if each.time is not None]
        ended = max(times, default=_NEVER)
        for found in requests(file.part.items):
            key = _key(found, request_ids)
            rank = (found.foreign, bool(file.agent), ended, index)
            if key not in homes or rank < homes[key][0]:
                homes[key] = rank, index
            before = whole.get(key)
            whole[key] = found if before is None else merged(before, found._replace(places=()))
    return {key: index for key, (_, index) in homes.items()}, whole


def _session(name: str, members: list[int], tree: _Tree) -> Session:
    found: list[Request] = []
    skipped: list[Skipped] = []
    for index in members:
        file = tree.files[index]
        mine, copied = _requests(index, tree)
        found += mine
        skipped += told(file.path, file.part)
        if copied:
            skipped.append(Skipped(COPIED, len(copied), f"{file.path}:{min(copied)}"))
    paths = tuple(tree.files[index].path for index in members)
    return Session(name, "claude-code", paths, exchanges(found), gathered(skipped))


def _requests(index: int, tree: _Tree) -> tuple[list[Request], list[int]]:
    """The requests that count in this file, and the lines of those that do not."""
    file, sides = tree.files[index], Sidechains()
    own: dict[Key, Request] = {}
    compacted: set[str] = set()
    copied: list[int] = []
    for item in file.part.items:
        if isinstance(item, Side):
            sides.add(item.uuid, item.parent)
            continue
        base = sides.name(item.base, item.side)
        if isinstance(item, Compaction):
            compacted.add(base)
            continue
        key = tree.key(item)
        if tree.homes[key] != index:
            copied += [number for number, _, _ in item.places]
        elif key in own:  # its rows stand in two parts of the file
            before = own[key].found
            own[key].found = before._replace(places=before.places + item.places)
            continue
        else:
            whole = tree.whole[key]
            whole = whole if whole is item else whole._replace(places=item.places)
            own[key] = Request(whole, file.path, base, base in compacted)
        compacted.discard(base)
    return list(own.values()), copied


def exchanges(found: list[Request]) -> tuple[Exchange, ...]:
    """In the order of time; a clock that went back does not turn a stream around."""
    latest: dict[str, float] = {}
    for each in found:
        time = each.found.time
        before = latest.get(each.base, float("-inf"))
        each.order = latest[each.base] = before if time is None else max(before, time)
    found.sort(key=lambda each: each.order)
    return tuple(_named(found))


def _named(found: list[Request]) -> Iterable[Exchange]:
    """Streams by agent and model; the first request of a model carries another's stream on."""
    models: dict[str, set[str]] = {}
    for each in found:
        models.setdefault(each.base, set()).add(each.found.model)
    last: dict[str, str] = {}
    seen: set[str] = set()
    for each in found:
        several = len(models[each.base]) > 1
        stream = f"{each.base}/{each.found.model}" if several else each.base
        follows = last.get(each.base, "") if stream not in seen else ""
        last[each.base] = stream
        seen.add(stream)
        yield _exchange(each, stream, follows)


def _exchange(each: Request, stream: str, follows: str) -> Exchange:
    found = each.found
    made = Exchange(
        time=found.time,
        model=found.model,
        usage=found.usage,
        stream=stream,
        message_id=found.id,
        request_id=found.request_id,
        follows=follows,
        compacted=each.compacted,
        lines=tuple([Line(each.path, offset, length) for _, offset, length in found.places]),
    )
    made = replace(made, **found.details) if found.details else made
    # Whoever recorded it: a forwarder does not know who answered.
    return replace(made, simulated=True) if found.id.startswith(SIMULATED) else made


def told(path: Path, part: Part) -> list[Skipped]:
    """What a file's scan counted."""
    found = [
        Skipped(reason, count, f"{path}:{first}")
        for reason, (count, first) in part.tally.reasons.items()
    ]
    return [*found, Skipped(part.failed, 1, str(path))] if part.failed else found


def gathered(skipped: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """Each reason once, the most frequent one first, with the first place of all."""
    sums: dict[str, Skipped] = {}
    for each in skipped:
        before = sums.get(each.reason)
        count = each.count + (before.count if before else 0)
        sums[each.reason] = replace(before or each, count=count)
    return tuple(sorted(sums.values(), key=lambda each: (-each.count, each.reason)))
