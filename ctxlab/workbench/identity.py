"""What makes two runs the same: `inputs_sha256`, known before a kernel starts.

It is taken over the effective parameters, the notebook's source, ctxlab's own source, the lock, the
content of every file or tree that a parameter declared `Path` names, the tables of the entries that
this one needs, and the seed. Time, host and commit do not count; whatever moves by itself (the date
of prices, the version of a registry) is a parameter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.workbench import digests
from ctxlab.workbench.environment import lock_sha256
from ctxlab.workbench.manifest import Datum
from ctxlab.workbench.notebook import Notebook

_VERSION = 1  # of this recipe: raise it when the recipe changes
_PACKAGE = Path(__file__).resolve().parent.parent

Contents = dict[Path, digests.Content]
"""What was hashed already: the entries of a batch often name the same tree."""


def data(
    notebook: Notebook, parameters: Mapping[str, Any], known: Contents | None = None
) -> list[Datum]:
    """What the parameters declared `Path` name, sorted by path.

    Raises:
        InputError: something of it cannot be read.
    """
    known = {} if known is None else known
    named = {
        path
        for name, value in parameters.items()
        for path in notebook.parameters[name].paths(value)
    }
    return [Datum(path, *_content(path, known)) for path in sorted(named)]


def _content(path: str, known: Contents) -> digests.Content:
    whole = project.resolve(path).resolve()
    if whole not in known:
        known[whole] = digests.content(whole)
    return known[whole]


def inputs_sha256(
    notebook: Notebook,
    parameters: Mapping[str, Any],
    data: list[Datum],
    needed: Mapping[str, Mapping[str, str]],
) -> str:
    """One SHA-256 over all of it; `needed` is entry → table → sha256."""
    inputs = {
        "version": _VERSION,
        "parameters": dict(parameters),
        "notebook": notebook.source_sha256,
        "ctxlab": source_sha256(),
        "lock": lock_sha256(),
        "data": {datum.path: datum.sha256 for datum in data},
        "needed": {entry: dict(tables) for entry, tables in needed.items()},
        "seed": parameters.get("seed"),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def source_sha256() -> str:
    """Of ctxlab's own source: the package, and the tables in `data/` that it reads by itself.

    Hidden and compiled files do not count.
    """
    digest = hashlib.sha256()
    for name, path in _source_files():
        digest.update(f"{name} {digests.content(path).sha256}\n".encode())
    return digest.hexdigest()


def _source_files() -> Iterator[tuple[str, Path]]:
    for path in sorted(_PACKAGE.rglob("*")):
        parts = path.relative_to(_PACKAGE).parts
        hidden = "__pycache__" in parts or any(part.startswith(".") for part in parts)
        if path.is_file() and not hidden:
            yield "/".join(parts), path
    for path in sorted(project.data_dir().glob("*.toml")):
        yield f"data/{path.name}", path
