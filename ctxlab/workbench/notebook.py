"""A notebook as the runner sees it, before anything runs: its cells, and what it asks for.

Only JSON is read here: nbformat and papermill are imported when something runs.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.parameters import OUTPUT_DIR, Parameter, read_parameters

_ENTRY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_RESERVED = ("baseline", "comparisons")
_FORMAT = 4


@dataclass(frozen=True)
class Notebook:
    """A notebook that can be run."""

    path: Path
    text: str
    """The file's content, so that what was looked at is what runs."""
    cells: list[dict[str, Any]]
    kernel: str
    parameters: dict[str, Parameter]

    @cached_property
    def source_sha256(self) -> str:
        """Of what its execution depends on: the kernel, and each cell's type, source and tags.

        Outputs, ids and other metadata do not count.
        """
        cells = [[cell["cell_type"], _source(cell), sorted(_tags(cell))] for cell in self.cells]
        return hashlib.sha256(json.dumps([self.kernel, cells]).encode()).hexdigest()

    @property
    def told_path(self) -> str:
        """Its path, relative to the project's root where it is inside."""
        whole, root = self.path.resolve(), project.root()
        return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()


def read_notebook(path: str | Path) -> Notebook:
    """Read a notebook and its `parameters` cell.

    Raises:
        InputError: no such notebook, not a notebook of format 4, no `parameters` cell or more than
            one, or one that declares badly or lacks `output_dir`.
    """
    file = Path(path)
    text = _text(file)
    try:
        content = json.loads(text)
        cells = content["cells"]
        metadata = content.get("metadata") or {}
        kernel = (metadata.get("kernelspec") or {}).get("name") or "python3"
        tagged = [cell for cell in cells if "parameters" in _tags(cell)]
        sources = [_source(cell) for cell in tagged]
        well = content["nbformat"] == _FORMAT and all("cell_type" in cell for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        well = False
    if not well:
        raise InputError(f"not a notebook of format {_FORMAT}", path=file)
    if len(tagged) != 1 or tagged[0]["cell_type"] != "code":
        raise InputError(
            f"one code cell is tagged `parameters`, found {len(tagged) or 'none'}", path=file
        )
    declared = read_parameters(sources[0], file)
    if OUTPUT_DIR not in declared:
        raise InputError(f'the parameters lack `{OUTPUT_DIR}: str = ""`', path=file)
    return Notebook(file, text, cells, kernel, declared)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        names = [other.name for other in file.parent.glob("*.ipynb")]
        near = get_close_matches(file.name, names, n=1, cutoff=0.5)
        hint = f"; did you mean {file.parent / near[0]}?" if near else ""
        raise InputError(f"no notebook is here{hint}", path=file) from None
    except UnicodeDecodeError:
        raise InputError(f"not a notebook of format {_FORMAT}", path=file) from None
    except (OSError, ValueError) as error:
        raise InputError(getattr(error, "strerror", None) or str(error), path=file) from None


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _tags(cell: dict[str, Any]) -> list[str]:
    tags: list[str] = (cell.get("metadata") or {}).get("tags") or []
    return tags


def default_entry(path: str | Path) -> str:
    """The notebook's name without its number.

    >>> default_entry("notebooks/01_tool_mutations.ipynb")
    'tool_mutations'
    """
    bare = re.sub(r"^\d+[ _-]+", "", Path(path).stem)
    return checked_entry(re.sub(r"[^A-Za-z0-9_-]+", "_", bare).strip("_-"))


def checked_entry(entry: str) -> str:
    """The entry, when it can name a directory of runs.

    Raises:
        UsageError: it cannot.
    """
    if not _ENTRY.fullmatch(entry) or entry in _RESERVED:
        raise UsageError(
            f"an entry is named with letters, digits, _ and -, not {entry!r}"
            if entry not in _RESERVED
            else f"{entry!r} is the accepted runs' own directory; name the entry otherwise"
        )
    return entry
