"""A project of its own with tiny wheels: pip and uv find them in a directory, and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ctxlab.sources import wheels
from ctxlab.sources.files import file_sha256, tree_sha256
from ctxlab.tokens import VOCABULARIES, Vocabulary
from tests.conftest import REPOSITORY

SERVER = REPOSITORY / "tests" / "loading" / "stdio_server.py"
TREE = {"small/__init__.py": "", "small/core.py": "def answer():\n    return 42\n" * 500}


def write_wheel(folder, package, version, files, script=""):
    """A wheel with these files; `script` is a console script's `module:function`."""
    name = f"{package.replace('-', '_')}-{version}"
    info = f"{name}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if script:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{package} = {script}\n"
    rows = [f"{path},{record_hash(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(zipfile.ZipInfo(file), text)
    return path


def record_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass
class World:
    """The project's root, the directory of wheels, and the rows of sources.toml."""

    root: Path
    wheels: Path
    rows: dict[str, dict] = field(default_factory=dict)

    @property
    def cache(self):
        return self.root / "data" / "cache"

    def tree(self, name, files=TREE, **row):
        wheel = write_wheel(self.wheels, name, "1.0", files)
        unpacked = self.root / "expected" / name
        for path, text in files.items():
            (unpacked / path).parent.mkdir(parents=True, exist_ok=True)
            (unpacked / path).write_text(text)
        self.rows[f"trees.{name}"] = wheel_row(wheel, name) | {
            "tree_sha256": tree_sha256(unpacked),
            **row,
        }

    def vocabulary(self, text="QQ== 0\n", **row):
        files = {f"static/{VOCABULARIES['o200k_base'].file}": text, "static/other": "x"}
        wheel = write_wheel(self.wheels, "words", "1.0", files)
        self.rows["vocabularies.words"] = wheel_row(wheel, "words") | {"folder": "static"} | row

    def server(self, name, mode="", **row):
        module = f"{name}_server".replace("-", "_")
        text = SERVER.read_text().replace("sys.argv[1] if len(sys.argv) > 1 else ''", repr(mode))
        text = text.replace('sys.argv[1] if len(sys.argv) > 1 else ""', repr(mode))
        write_wheel(self.wheels, name, "1.0", {f"{module}.py": text}, script=f"{module}:main")
        self.rows[f"servers.{name}"] = {
            "package": name,
            "version": "1.0",
            "command": name,
            "tools": 2,
            "tools_sha256": "0" * 64,
        } | row

    def write(self):
        lines = ['exclude_newer = "2026-11-01T00:00:00Z"  # kept']
        for table, row in self.rows.items():
            lines += [f"[{table}]", *(f"{key} = {toml(row[key])}" for key in row), ""]
        (self.root / "data" / "sources.toml").write_text("\n".join(lines))


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(value[key])}" for key in value) + "}"
    return json.dumps(value)


def wheel_row(wheel, package):
    return {
        "package": package,
        "version": "1.0",
        "wheel": wheel.name,
        "sha256": file_sha256(wheel),
    }


# What pip does here, without the second that it takes to start.
COPY = """
import pathlib, shutil, sys
*_, folder = sys.argv[: sys.argv.index("--dest") + 2]
for pin in sys.argv[sys.argv.index("--dest") + 2 :]:
    name = pin.replace("==", "-") + "-py3-none-any.whl"
    try:
        shutil.copy(pathlib.Path(WHEELS, name), folder)
    except FileNotFoundError:
        sys.exit(f"ERROR: No matching distribution found for {pin}")
"""


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("uv")


@pytest.fixture
def real_pip():
    """Ask for it before `world`: pip itself downloads."""
    return wheels._PIP


@pytest.fixture
def world(request, tmp_path, monkeypatch, uv_cache):
    root, found = tmp_path / "project", tmp_path / "wheels"
    (root / "data").mkdir(parents=True)
    found.mkdir()
    settings = tmp_path / "uv.toml"
    settings.write_text(f"no-index = true\nfind-links = [{json.dumps(str(found))}]\n")
    for name, value in {
        "CTXLAB_ROOT": root,
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": found,
        "UV_CONFIG_FILE": settings,
        "UV_CACHE_DIR": uv_cache,
        "UV_PYTHON": sys.executable,
    }.items():
        monkeypatch.setenv(name, str(value))
    small = Vocabulary(VOCABULARIES["o200k_base"].file, hashlib.sha256(b"QQ== 0\n").hexdigest())
    for module in ("fetching", "looking"):
        monkeypatch.setattr(f"ctxlab.sources.{module}.VOCABULARIES", {"o200k_base": small})
    if "real_pip" not in request.fixturenames:
        copy = COPY.replace("WHEELS", repr(str(found)))
        monkeypatch.setattr(wheels, "_PIP", (sys.executable, "-I", "-S", "-c", copy))
    return World(root, found)
