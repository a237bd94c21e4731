r"""One folder that tools may read, and no way out of it.

A path is walked name by name from the root's own descriptor, never following a symlink in the
kernel: links are read and walked by the same rules. So what is judged is what is opened, and a
link that is swapped in between changes nothing. Hard links are files of the folder like any other.

Names that cannot stand in a line of text (control characters, bytes that are not UTF-8) are shown
with escapes, and found again by what was shown:

>>> shown("two\nlines\udce9.txt")
'two\\nlines\\xe9.txt'
>>> escaped_name("two\\nlines\\xe9.txt") == "two\nlines\udce9.txt"
True
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ctxlab.errors import InputError, UsageError

MAX_LINKS = 40
MAX_PATH = 4096
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO must not hold us until a writer comes.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([nrt\\]))")
_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\\": "\\"}
# Cc control, Cf invisible and direction-changing, Cs not UTF-8, Zl Zp line ends of Unicode.
_UNSHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True)
class Opened:
    """A regular file of the workspace, open for reading."""

    fd: int
    path: str
    """From the root, links resolved, as the system spells it (`shown` is for people)."""
    size: int
    """Bytes when it was opened: a file that grows while it is read is read up to here."""


class Workspace:
    """The files below one root. Every method takes paths as a model writes them.

    Raises:
        InputError: the root is not a directory.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise InputError("is not a directory; a workspace needs one", path=root)
        given = Path(os.path.abspath(root))  # noqa: PTH100  absolute() would keep `..`
        self._roots = {self.root.parts, given.parts}

    @contextmanager
    def open(self, path: str) -> Iterator[Opened]:
        """The regular file at `path`, relative to the root or absolute inside it.

        Raises:
            UsageError: outside, missing, not a regular file, not readable: a line for the model.
        """
        fd, names = self._found(path)
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                raise _refused(path, f"is {_kind(info.st_mode)}, not a file")
            yield Opened(fd, "/".join(names), info.st_size)
        finally:
            os.close(fd)

    def is_dir(self, path: str) -> bool:
        """Whether a directory of the workspace is there."""
        return self._mode(path) == stat.S_IFDIR

    def is_file(self, path: str) -> bool:
        """Whether a regular file of the workspace is there."""
        return self._mode(path) == stat.S_IFREG

    def relative(self, path: str) -> str | None:
        """An absolute path as seen from the root, `None` for one that is not below it."""
        parts = Path(path).parts
        for root in self._roots:
            if parts[: len(root)] == root:
                return "/".join(parts[len(root) :]) or "."
        return None

    def _mode(self, path: str) -> int:
        try:
            fd, _ = self._found(path)
        except UsageError:
            return 0
        try:
            return stat.S_IFMT(os.fstat(fd).st_mode)
        finally:
            os.close(fd)

    def _found(self, path: str) -> tuple[int, list[str]]:
        """The descriptor at `path`; a name that was shown with escapes is found by them too."""
        unescaped = escaped_name(path)
        try:
            return self._walked(path)
        except UsageError as first:
            if unescaped == path:
                raise
            try:
                return self._walked(unescaped)
            except UsageError:
                raise first from None

    def _walked(self, path: str) -> tuple[int, list[str]]:
        if not path or "\0" in path:
            raise _refused(path, "is no path; give one such as 'src/app.py'")
        try:
            if len(os.fsencode(path)) > MAX_PATH:
                raise _refused(path, f"is longer than a path can be ({MAX_PATH:,} bytes)")
            with _Walk(self) as walk:
                return walk.to(path)
        except (OSError, UnicodeEncodeError) as error:
            raise _refused(path, _reason(error)) from error


class _Walk:
    """A descriptor that goes from the root towards a path; closed unless it arrives."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._links = 0
        self._fd = -1
        self._names: list[str] = []

    def __enter__(self) -> Self:
        self._restart()
        return self

    def __exit__(self, *_: object) -> None:
        self._move(-1)

    def to(self, path: str) -> tuple[int, list[str]]:
        ahead = deque(self._parts(path, path))
        while ahead:
            name = ahead.popleft()
            if name == "..":
                self._up(path)
            elif not ((ahead and self._enter(name)) or self._step(name, path)):
                self._follow(name, path, ahead)
        fd, self._fd = self._fd, -1
        return fd, self._names

    def _parts(self, target: str, path: str) -> list[str]:
        if target.startswith("/"):
            inside = self._workspace.relative(target)
            if inside is None:
                raise _outside(path)
            target = inside
            self._restart()
        return [part for part in target.split("/") if part not in ("", ".")]

    def _enter(self, name: str) -> bool:
        """Go into the folder `name`; False where it is none, or a link."""
        try:
            self._move(os.open(name, _DIRECTORY, dir_fd=self._fd))
        except OSError:  # `_step` finds out why
            return False
        self._names.append(name)
        return True

    def _step(self, name: str, path: str) -> bool:
        """Go to `name`; False where it is a link."""
        mode = os.stat(name, dir_fd=self._fd, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            return False
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):  # opening a device may already act
            raise _refused(path, f"is {_kind(mode)}, not a file")
        fd = os.open(name, _DIRECTORY if stat.S_ISDIR(mode) else _FILE, dir_fd=self._fd)
        self._move(fd)
        self._names.append(name)
        return True

    def _follow(self, name: str, path: str, ahead: deque[str]) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise _refused(path, "goes through too many symbolic links, or in a circle")
        target = os.readlink(name, dir_fd=self._fd)
        ahead.extendleft(reversed(self._parts(target, path)))

    def _up(self, path: str) -> None:
        if not self._names:
            raise _outside(path)
        names = self._names[:-1]
        self._restart()
        for name in names:
            if not self._step(name, path):
                raise _refused(path, "changed while it was opened; try again")

    def _restart(self) -> None:
        self._move(os.open(self._workspace.root, _DIRECTORY))
        self._names = []

    def _move(self, fd: int) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = fd


def shown(path: str) -> str:
    r"""A path as a line of text: as it is, or with `\n`, `\xNN` (a byte), `\uNNNN` and `\\`."""
    if path.isprintable():
        return path
    if not any(unicodedata.category(char) in _UNSHOWN for char in path):
        return path
    return "".join(_shown(char) for char in path)


def _shown(char: str) -> str:
    code = ord(char)
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}"
    if unicodedata.category(char) not in _UNSHOWN:
        return char
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004  a byte that is not UTF-8, as Python smuggles it
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:  # noqa: PLR2004
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


def escaped_name(text: str) -> str:
    """The name behind a text that `shown` gave; a text without its escapes is the name."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    byte, short, long, letter = match.groups()
    if letter:
        return next(char for char, said in _LETTERS.items() if said == letter)
    if byte:
        code = int(byte, 16)
        return chr(code if code < 0x80 else 0xDC00 + code)  # noqa: PLR2004
    code = int(short or long, 16)
    return chr(code) if code <= 0x10FFFF else match[0]  # noqa: PLR2004


def quoted(path: str, longest: int = 200) -> str:
    """A path in an answer: shown, in quotes, cut where it is absurdly long."""
    text = shown(path)
    return f"'{text}'" if len(text) <= longest else f"'{text[:longest]}…'"


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def _refused(path: str, why: str) -> UsageError:
    return UsageError(f"{quoted(path)} {why}")


def _outside(path: str) -> UsageError:
    return _refused(path, "is outside the workspace; paths are relative to its root")


def _reason(error: OSError | UnicodeEncodeError) -> str:
    if isinstance(error, UnicodeEncodeError) or error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
        return "does not exist in the workspace"
    if error.errno == errno.ENOTDIR:
        return "does not exist: a part of it is a file, not a directory"
    if error.errno in (errno.ELOOP, errno.EMLINK):  # it became a link between stat and open
        return "changed while it was opened; try again"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "cannot be read: permission denied"
    return f"cannot be read: {os.strerror(error.errno or 0)}"
