"""Small notebooks for tests: cells in, an .ipynb file out."""

import json
from pathlib import Path

PARAMETERS = """\
from pathlib import Path
corpus: Path = ""  # a file or tree
seed: int = 7  # of nothing
text: str = "x"  # any
live: bool = False  # whether a live API is called
output_dir: str = ""  # where the run is saved; empty saves nothing"""

TABLE = """\
import pandas as pd
from ctxlab.workbench import Record, Rule
record = Record(output_dir, models=["m-1"], tokenizer="o200k_base")
frame = pd.DataFrame({"name": ["a", "b"], "seed": [seed, seed + 1]})
record.table("seeds", frame, key=["name"], metrics={"seed": Rule("exact")})"""

CHART = """\
from matplotlib.figure import Figure
figure = Figure()
figure.subplots().bar(["a", "b"], [1, 2])
record.chart("bars", figure, alt="Two bars")"""

PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook(path: Path, *cells: str, parameters: str = PARAMETERS, **metadata) -> Path:
    """Write a notebook of a title, the parameters and these code cells."""
    made = [
        _cell("markdown", "# A fixture", []),
        _cell("code", parameters, ["parameters"]),
        *(_cell("code", cell, []) for cell in cells),
    ]
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    content = {
        "cells": made,
        "metadata": {"kernelspec": PYTHON} | metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1))
    return path


def _cell(kind: str, source: str, tags: list[str]) -> dict:
    cell = {"cell_type": kind, "metadata": {"tags": tags} if tags else {}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})
