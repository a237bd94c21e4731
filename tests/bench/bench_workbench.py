"""The workbench: a batch against papermill's own commands, the command's start, and kill -9."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil

from ctxlab import project
from ctxlab.errors import CtxlabError
from ctxlab.workbench import run_batch
from ctxlab.workbench.manifest import Manifest, read_manifest
from ctxlab.workbench.plan import Plan, read_plan
from ctxlab.workbench.results import entries, runs
from tests.bench import Figure, best, interleaved
from tests.workbench.fixtures import CHART, TABLE, notebook

CTXLAB = Path(sys.executable).with_name("ctxlab")
PAPERMILL = Path(sys.executable).with_name("papermill")
DRAWING = 10
SMALL = 40
TURNS = 2
KILLS = 20
LISTED = 500


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from start_of_the_command(Path(folder) / "start")
        yield from against_papermill(Path(folder) / "drawing")
        yield from default_plan(Path(folder) / "default")
        yield from on_a_cluster(Path(folder) / "cluster")
        yield from killed(Path(folder) / "killed")


def start_of_the_command(folder: Path) -> Iterator[Figure]:
    results = folder / "results"
    plan = small_plan(folder, {"a": [TABLE]})
    batch(plan, results)
    (run,) = runs("a", results)
    for number in range(LISTED - 1):
        copy = results / f"entry{number % 20}" / f"202601{number % 28 + 1:02}T{number:06}Z-3fa9c1d2"
        copy.mkdir(parents=True)
        (copy / "manifest.json").write_bytes((run.path / "manifest.json").read_bytes())
    for name, command in (
        ("ctxlab --help", [CTXLAB, "--help"]),
        (f"ctxlab list, {LISTED} runs of 21 entries", [CTXLAB, "list", "--results", results]),
    ):
        seconds = best(lambda command=command: subprocess.check_output(command))
        yield Figure(name, seconds, 0.5, "the time that a person does not notice", unit="s")


def against_papermill(folder: Path) -> Iterator[Figure]:
    """Ten notebooks that only import and draw."""
    plan = small_plan(folder, {f"draw{n}": [TABLE, CHART] for n in range(DRAWING)})
    each, ours = measured(plan, folder)
    name = f"{DRAWING} notebooks that import and draw: commands /"
    yield ratio(f"{name} process pool", each, ours["ordinary"], 2)
    yield ratio(f"{name} forked kernels, 2 at a time", each, ours["forked"], 6)


def default_plan(folder: Path) -> Iterator[Figure]:
    plan = project.root() / "notebooks" / "plan.toml"
    each, ours = measured(plan, folder)
    name = f"default plan, {len(each)} runs"
    yield ratio(f"{name}: commands / process pool", each, ours["ordinary"], 1.5)
    yield ratio(f"{name}: commands / forked kernels", each, ours["forked"], 1.5)
    least = max(*each, sum(each) / 2)
    yield Figure(
        f"{name}: batch / max(longest, half the sum)", ours["forked"] / least, 1.15,
        "the same runs as papermill commands",
        detail=f"{ours['forked']:.1f} s / max({max(each):.1f}, {sum(each):.1f} / 2) s",
    )  # fmt: skip
    yield Figure(f"{name}, data fetched", ours["forked"], 240, "two cores", unit="s")


def measured(plan: Path, folder: Path) -> tuple[list[float], dict[str, float]]:
    """Seconds of each step as a command, and of a batch with each engine: the best of the turns."""
    commands, ours = [], {"ordinary": [], "forked": []}
    for turn in range(TURNS):
        for engine, seconds in ours.items():
            results = folder / f"results-{engine}-{turn}"
            seconds.append(batch(plan, results, "--engine", engine, "--jobs", "2"))
        commands.append(papermill_seconds(read_plan(plan), folder / f"{turn}", results))
    return min(commands, key=sum), {engine: min(seconds) for engine, seconds in ours.items()}


def ratio(name: str, each: list[float], ours: float, bound: float) -> Figure:
    return Figure(
        name, sum(each) / ours, bound, "papermill commands, one after the other", at_least=True,
        detail=f"{sum(each):.1f} s / {ours:.1f} s",
    )  # fmt: skip


def on_a_cluster(folder: Path) -> Iterator[Figure]:
    """Small runs on a dask cluster that is there, against the pool; both start their kernels."""
    from distributed import LocalCluster

    plan = read_plan(small_plan(folder, {f"small{n}": [TABLE] for n in range(SMALL)}))
    number = count()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        options = {"jobs": 2, "engine": "forked"}

        def go(**where: str) -> None:
            outcomes = run_batch(plan, results=folder / f"{next(number)}", **options, **where)
            assert all(outcome.well for outcome in outcomes)

        dask, pool = interleaved(lambda: go(scheduler=cluster.scheduler_address), go, repeats=TURNS)
    yield Figure(
        f"{SMALL} small runs on a dask cluster of 2 workers / pool of 2", dask / pool, 1.1,
        "the pool, both with forked kernels", detail=f"{dask:.1f} s / {pool:.1f} s",
    )  # fmt: skip


def killed(folder: Path) -> Iterator[Figure]:
    """Kill -9 of a batch of three at random moments; the next batch must complete."""
    plan = small_plan(folder, {name: [TABLE] for name in ("a", "b", "c")})
    whole_time = batch(plan, folder / "results-whole")
    moments = random.Random(20).choices(range(1, 1000), k=KILLS)
    broken, completed, orphans, left = 0, 0, 0, 0
    for number, moment in enumerate(moments):
        results = folder / f"results-{number}"
        runner = subprocess.Popen(
            command_of(plan, results), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(whole_time * moment / 1000)
        runner.kill()
        runner.wait()
        orphans += kernels_after(results, seconds=10)
        left += sum(len(runs(entry, results)) for entry in entries(results))
        broken += broken_runs(results)
        batch(plan, results)
        completed += not broken_runs(results) and entries(results) == ["a", "b", "c"]
    told = f"{left} runs were left behind by {KILLS} killed batches"
    yield Figure("kill -9: runs left that are not whole", broken, 0, told, unit="")
    yield Figure("kill -9: kernels alive 10 s later", orphans, 0, told, unit="")
    yield Figure("kill -9: next batch completes", completed, KILLS, told, unit="", at_least=True)


def small_plan(folder: Path, notebooks: dict[str, list[str]]) -> Path:
    for entry, cells in notebooks.items():
        notebook(folder / f"{entry}.ipynb", *cells)
    plan = folder / "plan.toml"
    plan.write_text("".join(f'[[run]]\nnotebook = "{entry}.ipynb"\n' for entry in notebooks))
    return plan


def command_of(plan: Path, results: Path, *options: str) -> list[str | Path]:
    return [CTXLAB, "batch", plan, "--results", results, *options]


def batch(plan: Path, results: Path, *options: str) -> float:
    """Seconds of `ctxlab batch`; every run of it must succeed."""
    start = time.perf_counter()
    done = subprocess.run(
        command_of(plan, results, *options), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    return time.perf_counter() - start


def papermill_seconds(plan: Plan, folder: Path, needed: Path) -> list[float]:
    """Seconds of each step as a `papermill` command; tables of others are read from `needed`."""
    folder.mkdir(parents=True)
    environment = os.environ | {"CTXLAB_RESULTS": str(needed)}
    each = []
    for step in plan.steps:
        saved = {"output_dir": str(folder / "papermill" / step.entry)}
        parameters = json.dumps(step.parameters | saved)  # JSON is YAML
        command = [PAPERMILL, step.notebook, folder / f"{step.entry}.out.ipynb", "-y", parameters]
        start = time.perf_counter()
        subprocess.run(
            command, cwd=project.root(), env=environment, capture_output=True, check=True
        )
        each.append(time.perf_counter() - start)
    return each


def broken_runs(results: Path) -> int:
    return sum(not whole(run.path) for entry in entries(results) for run in runs(entry, results))


def whole(run: Path) -> bool:
    """Whether everything that a run has is there, as its manifest says."""
    try:
        manifest: Manifest = read_manifest(run)
    except CtxlabError:
        return False
    recorded = [*manifest.tables.values(), *manifest.charts.values()]
    files = all(
        hashlib.sha256((run / each.path).read_bytes()).hexdigest() == each.sha256
        for each in recorded
    )
    others = ("notebook.ipynb", "report.html", "log.txt")
    return files and all((run / name).stat().st_size for name in others)


def kernels_after(results: Path, seconds: float) -> int:
    """Processes of kernels that write to these results, once they had the time to end."""
    end = time.monotonic() + seconds
    while (alive := sum(map(writes_to(results), psutil.process_iter()))) and time.monotonic() < end:
        time.sleep(0.2)
    return alive


def writes_to(results: Path):
    def test(process: psutil.Process) -> bool:
        try:
            return process.environ().get("CTXLAB_RESULTS") == str(results)
        except psutil.Error:
            return False

    return test
