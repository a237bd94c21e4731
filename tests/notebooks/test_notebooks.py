"""Every notebook of notebooks/, through our own runner: new ones are found by themselves."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

from ctxlab.experiments import ledger
from ctxlab.experiments.claims import check, load_claims
from ctxlab.workbench import run_notebook, tables
from ctxlab.workbench.baseline import baseline, entries_with_baseline
from ctxlab.workbench.manifest import read_manifest
from ctxlab.workbench.notebook import default_entry, read_notebook
from ctxlab.workbench.parameters import check_values, effective
from ctxlab.workbench.plan import read_plan
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.data

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))

# Where the defaults take long: fewer draws of the same.
SMALL = {
    "core_tail_session": {"seeds": 30},
    "result_truncation": {"limits": [500, 4000], "positions": [10, 90], "turns": 5},
    "tool_search": {"seeds": 1, "sizes": [50, 232]},
    "tool_strategies": {"seeds": 2, "grid_changes": [0, 31], "grid_tokens": [200, 1000]},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Runs a notebook, once."""
    results = tmp_path_factory.mktemp("results")
    outcomes = {}

    def run(notebook):
        if notebook not in outcomes:
            entry = default_entry(notebook)
            outcomes[notebook] = run_notebook(
                notebook, SMALL.get(entry), results=results, engine="forked"
            )
        outcome = outcomes[notebook]
        assert outcome.status == "succeeded", (outcome.reason, outcome.error)
        return outcome

    return run


def grouped(notebook):
    """All tests of one notebook in one worker: it runs once."""
    return pytest.param(notebook, marks=pytest.mark.xdist_group(notebook.stem), id=notebook.stem)


each = pytest.mark.parametrize("notebook", [grouped(notebook) for notebook in NOTEBOOKS])


def test_there_are_notebooks():
    assert NOTEBOOKS


@each
def test_it_succeeds_and_records_tables_that_say_something(notebook, ran):
    outcome = ran(notebook)
    manifest = read_manifest(outcome.path / "manifest.json")
    assert manifest.tables
    assert all(table.rows for table in manifest.tables.values())
    assert any(table.metrics for table in manifest.tables.values())
    assert all(chart.alt for chart in manifest.charts.values())


@each
def test_every_claim_that_it_measures_is_measured(notebook, ran):
    outcome = ran(notebook)
    manifest = read_manifest(outcome.path / "manifest.json")
    recorded = {
        name: tables.from_csv(outcome.path / table.path, table.columns)
        for name, table in manifest.tables.items()
    }
    compared = check(outcome.entry, recorded)
    unmeasured = compared[compared["verdict"] == "open"]
    assert not len(unmeasured), unmeasured["note"].tolist()


@each
def test_nothing_of_this_machine_leaks(notebook, ran):
    outcome = ran(notebook)
    places = {f"{REPOSITORY}/", f"{Path.home()}/"}
    for file in sorted(outcome.path.iterdir()):
        if file.suffix in (".csv", ".svg", ".html", ".json"):
            text = file.read_text(encoding="utf-8")
            assert not [place for place in places if place in text], file.name


@each
def test_progress_leaves_nothing_to_read(notebook, ran):
    cells = json.loads((ran(notebook).path / "notebook.ipynb").read_text())["cells"]
    for cell in cells:
        streams = [out for out in cell.get("outputs", []) if out["output_type"] == "stream"]
        written = "".join("".join(stream["text"]) for stream in streams)
        settled = [line.rstrip("\r").rpartition("\r")[2] for line in written.split("\n")]
        assert not "".join(settled).strip(), settled


@each
def test_the_committed_notebook_is_not_touched(notebook, ran):
    before = notebook.read_bytes()
    ran(notebook)
    assert notebook.read_bytes() == before


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_input_is_a_parameter(notebook):
    """A file that is read by a name of its own is no part of what makes two runs the same."""
    declared, code = split_source(notebook)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not node.value.startswith("data/"), node.value
    if "claims" in code:
        assert 'Path = "data/claims.yaml"' in declared


def split_source(notebook):
    """The parameters cell, and the rest of the code."""
    parts = {True: [], False: []}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            tagged = "parameters" in cell["metadata"].get("tags", [])
            parts[tagged].append("".join(cell["source"]))
    return "\n".join(parts[True]), "\n".join(parts[False])


def test_the_default_plan_runs_every_notebook():
    plan = read_plan(REPOSITORY / "notebooks" / "plan.toml")
    assert {step.notebook.name for step in plan.steps} == {path.name for path in NOTEBOOKS}
    for step in plan.steps:
        declared = read_notebook(step.notebook).parameters
        effective(declared, check_values(declared, step.parameters))


def test_every_claim_s_experiment_is_an_entry_that_the_claims_wait_for():
    plan = read_plan(REPOSITORY / "notebooks" / "plan.toml")
    (claims,) = (step for step in plan.steps if step.entry == "claims")
    assert claims == plan.steps[-1]
    assert set(claims.needs) == set(ledger.experiments(load_claims()))


@pytest.fixture(scope="module")
def all_claims(tmp_path_factory):
    """The claims on the accepted runs of the plan, as a batch would leave them."""
    results = tmp_path_factory.mktemp("accepted")
    for entry in set(entries_with_baseline()) - {"claims"}:
        accepted = baseline(entry)
        shutil.copytree(accepted.path, results / entry / accepted.run_id)
    notebook = REPOSITORY / "notebooks" / "11_claims.ipynb"
    needs = ledger.experiments(load_claims())
    outcome = run_notebook(notebook, needs=needs, partial=True, results=results, engine="forked")
    assert outcome.status == "succeeded", (outcome.reason, outcome.error)
    table = read_manifest(outcome.path / "manifest.json").tables["claims"]
    return tables.from_csv(outcome.path / table.path, table.columns).set_index("id")


def test_no_claim_disappears(all_claims):
    assert sorted(all_claims.index) == sorted(claim.id for claim in load_claims())


def test_every_claim_has_its_verdict_and_why(all_claims):
    accepted = entries_with_baseline()
    for claim in load_claims():
        row = all_claims.loc[claim.id]
        place = claim.measured_in
        if place is None:
            assert row["verdict"] in ("open", "live")
        elif place.experiment in accepted:
            assert row["verdict"] not in ("open", "live"), row["why"]
        else:
            assert f"no run of {place.experiment} yet" in row["why"]
        assert row["verdict"] == "reproduced" or row["why"]
