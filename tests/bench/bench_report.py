"""The index over thousands of runs, and one report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson

from ctxlab.workbench.index import write_index
from ctxlab.workbench.report import write_report
from tests.bench import Figure, interleaved
from tests.workbench import made_runs
from tests.workbench.test_index import TABLE

_ENTRIES, _EACH, _ROWS = 20, 250, 300


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _index(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from _report(Path(folder))


def _index(results: Path) -> Iterator[Figure]:
    _made_runs(results)
    files = sorted(results.glob("*/*/manifest.json"))

    def parse() -> None:
        for file in files:
            orjson.loads(file.read_bytes())

    ours, reference = interleaved(lambda: write_index(results), parse, repeats=3)
    detail = f"{ours:.2f} s and {reference:.2f} s, {len(files):,} runs"
    told = "reading and parsing the manifests alone"
    yield Figure("index over 5,000 runs", ours / reference, 4, told, detail=detail)
    yield Figure("index over 5,000 runs", ours, 2, "by the clock", unit="s")


def _made_runs(results: Path) -> None:
    packages = {f"package-{n}": f"{n}.0.{n}" for n in range(220)}
    environment = made_runs.MANIFEST["environment"] | {"packages": packages}
    for entry in range(_ENTRIES):
        for run in range(_EACH):
            name = f"202611{run // 24 + 1:02}T{run % 24:02}0000Z-3fa9c1d2"
            folder = results / f"entry_{entry}" / name
            folder.mkdir(parents=True)
            changed = {"entry": f"entry_{entry}", "run_id": name, "environment": environment}
            table = TABLE | {"sha256": str(run), "rows": _ROWS}
            changed |= {"parameters": {"seeds": run}, "tables": {"sums": table}}
            manifest = made_runs.MANIFEST | changed
            (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True))
            if run >= _EACH - 2:  # the two newest are held against each other, row by row
                rows = "".join(f"row {at},{at + run % 2 * (at % 9 == 0)}\n" for at in range(_ROWS))
                (folder / "sums.csv").write_text(f"id,kept_turns\n{rows}")


def _report(results: Path) -> Iterator[Figure]:
    import nbconvert
    import nbformat

    table = "".join(f"<tr><td>{n}</td><td>{n / 7:.3f}</td></tr>" for n in range(200))
    shown = made_runs.display({"text/html": f"<table>{table}</table>", "text/plain": ""})
    cells = [made_runs.markdown("## A\n\nSome *words*."), made_runs.code("x = [1, 2]\n" * 9, shown)]
    run = made_runs.made(results, *cells * 15)
    exporter = nbconvert.HTMLExporter(template_name="basic")

    def reference() -> None:
        notebook = nbformat.read(run / "notebook.ipynb", as_version=4)
        exporter.from_notebook_node(notebook)

    write_report(run)  # the first one loads its templates
    ours, theirs = interleaved(lambda: write_report(run), reference, repeats=3)
    detail = f"{ours * 1000:.0f} ms and {theirs * 1000:.0f} ms, 30 cells"
    yield Figure("one report", ours / theirs, 2, "nbconvert's basic page", detail=detail)
