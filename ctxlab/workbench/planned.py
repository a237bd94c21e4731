"""The runs that a plan means: of each step the newest successful one with the plan's own inputs.

The newest run of an entry may be another one, made with other parameters to explore.
"""

from __future__ import annotations

from graphlib import TopologicalSorter
from pathlib import Path

from ctxlab.errors import UsageError
from ctxlab.workbench.identity import Contents
from ctxlab.workbench.plan import Plan, read_plan
from ctxlab.workbench.prepare import prepare
from ctxlab.workbench.results import Run, newest_successful, succeeded_before


def planned_runs(plan: str | Path | Plan, folder: Path | None = None) -> list[Run]:
    """The runs of a plan, in its order.

    Raises:
        InputError: the plan, or what one of its parameters names, cannot be read.
        UsageError: a step has no such run: the batch has not run since its inputs changed.
    """
    read = plan if isinstance(plan, Plan) else read_plan(plan)
    steps = {step.entry: step for step in read.steps}
    found: dict[str, Run | None] = {}
    known: Contents = {}
    for entry in TopologicalSorter({step.entry: step.needs for step in read.steps}).static_order():
        step = steps[entry]
        needs = [found[need] or newest_successful(need, folder) for need in step.needs]
        job = prepare(
            step.notebook,
            step.parameters,
            entry=entry,
            needs=[run for run in needs if run],
            known=known,
        )
        found[entry] = succeeded_before(entry, job.inputs_sha256, folder)
    runs = {entry: found[entry] for entry in steps}
    missing = [entry for entry, run in runs.items() if run is None]
    if missing:
        told = ", ".join(missing)
        raise UsageError(f"no successful run of {told} as {read.path} has it: run the batch first")
    return [run for run in runs.values() if run]
