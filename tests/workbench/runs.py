"""Run directories without a run: manifests and tables written as the runner writes them."""

import csv
import hashlib
import io
from datetime import UTC, datetime, timedelta

from ctxlab.workbench.manifest import Environment, Failure, Git, Manifest, Source, Table

START = datetime(2026, 11, 1, tzinfo=UTC)


def write_run(results, entry="entry", *, days=0, tables=None, status="succeeded", **changes):
    """A run directory; `tables` maps a name to (rows as dicts, key, metrics)."""
    started = START + timedelta(days=days)
    inputs = hashlib.sha256(repr((entry, days, changes)).encode()).hexdigest()
    run_id = f"{started:%Y%m%dT%H%M%SZ}-{inputs[:8]}"
    folder = results / entry / run_id
    folder.mkdir(parents=True)
    written = {name: _table(folder, name, *table) for name, table in (tables or {}).items()}
    manifest = Manifest(
        **{
            "entry": entry,
            "run_id": run_id,
            "status": status,
            "error": Failure("ValueError", "no", 3) if status == "failed" else None,
            "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
            "seconds": 1.5,
            "parameters": {"seed": 1},
            "parameters_passed": {},
            "notebook": Source("notebooks/01_entry.ipynb", "a" * 64),
            "git": Git("c" * 40, "main", False),
            "environment": Environment("3.11.7", "b" * 64, {"pandas": "3.1.1"}),
            "data": [],
            "seed": 1,
            "models": [],
            "tokenizer": None,
            "machine": {},
            "tables": written,
            "charts": {},
            "inputs_sha256": inputs,
            "api_usage": None,
        }
        | changes
    )
    (folder / "manifest.json").write_text(manifest.to_json())
    return folder


def _table(folder, name, rows, key, metrics):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    content = text.getvalue().encode()
    (folder / f"{name}.csv").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    kinds = dict.fromkeys(rows[0], "str")
    return Table(f"{name}.csv", digest, len(rows), key, kinds, metrics, False)
