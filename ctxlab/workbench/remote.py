"""Results at a URL: s3://…, gs://…, sftp://…, file://…, whatever fsspec and its drivers know.

There is no rename there that whole directories could be moved with. So a run is made in the local
copy, carried over file by file, its manifest last: a run without a manifest is absent. The copy
lies in the user's cache under a name that only the URL decides, and so does the batch lock in it:
two machines do not see each other's. What is at the URL is right; the copy follows it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Self

from ctxlab.errors import CtxlabError, RunFailed, UsageError
from ctxlab.masking import masked
from ctxlab.workbench.manifest import FILE
from ctxlab.workbench.results import BASELINE, RUN_ID
from ctxlab.workbench.stores import Store

_LOCK = ".copy.lock"
_DEPTH = 3  # entry, run, file


class RemoteStore(Store):
    """Results at a URL, and the local copy of what was asked for."""

    def __init__(self, url: str) -> None:
        """Open it; nothing is asked yet.

        Raises:
            UsageError: fsspec does not know the protocol, or its package is not installed.
        """
        import fsspec  # noqa: PLC0415  it looks for its plugins when it is imported

        self.url = url
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError, TypeError) as error:
            raise UsageError(f"the results at {self}: {masked(str(error))}") from None
        except Exception as error:  # noqa: BLE001  a driver raises what it likes
            raise self._away(error) from None
        if not self._root.strip("/"):
            raise UsageError(f"{url!r} names no place; a path follows, such as file:///srv/results")
        self._root = self._root.rstrip("/")
        protocol = self._files.protocol
        self.private = "memory" in ([protocol] if isinstance(protocol, str) else protocol)
        self._there: set[str] = set()
        super().__init__(_copy_folder(url))

    def __str__(self) -> str:
        """The URL as it is told: without a name and password in it."""
        return re.sub(r"//[^/@]*@", "//", self.url).rstrip("/")

    @property
    def place(self) -> str:
        """The URL."""
        return self.url

    def refresh(self) -> Self:
        """Bring the copy's manifests up to date.

        Raises:
            UsageError: the URL cannot be read.
        """
        with self._held(), self._reaching():
            found = self._listing()
            self._there = set(found)
            manifests = {name: size for name, size in found.items() if _is_manifest(name)}
            for gone in self._known() - set(manifests):
                shutil.rmtree((self.folder / gone).parent, ignore_errors=True)
            self._take(name for name, size in manifests.items() if self._differs(name, size))
        return self

    def check_writable(self) -> None:
        """Write a small file and remove it.

        Raises:
            UsageError: that is not possible.
        """
        name = f".probe-{os.getpid()}"
        with self._reaching():
            self.put(name, "")
            self.drop(name)

    def fetch(self, run: Path) -> Path:
        """Bring the files of a run that the copy does not have yet.

        Raises:
            UsageError: the URL cannot be read.
        """
        place = "/".join(run.parts[-2:])
        folder = self.folder / place
        with self._held(), self._reaching():
            names = [PurePosixPath(name).name for name in self._files.ls(self._path(place), False)]
            self._take(f"{place}/{name}" for name in names if not (folder / name).exists())
        return folder

    def has(self, path: Path) -> bool:
        """Whether a file is there, or in the copy already."""
        return path.exists() or path.relative_to(self.folder).as_posix() in self._there

    def keep(self, unfinished: Path, final: Path) -> None:
        """Carry a finished directory over, its manifest last.

        Raises:
            RunFailed: that was not possible; nothing of it stays.
        """
        place = final.relative_to(self.folder).as_posix()
        try:
            self._upload(unfinished, place)
        except BaseException as error:  # Ctrl-C too: what is half there goes
            with suppress(Exception):
                self._files.rm(self._path(place), recursive=True)
            if not isinstance(error, Exception):
                raise
            why = masked(f"{error}" or type(error).__name__)
            raise RunFailed(
                f"{final.parent.name}: the run could not be saved at {self}, "
                f"none of it is kept: {why}"
            ) from None
        with self._held():  # whoever refreshed meanwhile has brought its manifest
            shutil.rmtree(final, ignore_errors=True)
            unfinished.rename(final)

    def carry(self, path: Path) -> None:
        """Make what is at the URL the same as a file or a directory of the copy.

        Raises:
            UsageError: the URL cannot be written.
        """
        place = path.relative_to(self.folder).as_posix()
        with self._reaching():
            if path.is_dir():
                self.remove(path)
                self._upload(path, place)
            else:
                self._files.pipe_file(self._path(place), path.read_bytes())

    def remove(self, run: Path) -> None:
        """Remove a run there, its manifest first.

        Raises:
            UsageError: the URL cannot be written.
        """
        place = self._path(run.relative_to(self.folder).as_posix())
        with self._reaching(), suppress(FileNotFoundError):
            self._files.rm_file(f"{place}/{FILE}")
            self._files.rm(place, recursive=True)

    def told(self, path: Path) -> str:
        """Where it is at the URL."""
        return f"{self}/{path.relative_to(self.folder).as_posix()}"

    def put(self, name: str, content: str) -> None:
        """Write a small file of ours."""
        with self._reaching():
            self._files.makedirs(self._root, exist_ok=True)
            self._files.pipe_file(self._path(name), content.encode())

    def get(self, name: str) -> str | None:
        """A small file's content; None where it cannot be read."""
        self._files.invalidate_cache()
        try:
            return bytes(self._files.cat_file(self._path(name))).decode()
        except Exception:  # noqa: BLE001  whatever keeps it from being read
            return None

    def drop(self, name: str) -> None:
        """Remove a small file."""
        with self._reaching(), suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def _path(self, place: str) -> str:
        return f"{self._root}/{place}"

    def _listing(self) -> dict[str, Any]:
        """Every file there, as a path relative to the results, and its size."""
        self._files.invalidate_cache()
        try:
            found = self._files.find(self._root, detail=True)
        except FileNotFoundError:
            return {}
        start = len(self._root) + 1
        return {name[start:]: info.get("size") for name, info in found.items()}

    def _known(self) -> set[str]:
        """The manifests that the copy has."""
        names = (path.relative_to(self.folder) for path in self.folder.glob(f"*/*/{FILE}"))
        return {name.as_posix() for name in names if _is_manifest(name.as_posix())}

    def _differs(self, name: str, size: int | None) -> bool:
        """Whether the copy of a manifest is not there, or another; a baseline's may move."""
        try:
            return (self.folder / name).stat().st_size != size or name.startswith(f"{BASELINE}/")
        except OSError:
            return True

    def _take(self, names: Iterable[str]) -> None:
        """Bring these files into the copy; of another manifest than before nothing else stays."""
        paths = {self._path(name): self.folder / name for name in names}
        found = self._files.cat(list(paths), on_error="omit") if paths else {}
        for path, file in paths.items():
            if path not in found:  # it went meanwhile
                continue
            if file.name == FILE and (not file.exists() or file.read_bytes() != found[path]):
                shutil.rmtree(file.parent, ignore_errors=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_name(f".{file.name}.tmp")
            beside.write_bytes(found[path])
            beside.replace(file)

    def _upload(self, folder: Path, place: str) -> None:
        self._files.makedirs(self._path(place), exist_ok=True)
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != FILE)
        for path in (*files, folder / FILE):
            self._files.put_file(str(path), self._path(f"{place}/{path.name}"))

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Alone in the copy: what one process brings in, no other takes for gone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except CtxlabError:
            raise
        except Exception as error:  # noqa: BLE001  drivers raise what their clients do
            raise self._away(error) from None

    def _away(self, error: Exception) -> UsageError:
        why = getattr(error, "strerror", None) or f"{error}" or "no reason given"
        told = masked(why.splitlines()[0])
        return UsageError(f"the results at {self} cannot be used: {type(error).__name__}: {told}")


def _is_manifest(name: str) -> bool:
    """Whether a path, relative to the results, is a run's manifest, or a baseline's."""
    parts = name.split("/")
    if len(parts) != _DEPTH or parts[2] != FILE:
        return False
    return parts[0] == BASELINE or bool(RUN_ID.fullmatch(parts[1]))


def _copy_folder(url: str) -> Path:
    """In the user's cache; where that cannot be written, in the temporary directory."""
    name = f"results-{hashlib.sha256(url.rstrip('/').encode()).hexdigest()[:16]}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for folder in (cache / "ctxlab", Path(tempfile.gettempdir()) / f"ctxlab-{os.getuid()}"):
        with suppress(OSError):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.access(folder / name, os.W_OK):
                return (folder / name).resolve()
    raise UsageError(f"neither {cache} nor the temporary directory can be written")
