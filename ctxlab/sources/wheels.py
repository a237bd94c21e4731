"""Wheels from PyPI through pip, held to their hash by us, and unpacked without surprises.

pip's own hash check is not used: its message carries the registry's address.
"""

from __future__ import annotations

import stat
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ctxlab.errors import DataError
from ctxlab.sources.files import file_sha256
from ctxlab.sources.processes import run_all
from ctxlab.sources.recipes import Wheel
from ctxlab.sources.words import WHAT_TO_DO, reason

_PIP = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check")
_HOW = ("--no-input", "--retries", "2", "--no-deps", "--only-binary", ":all:")


def download(wheels: Sequence[Wheel], folder: Path) -> dict[str, str]:
    """Download wheels into `folder` and check them; package → why it is not there, for those.

    One call of pip for all; when that fails they are asked for one by one, so that one package
    that a mirror lacks does not take the others along. Mirrors are the user's pip settings.
    """
    output = _pip(wheels, folder)
    if output is not None and len(wheels) > 1 and not reason(output, "pip").endswith(WHAT_TO_DO):
        outputs = {wheel.package: _pip([wheel], folder) for wheel in wheels}
    else:
        outputs = dict.fromkeys((wheel.package for wheel in wheels), output)
    told = {}
    for wheel in wheels:
        said = outputs[wheel.package]
        why = reason(said, "pip") if said is not None else _fault(wheel, folder / wheel.file)
        if why:
            told[wheel.package] = why
    return told


def unpack(wheel: Path, into: Path, folder: str = "") -> None:
    """Unpack a wheel's files (or those below `folder`, without it), less its `.dist-info`.

    Raises:
        DataError: it is no zip file, or a name in it leads outside of `into`.
    """
    prefix = f"{folder}/" if folder else ""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                _check(entry, wheel)
                top = entry.filename.split("/", 1)[0]
                if entry.is_dir() or top.endswith(".dist-info"):
                    continue
                if entry.filename.startswith(prefix):
                    target = into / entry.filename.removeprefix(prefix)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(entry))
    except zipfile.BadZipFile as error:
        raise DataError(f"{wheel.name} is no wheel: {error}") from error


def _pip(wheels: Sequence[Wheel], folder: Path) -> str | None:
    """Run pip; None when it went well, else what it printed."""
    command = [*_PIP, *_HOW, "--dest", str(folder), *(wheel.pin for wheel in wheels)]
    (end,) = run_all([command])
    return None if end.code == 0 else end.output


def _fault(wheel: Wheel, file: Path) -> str:
    if not file.is_file():
        found = ", ".join(sorted(path.name for path in file.parent.glob("*.whl")))
        return f"expected the file {wheel.file}, found {found or 'none'}"
    sha256 = file_sha256(file)
    if sha256 != wheel.sha256:
        return f"{wheel.file} has sha256 {sha256}, expected {wheel.sha256}"
    return ""


def _check(entry: zipfile.ZipInfo, wheel: Path) -> None:
    path = PurePosixPath(entry.filename)
    is_link = stat.S_ISLNK(entry.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or is_link:
        raise DataError(f"{wheel.name}: {entry.filename!r} leads out of the wheel")
