import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import InputError
from ctxlab.workbench.compare import compare_runs
from ctxlab.workbench.manifest import Datum, Environment, Source
from ctxlab.workbench.rules import Rule
from ctxlab.workbench.verdicts import judge
from tests.workbench.runs import write_run

LOWER = {"tokens": Rule("lower", relative=0.1)}


def rows(**tokens):
    return [{"step": step, "tokens": value} for step, value in tokens.items()]


def compared(tmp_path, before, after, metrics=LOWER, **changes):
    old = write_run(tmp_path, days=0, tables={"steps": (before, ["step"], metrics)})
    new = write_run(tmp_path, days=1, tables={"steps": (after, ["step"], metrics)}, **changes)
    return compare_runs(old, new)


def test_every_row_is_joined_on_its_key_whatever_its_place(tmp_path):
    before = rows(same=100, noise=100, better=100, worse=100, missing=1)
    after = rows(new=1, worse=111, better=80, noise=109, same=100)
    found = compared(tmp_path, before, after)
    assert {row.key: row.verdict for row in found.rows} == {
        "better": "better",
        "worse": "worse",
        "new": "new",
        "missing": "missing",
    }
    assert found.counts == {"same": 2, "better": 1, "worse": 1, "new": 1, "missing": 1}
    worse = next(row for row in found.rows if row.key == "worse")
    assert (worse.cells[0].before, worse.cells[0].after) == ("100", "111")
    assert found.bad


def test_equal_runs_are_the_same_row_by_row_and_not_bad(tmp_path):
    found = compared(tmp_path, rows(a=1, b=2), rows(a=1, b=2))
    assert (found.rows, found.counts, found.bad) == ((), {"same": 2}, False)


def test_only_new_and_better_rows_are_not_bad(tmp_path):
    assert not compared(tmp_path, rows(a=100), rows(a=10, b=1)).bad


def test_a_whole_table_may_be_new_or_missing(tmp_path):
    old = write_run(tmp_path, days=0, tables={"one": (rows(a=1), ["step"], LOWER)})
    new = write_run(tmp_path, days=1, tables={"two": (rows(a=1), ["step"], LOWER)})
    found = compare_runs(old, new)
    assert {(row.table, row.verdict) for row in found.rows} == {("one", "missing"), ("two", "new")}


def test_a_notebook_whose_source_differs_is_not_comparable_and_not_bad(tmp_path):
    changed = Source("notebooks/01_entry.ipynb", "d" * 64)
    found = compared(tmp_path, rows(a=1, b=1, c=1), rows(a=1, b=9), notebook=changed)
    assert found.counts == {"same": 1, "not comparable": 2}
    assert not found.bad
    assert [change.what for change in found.inputs] == ["notebook.source_sha256"]


def test_what_differs_in_the_inputs_is_named_by_its_path_in_the_manifest(tmp_path):
    found = compared(
        tmp_path,
        rows(a=1),
        rows(a=1),
        parameters={"seed": 2, "fresh": True},
        environment=Environment("3.12.1", "b" * 64, {"pandas": "3.2.0"}),
    )
    assert [(c.what, c.before, c.after) for c in found.inputs] == [
        ("parameters.fresh", None, True),
        ("parameters.seed", 1, 2),
        ("environment.python", "3.11.7", "3.12.1"),
        ("environment.packages.pandas", "3.1.1", "3.2.0"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "verdict", "bad"),
    [
        ("succeeded", "failed", "failed", True),
        ("failed", "succeeded", "fixed", False),
        ("failed", "failed", "failed", True),
    ],
)
def test_a_failure_stands_for_the_whole_run(tmp_path, before, after, verdict, bad):
    table = {"steps": (rows(a=1), ["step"], LOWER)}
    old = write_run(tmp_path, days=0, status=before, tables=table)
    new = write_run(tmp_path, days=1, status=after)
    found = compare_runs(old, new)
    assert [row.verdict for row in found.rows] == [verdict]
    assert found.bad == bad


@pytest.mark.parametrize("better", ["exact", "lower", "higher"])
def test_text_that_changed_is_worse_where_it_is_compared_and_same_where_not(tmp_path, better):
    assert judge(Rule(better), ["safe"], ["lost"]).verdict == "worse"
    assert judge(Rule("none"), ["safe"], ["lost"]).verdict == "same"
    assert judge(Rule(better), ["1"], [""]).verdict == "worse"


def measured(*seconds):
    return [
        {"case": "a", "repeat": number, "seconds": value} for number, value in enumerate(seconds)
    ]


def repeats(tmp_path, before, after):
    metrics = {"seconds": Rule("lower", relative=0.1)}
    table = [{"t": (measured(*side), ["case", "repeat"], metrics)} for side in (before, after)]
    old, new = (write_run(tmp_path, days=day, tables=table[day]) for day in (0, 1))
    return compare_runs(old, new)


def test_five_repeats_are_one_row_and_need_a_rank_test_besides_the_threshold(tmp_path):
    noisy = repeats(tmp_path / "noisy", [1, 5, 1, 5, 1], [5, 1, 5, 1, 5])
    assert noisy.counts == {"same": 0, **noisy.counts}
    assert not noisy.bad
    slower = repeats(tmp_path / "slower", [1.0, 1.1, 1.05, 1.02, 1.07], [2.0, 2.1, 2.2, 2.05, 2.01])
    assert [row.verdict for row in slower.rows] == ["worse"]
    assert "rank test p=0.0" in slower.rows[0].cells[0].note
    assert slower.rows[0].cells[0].after == "median 2.05 of 5"


def test_fewer_repeats_are_judged_by_the_threshold_alone_which_is_said(tmp_path):
    found = repeats(tmp_path, [1, 1, 1], [2, 2, 2])
    assert found.rows[0].verdict == "worse"
    assert found.rows[0].cells[0].note.startswith("by the threshold alone: 3 repeats")


@given(
    st.floats(0.1, 1e6), st.floats(0.1, 1e6), st.floats(0, 10), st.floats(0, 1),
)  # fmt: skip
def test_lower_and_higher_are_mirrors_and_a_wider_threshold_never_finds_more(
    old, new, absolute, relative
):
    lower = judge(Rule("lower", absolute, relative), [repr(old)], [repr(new)]).verdict
    higher = judge(Rule("higher", absolute, relative), [repr(old)], [repr(new)]).verdict
    assert {lower, higher} in ({"same"}, {"better", "worse"})
    if lower == "same":
        assert (
            judge(Rule("lower", absolute * 2, relative), [repr(old)], [repr(new)]).verdict == "same"
        )


def test_a_single_measured_value_is_judged_by_the_threshold_alone_which_is_said():
    assert judge(Rule("lower"), ["1"], ["2"]).note == ""
    note = judge(Rule("lower"), ["1"], ["2"], measured=True).note
    assert note == "by the threshold alone: 1 repeat is too few to test"


def test_the_last_digits_of_a_sum_are_no_change():
    total, other = repr(sum([0.1] * 10)), "1.0"
    assert total != other
    for better in ("exact", "lower", "higher"):
        assert judge(Rule(better), [other], [total]).verdict == "same"
    assert judge(Rule("exact"), ["1000000"], ["1000001"]).verdict == "worse"


def test_measured_times_of_another_machine_are_not_comparable_the_rest_is(tmp_path):
    metrics = {"seconds": Rule("lower", relative=0.1)}
    for day, seconds in ((0, 1), (1, 9), (2, 9)):
        times = [{"case": "a", "seconds": seconds}]
        path = write_run(
            tmp_path,
            days=day,
            tables={
                "times": (times, ["case"], metrics),
                "steps": (rows(a=100 * seconds), ["step"], LOWER),
            },
            machine={"system": "Linux", "processor": "this" if day < 2 else "other", "cpus": 2},
        )
        manifest = json.loads((path / "manifest.json").read_text())
        manifest["tables"]["times"]["measured"] = True
        (path / "manifest.json").write_text(json.dumps(manifest))
    first, same, other = sorted((tmp_path / "entry").iterdir())
    assert {row.table: row.verdict for row in compare_runs(first, same).rows} == {
        "times": "worse",
        "steps": "worse",
    }
    assert {row.table: row.verdict for row in compare_runs(first, other).rows} == {
        "times": "not comparable",
        "steps": "worse",
    }


@pytest.mark.parametrize(
    ("path", "verdict"), [("data/cache/toolsets/x.json", "not comparable"), ("x.json", "worse")]
)
def test_what_was_fetched_and_moved_by_itself_makes_nothing_worse(tmp_path, path, verdict):
    table = {"steps": (rows(a=1), ["step"], LOWER)}
    old = write_run(tmp_path, days=0, tables=table, data=[Datum(path, "a" * 64, 1)])
    table = {"steps": (rows(a=9), ["step"], LOWER)}
    new = write_run(tmp_path, days=1, tables=table, data=[Datum(path, "b" * 64, 1)])
    found = compare_runs(old, new)
    assert [row.verdict for row in found.rows] == [verdict]
    assert [change.what for change in found.inputs] == [f"data.{path}"]


def test_another_key_leaves_no_row_a_partner(tmp_path):
    old = write_run(tmp_path, days=0, tables={"t": ([{"a": 1, "v": 1}], ["a"], {})})
    new = write_run(tmp_path, days=1, tables={"t": ([{"b": 1, "v": 1}], ["b"], {})})
    assert compare_runs(old, new).counts == {"missing": 1, "new": 1}


def test_repeated_cells_that_are_no_numbers_are_told_as_they_are(tmp_path):
    metrics = {"said": Rule("exact")}
    for day, said in enumerate(("a", "b")):
        table = [{"case": "x", "repeat": n, "said": said} for n in range(2)]
        write_run(tmp_path, days=day, tables={"t": (table, ["case", "repeat"], metrics)})
    found = compare_runs(*sorted((tmp_path / "entry").iterdir()))
    assert (found.rows[0].cells[0].before, found.rows[0].cells[0].after) == ("a, a", "b, b")


def test_a_table_that_is_not_as_recorded_is_told_with_its_path(tmp_path):
    old = write_run(tmp_path, days=0, tables={"steps": (rows(a=1), ["step"], LOWER)})
    new = write_run(tmp_path, days=1, tables={"steps": (rows(a=2), ["step"], LOWER)})
    (new / "steps.csv").write_text("other\n1\n")
    with pytest.raises(InputError, match=r"steps\.csv: the table is not as its manifest says"):
        compare_runs(old, new)
    (new / "steps.csv").write_text("step,tokens\na\n")
    with pytest.raises(InputError, match=r"steps\.csv: .*a row lacks fields"):
        compare_runs(old, new, verify=False)
    (new / "steps.csv").unlink()
    with pytest.raises(InputError, match=r"steps\.csv"):
        compare_runs(old, new)


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(InputError, match=r"manifest\.json"):
        compare_runs(tmp_path, tmp_path)


def test_a_table_that_was_changed_since_is_no_table_of_the_run(tmp_path):
    tables = {"steps": (rows(a=1, b=2), ["step"], LOWER)}
    old, new = (write_run(tmp_path, days=day, tables=tables) for day in (0, 1))
    (new / "steps.csv").write_text("step,tokens\na,7\nb,2\n")
    with pytest.raises(InputError, match=r"steps\.csv: the table is not as its manifest says"):
        compare_runs(old, new)
    (new / "steps.csv").unlink()
    with pytest.raises(InputError, match=r"steps\.csv: the table is not as its manifest says"):
        compare_runs(old, new)
    assert compare_runs(old, new, verify=False).counts == {"same": 2}
