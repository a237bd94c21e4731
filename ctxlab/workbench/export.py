"""Runs to hand on: one zip file with whole runs and an index of them, to be opened offline."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path

from ctxlab.errors import UsageError
from ctxlab.workbench.index import write_index
from ctxlab.workbench.manifest import read_manifest

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same runs give the same bytes


def export(runs: list[Path], path: Path, *, force: bool = False) -> Path:
    """Write `runs` and their index into the zip file `path`, whole or not at all.

    Raises:
        UsageError: no run is named, or the file is there already and `force` is not set.
    """
    if not runs:
        raise UsageError("name the runs to export: run directories, ENTRY/RUN-ID or entries")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force replaces it")
    with tempfile.TemporaryDirectory(prefix=".ctxlab-", dir=path.parent) as temporary:
        folder = Path(temporary) / "results"
        for run in dict.fromkeys(runs):
            manifest = read_manifest(run)
            shutil.copytree(run, folder / manifest.entry / manifest.run_id)
        write_index(folder)
        packed = Path(temporary) / "packed.zip"
        _pack(folder, packed)
        packed.replace(path)
    return path


def _pack(folder: Path, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            name = zipfile.ZipInfo(str(file.relative_to(folder.parent)), _EARLIEST)
            name.external_attr = 0o644 << 16
            archive.writestr(name, file.read_bytes(), zipfile.ZIP_DEFLATED)
