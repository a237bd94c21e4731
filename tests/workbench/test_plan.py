import pytest

from ctxlab.errors import InputError
from ctxlab.workbench.order import by_urgency
from ctxlab.workbench.plan import Step, read_plan, step_beside

PLAN = """
[[run]]
notebook = "01_a.ipynb"
[[run]]
notebook = "01_a.ipynb"
entry = "a_real"
parameters = { toolset = "x.json", seeds = [1, 2] }
[[run]]
notebook = "sub/11_c.ipynb"
needs = ["a", "a_real", "a"]
"""


@pytest.fixture
def plan(tmp_path):
    def write(text):
        path = tmp_path / "plan.toml"
        path.write_text(text)
        return path

    return write


def test_a_plan_is_read(plan, tmp_path):
    steps = read_plan(plan(PLAN)).steps
    assert [step.entry for step in steps] == ["a", "a_real", "c"]
    assert [step.place for step in steps] == ["run[0]", "run[1]", "run[2]"]
    assert steps[0].notebook == tmp_path / "01_a.ipynb"
    assert steps[1].parameters == {"toolset": "x.json", "seeds": [1, 2]}
    assert steps[2].needs == ("a", "a_real")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("run = [", "plan.toml: no TOML: Invalid value (at end of document)"),
        ("", "a plan is one or more tables `[[run]]`"),
        ("run = 1", "a plan is one or more tables `[[run]]`"),
        ("[[runs]]", "plan.toml: no key `runs`; did you mean `run`?"),
        ("[[run]]\nnotbook = 'x'", "plan.toml:run[0]: no key `notbook`; did you mean `notebook`?"),
        ("[[run]]\nentry = 'x'", "plan.toml:run[0]: `notebook` is missing"),
        ("[[run]]\nnotebook = 1", "plan.toml:run[0]: `notebook` is text"),
        ("[[run]]\nnotebook = 'x'\nneeds = 'y'", "run[0]: `needs` is a list of entries"),
        ("[[run]]\nnotebook = 'x'\nneeds = [1]", "run[0]: `needs` is a list of entries"),
        ("[[run]]\nnotebook = 'x'\nparameters = []", "run[0]: `parameters` is a table"),
        ("[[run]]\nnotebook = 'x'\nentry = 'a/b'", "run[0]: an entry is named with letters"),
        ("[[run]]\nnotebook = '1_baseline.ipynb'", "run[0]: 'baseline' is the accepted runs' own"),
        (
            "[[run]]\nnotebook = '1_x.ipynb'\n[[run]]\nnotebook = '2_x.ipynb'",
            "run[1]: the entry 'x' is run[0]'s already",
        ),
        (
            "[[run]]\nnotebook = 'abc'\n[[run]]\nnotebook = 'x'\nneeds = ['abd']",
            "run[1]: needs 'abd', which is no entry of this plan; did you mean 'abc'?",
        ),
        ("[[run]]\nnotebook = 'a'\nneeds = ['a']", "plan.toml: a circle: a needs a"),
        (
            "[[run]]\nnotebook = 'a'\nneeds = ['b']\n[[run]]\nnotebook = 'b'\nneeds = ['a']",
            "plan.toml: a circle: ",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(plan, text, told):
    with pytest.raises(InputError) as caught:
        read_plan(plan(text))
    assert told in str(caught.value)


def test_no_plan_and_no_text_are_told(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="no TOML"):
        read_plan(tmp_path / "plan.toml")


def test_a_notebook_beside_a_plan_needs_what_the_plan_says(plan, tmp_path):
    assert step_beside(tmp_path / "01_a.ipynb", "a") == Step("a", tmp_path / "01_a.ipynb")
    plan(PLAN + "partial = true\n")
    found = step_beside(tmp_path / "x.ipynb", "c")
    assert (found.needs, found.partial) == (("a", "a_real"), True)
    assert step_beside(tmp_path / "x.ipynb", "other").needs == ()


def step(entry, *needs):
    return Step(entry, None, needs)


@pytest.mark.parametrize(
    ("steps", "seconds", "order"),
    [
        ([step("a"), step("b"), step("c")], {"a": 1, "b": 3, "c": 2}, "bca"),
        ([step("a"), step("b"), step("c", "a")], {"a": 1, "b": 3, "c": 5}, "acb"),
        ([step("a"), step("b")], {}, "ab"),
        ([step("a"), step("b"), step("c")], {"a": 1, "c": 2}, "bca"),
        ([step("d", "a", "b", "c"), step("a"), step("b"), step("c")], {"b": 9, "a": 1}, "bcad"),
    ],
)
def test_what_the_end_waits_for_longest_goes_first(steps, seconds, order):
    assert by_urgency(steps, seconds) == list(order)
