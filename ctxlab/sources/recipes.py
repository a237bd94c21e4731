"""`data/sources.toml` as recipes: what is fetched, from where, and what it must be.

The file's own header says what its fields mean. Names are unique over all kinds: `ctxlab data NAME`
fetches one. Nothing here looks at `data/cache`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError

SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Wheel:
    """One wheel of PyPI, pinned."""

    package: str
    version: str
    file: str
    sha256: str

    @property
    def pin(self) -> str:
        """The package as pip and uv take it."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True)
class VocabularyRecipe:
    """Where the files of `ctxlab.tokens.VOCABULARIES` come from; their hashes stand there."""

    name: str
    wheel: Wheel
    folder: str
    """The folder inside the wheel."""


@dataclass(frozen=True)
class TreeRecipe:
    """A source tree: a wheel without its `.dist-info`."""

    name: str
    wheel: Wheel
    tree_sha256: str
    """`ctxlab.sources.trees.tree_sha256` of the unpacked tree."""


@dataclass(frozen=True)
class ServerRecipe:
    """An MCP server of PyPI, and the tool list it gave when it was recorded."""

    name: str
    package: str
    version: str
    command: str
    env: Mapping[str, str]
    """Dummies that it needs before it lists anything."""
    exclude_newer: str
    """Its dependencies are those of this moment."""
    tools: int
    tools_sha256: str

    @property
    def pin(self) -> str:
        """The package as pip and uv take it."""
        return f"{self.package}=={self.version}"

    def identity(self) -> dict[str, Any]:
        """What an answer depends on: an answer to another recipe is not an answer to this one."""
        row = asdict(self)
        return {key: row[key] for key in ("package", "version", "command", "env", "exclude_newer")}


Recipe = VocabularyRecipe | TreeRecipe | ServerRecipe


@dataclass(frozen=True)
class _Table:
    """A table of the file, with its pointer for errors."""

    path: Path
    pointer: str
    values: Mapping[str, Any]

    def inside(self, key: str) -> _Table:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.refuse(key, "expected a table")
        return _Table(self.path, f"{self.pointer}.{key}".lstrip("."), value)

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value:
            raise self.refuse(key, "expected a text")
        return value

    def sha256(self, key: str = "sha256") -> str:
        value = self.text(key)
        if not SHA256.fullmatch(value):
            raise self.refuse(key, "expected 64 hexadecimal digits in lower case")
        return value

    def number(self, key: str) -> int:
        value = self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.refuse(key, "expected a whole number")
        return value

    def texts(self, key: str) -> dict[str, str]:
        table = self.inside(key)
        return {name: table.text(name) for name in table.values}

    def refuse(self, key: str, message: str) -> InputError:
        return InputError(message, path=self.path, place=f"{self.pointer}.{key}".lstrip("."))


def sources_file() -> Path:
    """`data/sources.toml`."""
    return project.data_dir() / "sources.toml"


def read_recipes(path: Path | None = None) -> list[Recipe]:
    """The recipes in the file's order: vocabularies, trees, servers.

    Raises:
        InputError: the file is not there, is no TOML, or a field is not what it should be.
    """
    path = path or sources_file()
    top = _Table(path, "", _toml(path))
    kinds: list[tuple[str, Callable[[str, _Table], Recipe]]] = [
        ("vocabularies", _vocabulary),
        ("trees", _tree),
        ("servers", lambda name, row: _server(name, row, top.text("exclude_newer"))),
    ]
    found: dict[str, Recipe] = {}
    for kind, build in kinds:
        table = top.inside(kind)
        for name in table.values:
            if name in found or not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
                raise table.refuse(name, "expected a new name of a-z, 0-9 and -")
            found[name] = build(name, table.inside(name))
    return list(found.values())


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise InputError(f"no valid TOML: {error}", path=path) from error


def _wheel(row: _Table) -> Wheel:
    return Wheel(row.text("package"), row.text("version"), row.text("wheel"), row.sha256())


def _vocabulary(name: str, row: _Table) -> VocabularyRecipe:
    return VocabularyRecipe(name, _wheel(row), row.text("folder"))


def _tree(name: str, row: _Table) -> TreeRecipe:
    return TreeRecipe(name, _wheel(row), row.sha256("tree_sha256"))


def _server(name: str, row: _Table, exclude_newer: str) -> ServerRecipe:
    return ServerRecipe(
        name,
        row.text("package"),
        row.text("version"),
        row.text("command"),
        row.texts("env"),
        exclude_newer,
        row.number("tools"),
        row.sha256("tools_sha256"),
    )
