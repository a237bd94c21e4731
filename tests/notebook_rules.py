"""Notebook rules, part of `make check`: thin notebooks that a reader and a runner can rely on.

Every notebook under notebooks/ opens with a `#` title, has one `parameters` cell (annotated,
literal, each with its meaning) that takes `output_dir`, defines nothing, uses no papermill-injected
cell, and is committed without outputs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def broken_rules(path: Path) -> Iterator[str]:
    """What this notebook breaks, one line each."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = notebook.cells
    if not cells or cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
        yield "the first cell is a markdown title (`# …`) with the question"
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernel is python3"
    tagged = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        yield f"one cell is tagged `parameters`, found {len(tagged)}"
    for cell in tagged:
        yield from _broken_parameters(cell.source)
    for number, cell in enumerate(cells):
        if cell.cell_type == "code":
            yield from (f"cell {number}: {rule}" for rule in _broken_code(cell))


def _broken_parameters(source: str) -> Iterator[str]:
    lines = source.splitlines()
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module == "pathlib":
            continue  # Path, for the annotations
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            yield f"parameters, line {node.lineno}: `name: type = literal  # meaning`"
            continue
        names.add(node.target.id)
        last = (node.end_lineno or node.lineno) - 1
        if "  # " not in lines[last]:
            yield f"parameters: {node.target.id} has no meaning behind `  # `"
    if "output_dir" not in names:
        yield "parameters: output_dir is one of them"


def _broken_code(cell: nbformat.NotebookNode) -> Iterator[str]:
    if cell.outputs or cell.execution_count is not None:
        yield "committed without outputs and execution counts"
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"`{node.name}`: functions and classes live in ctxlab.experiments"


def main() -> int:
    broken = [
        f"{path.name}: {rule}"
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
        for rule in broken_rules(path)
    ]
    sys.stderr.writelines(f"{line}\n" for line in broken)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
