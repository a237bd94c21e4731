"""Files of recorded sessions, told by what stands in them: the name only says where to look."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ctxlab.errors import InputError
from ctxlab.sessions.model import Kind
from ctxlab.sessions.reading.lines import Row, rows
from ctxlab.sessions.reading.owners import agent_of, session_of

SUFFIXES = (".jsonl", ".ndjson", ".json", ".log")
WANTED = (
    "a Claude Code transcript, a log of Messages API requests (one JSON object a line), or what an "
    "agent prints with --output-format json"
)
_LOOKED_AT = 4 << 20  # bytes of a file's beginning in which a row must be recognised
_DOCUMENT = 128 << 20  # JSON over several lines is read whole, up to this size
_HEAD = 4096
_STREAMED = ("system", "assistant", "user", "result", "stream_event")


class Source(NamedTuple):
    """A file that was recognised."""

    path: Path
    kind: Kind
    size: int
    session: str = ""
    """The session that its first row names."""
    document: bool = False
    """One JSON value over the whole file, instead of one a line."""
    problem: str = ""
    """Why it could not be read."""

    @property
    def agent(self) -> str:
        """The agent whose transcript it is; empty for a main file."""
        return agent_of(self.path)

    @property
    def owner(self) -> str:
        """The session that a transcript belongs to."""
        return session_of(self.path, self.session)


def sources(path: str | Path) -> list[Source]:
    """Every file of a recorded session at a path, in the order of their names.

    Of a transcript the files of its agents belong to it.

    Raises:
        InputError: there is nothing, or nothing of the three kinds.
    """
    path = Path(path).expanduser()
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{_why(error)}; give {WANTED}, or a folder of them", path=path) from error
    if stat.S_ISDIR(mode):
        return _of_folder(path)
    if not stat.S_ISREG(mode):
        raise InputError(f"neither a file nor a folder; give {WANTED}", path=path)
    try:
        source = recognise(path)
    except OSError as error:
        raise InputError(f"cannot be read: {_why(error)}; give {WANTED}", path=path) from error
    if source is None:
        raise InputError(f"{_told(path)}; give {WANTED}", path=path)
    return sorted([source, *_agents(source)])


def recognise(path: Path) -> Source | None:
    """Which of the three kinds a file is; None for another.

    Raises:
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if b"\0" in head and head[:1] not in (b"{", b"["):
        return None
    broken = False
    for row in rows(path, 0, _LOOKED_AT):
        kind = kind_of(row.value)
        if kind is not None:
            return Source(path, kind, size, _session(row))
        broken = broken or bool(row.problem)
        if isinstance(row.value, list) and row.offset + row.length >= size:
            break
    document = _document(path, size) if broken or head.lstrip()[:1] == b"[" else None
    return None if document is None else Source(path, document, size, document=True)


def kind_of(value: Any) -> Kind | None:
    """The kind of log that one row shows; None where it could stand in any."""
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    if isinstance(kind, str) and ("sessionId" in value or "leafUuid" in value):
        return "claude-code"
    if kind in ("user", "assistant") and "uuid" in value and "session_id" not in value:
        return "claude-code"
    if kind in _STREAMED and ("session_id" in value or is_result(value)):
        return "usage"
    return "requests" if is_exchange(value) else None


def is_result(value: Any) -> bool:
    """Whether it is the entry with which an agent's command line ends its answer."""
    return (
        isinstance(value, dict)
        and value.get("type") == "result"
        and any(key in value for key in ("usage", "modelUsage", "total_cost_usd"))
    )


def is_exchange(value: dict[str, Any]) -> bool:
    """Whether it is a request body, or a record of a request or of its answer."""
    if isinstance(value.get("request"), dict):
        return True
    response = value.get("response")
    answer = response if isinstance(response, dict) else value
    named = isinstance(value.get("model"), str) or isinstance(answer.get("model"), str)
    asks = isinstance(value.get("messages"), list) or "input" in value
    return named and (asks or isinstance(answer.get("usage"), dict))


def _document(path: Path, size: int) -> Kind | None:
    if size > _DOCUMENT:
        return None
    try:
        value = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    if isinstance(value, list):
        return "usage" if any(kind_of(each) == "usage" for each in value) else None
    return kind_of(value)


def _of_folder(folder: Path) -> list[Source]:
    found: list[Source] = []
    looked = 0
    for path in _walk(folder):
        looked += 1
        try:
            source = recognise(path)
        except OSError as error:
            source = Source(path, "claude-code", 0, problem=f"cannot be read: {_why(error)}")
        if source is not None:
            found.append(source)
    if not any(not source.problem for source in found):
        told = found[0].problem if found else f"none of its {looked:,} files is a recorded session"
        raise InputError(f"{told}; give {WANTED}, or a folder of them", path=folder)
    return sorted(found)


def _walk(folder: Path) -> Iterator[Path]:
    """Regular files, each once; links to folders are not followed, so that there is no loop."""
    seen: set[tuple[int, int]] = set()
    for where, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(where, name)
            if path.suffix.lower() not in SUFFIXES:
                continue
            try:
                told = path.stat()
            except OSError:  # a link to nothing, or a loop of links
                continue
            if stat.S_ISREG(told.st_mode) and (told.st_dev, told.st_ino) not in seen:
                seen.add((told.st_dev, told.st_ino))
                yield path


def _agents(main: Source) -> list[Source]:
    """The agents of one transcript: in its own folder, or beside it in older versions."""
    if main.kind != "claude-code" or main.agent:
        return []
    own = main.path.with_suffix("")
    paths = list(_walk(own)) if own.is_dir() else []
    paths += sorted(main.path.parent.glob("agent-*.jsonl"))
    found = []
    for path in paths:
        try:
            source = recognise(path)
        except OSError as error:
            source = Source(path, "claude-code", 0, main.path.stem, problem=_why(error))
        if source is None or source.kind != "claude-code":
            continue
        if path.parent != main.path.parent or source.session == main.path.stem:
            found.append(source)
    return found


def _session(row: Row) -> str:
    for key in ("sessionId", "session_id"):
        name = row.value.get(key)
        if isinstance(name, str):
            return name
    return ""


def _told(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        return "an empty file"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "text in UTF-16: save it as UTF-8"
    if b"\0" in head:
        return "a binary file"
    return "no recorded session: no row of it is known"


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
