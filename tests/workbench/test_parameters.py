import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.parameters import (
    check_values,
    effective,
    parse_assignments,
    read_parameters,
)

CELL = """\
# What is asked
from pathlib import Path

toolset: Path = ""  # a JSON array of tools; empty: the article's own
seed: int = 7  # of the draws, with a = in it
share: float | None = None  # of the window
orders: list[str] = [
    "raw",
    "canonical",
]  # to compare
note: str = "a # is no comment"
max_tokens: int = -1  # no secret
output_dir: str = ""  # where the run is saved
"""


@pytest.fixture
def declared():
    return read_parameters(CELL, "x.ipynb")


def test_the_cell_is_read_without_running_it(declared):
    assert list(declared) == [
        "toolset", "seed", "share", "orders", "note", "max_tokens", "output_dir",
    ]  # fmt: skip
    assert declared["seed"].meaning == "of the draws, with a = in it"
    assert declared["orders"].meaning == "to compare"
    assert declared["note"].meaning == ""
    assert declared["orders"].default == ["raw", "canonical"]
    assert declared["max_tokens"].default == -1
    assert declared["share"].annotation == "float | None"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("a = 1", "line 1: a parameter is `name: type = literal  # meaning`"),
        ("a: int", "line 1: a parameter is"),
        ("\nprint(1)", "line 2: a parameter is"),
        ("a: int = f()", "`a`: the default is no literal"),
        ("a: int = 1.5", "`a`: 1.5 is not a whole number"),
        ("a: list = (1, 2)\nb: tuple = ()", "line 2"),
        ("a: int = 1\na: int = 2", "line 2: `a` is declared twice"),
        ("a: int = = 1", "not Python"),
        ("%matplotlib inline", "not Python"),
        ("a: Frame = 1", "`Frame` is no type"),
        ('api_key: str = ""', "a secret comes from the environment"),
        ('DB_PASSWORD: str = ""', "a secret comes from the environment"),
        ("a: float = 1e999", "inf is no JSON number"),
    ],
)
def test_a_cell_that_declares_badly_is_named_with_its_line(source, told):
    with pytest.raises(InputError, match=r"^x\.ipynb:parameters cell, line \d+: ") as caught:
        read_parameters(source, "x.ipynb")
    assert told in str(caught.value)


def test_what_is_passed_is_typed(declared):
    passed = parse_assignments(declared, ["seed=11", "note=a=b=c", "share=1", 'orders=["x"]'])
    assert passed == {"seed": 11, "note": "a=b=c", "share": 1.0, "orders": ["x"]}
    values = effective(declared, passed)
    assert list(values) == ["toolset", "seed", "share", "orders", "note", "max_tokens"]
    assert values["seed"] == 11
    assert values["max_tokens"] == -1


@pytest.mark.parametrize(
    ("assignments", "told"),
    [
        (["seed"], "`-p key=value`"),
        (["seed=1", "seed=2"], "given twice"),
        (["sede=1"], "did you mean `seed`?"),
        (["zzz=1"], "no parameter `zzz`; There are toolset, seed"),
        (["seed=true"], "the parameter `seed` is `int`: true is not a whole number"),
        (["output_dir=/tmp"], "set by the runner"),
    ],
)
def test_what_is_passed_wrongly_is_refused(declared, assignments, told):
    with pytest.raises(UsageError) as caught:
        parse_assignments(declared, assignments)
    assert told in str(caught.value)


def test_typed_values_are_checked_the_same_way(declared, tmp_path):
    assert check_values(declared, {"toolset": tmp_path, "share": 2}) == {
        "toolset": str(tmp_path),
        "share": 2.0,
    }
    with pytest.raises(UsageError, match="no parameter `x`"):
        check_values(declared, {"x": 1})


def test_paths_are_checked_where_the_project_stands(declared, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    (tmp_path / "tools.json").touch()
    assert effective(declared, {"toolset": "tools.json"})["toolset"] == "tools.json"
    with pytest.raises(UsageError, match=r"`toolset`: nothing is at .*/none\.json$"):
        effective(declared, {"toolset": "none.json"})
    with pytest.raises(UsageError, match="`make data` fetches it"):
        effective(declared, {"toolset": "data/cache/x.json"})
    for bad in ("x" * 5000, "a\0b"):
        with pytest.raises(UsageError, match="nothing is at"):
            effective(declared, {"toolset": bad})


def test_a_path_that_stands_in_the_working_directory_only_is_told(declared, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path / "root"))
    (tmp_path / "here.json").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="absolute path is needed from elsewhere"):
        effective(declared, {"toolset": "here.json"})


def test_a_path_must_be_a_file_or_a_directory(declared):
    with pytest.raises(UsageError, match="neither a file nor a directory"):
        effective(declared, {"toolset": "/dev/null"})
