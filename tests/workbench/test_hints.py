from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.workbench import hints
from ctxlab.workbench.hints import Misfit

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        ("int", "3", 3),
        ("float", "3", 3.0),
        ("float", "1e3", 1000.0),
        ("bool", "true", True),
        ("str", "true", "true"),
        ("str", "", ""),
        ("str", '"quoted"', '"quoted"'),
        ("Path", "a b.json", "a b.json"),
        ("pathlib.Path", "x", "x"),
        ("list", "[1, [2]]", [1, [2]]),
        ("list[str]", '["a"]', ["a"]),
        ("dict", '{"a": 1}', {"a": 1}),
        ("dict[str, float]", '{"a": 1}', {"a": 1.0}),
        ("float | None", "null", None),
        ("float | None", "2", 2.0),
        ("Optional[int]", "2", 2),
        ("int | float", "2", 2),
        ("int | float", "2.5", 2.5),
        ("str | None", "null", None),
        ("str | None", "NULL", "NULL"),
        ("int | str", "2", 2),
        ("int | str", "two", "two"),
        ("Literal['a', 'b']", "a", "a"),
        ("Literal[1, 2] | None", "2", 2),
        ("typing.Literal['1', 1]", "1", 1),
        ("'int'", "1", 1),
    ],
)
def test_text_of_the_command_line_becomes_a_typed_value(hint, text, value):
    read = hints.read(hints.parse(hint), text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("hint", "text", "told"),
    [
        ("int", "true", "true is not a whole number"),
        ("int", "3.0", "3.0 is not a whole number"),
        ("int", "abc", '"abc" is not JSON; it takes a whole number'),
        ("float", "true", "true is not a number"),
        ("float", "NaN", "is not JSON"),
        ("float", "1e999", "inf is no JSON number"),
        ("float", "1" + "0" * 400, "too large"),
        ("bool", "1", "1 is not true or false"),
        ("bool", "True", "is not JSON"),
        ("list[int]", "[1, true]", "true is not a whole number"),
        ("list", "{}", "is not a list"),
        ("dict", "[]", "is not an object"),
        ("Literal['a', 'b']", "c", '"c" is not one of "a", "b"'),
        ("Literal[1]", "true", "true is not one of 1"),
        ("float | None", "x", "it takes a number or null"),
        ("int", "9" * 5000, "is not JSON"),
        ("list", "[" * 100_000, "is not JSON"),
        ("str", "\udcff", "not valid UTF-8"),
    ],
)
def test_text_that_does_not_fit_is_refused_in_words(hint, text, told):
    with pytest.raises(Misfit) as caught:
        hints.read(hints.parse(hint), text)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize(
    "hint", ["tuple", "set[int]", "Frame", "dict[int, str]", "list[Frame]", "f()", "1", "int[str]"]
)
def test_a_type_that_no_parameter_has_is_refused(hint):
    with pytest.raises(Misfit):
        hints.parse(hint)


@pytest.mark.parametrize(
    ("hint", "value", "fitted"),
    [
        ("int", np.int64(3), 3),
        ("float", np.float32(0.5), 0.5),
        ("bool", np.True_, True),
        ("list[int]", np.arange(3), [0, 1, 2]),
        ("list", (1, Path("x")), [1, "x"]),
        ("Path", Path("a") / "b", "a/b"),
        ("str", Path("a"), "a"),
    ],
)
def test_values_from_python_become_json(hint, value, fitted):
    assert hints.fit(hints.parse(hint), value) == fitted
    assert type(hints.fit(hints.parse(hint), value)) is type(fitted)


@pytest.mark.parametrize("value", [{1}, {1: 2}, float("nan"), object(), b"x", 1j])
def test_values_that_json_has_not_are_refused(value):
    with pytest.raises(Misfit):
        hints.as_json(value)


@given(JSON)
def test_json_values_are_what_they_were(value):
    assert hints.as_json(value) == value


@given(JSON, st.sampled_from(["int", "float", "bool", "str", "list", "dict", "None"]))
def test_a_value_fits_at_most_one_plain_type_but_whole_numbers_fit_float(value, hint):
    own = "None" if value is None else type(value).__name__
    fits = own == hint or (own == "int" and hint == "float" and abs(value) < 1e300)
    assert hints._fits(hints.parse(hint), value) == fits


@pytest.mark.parametrize(
    ("hint", "value", "paths"),
    [
        ("Path", "a", ["a"]),
        ("Path", "", []),
        ("str", "a", []),
        ("Path | None", None, []),
        ("Path | None", "a", ["a"]),
        ("list[Path]", ["a", "", "b"], ["a", "b"]),
        ("dict[str, Path]", {"y": "b", "x": "a"}, ["a", "b"]),
        ("list[int]", [1], []),
        ("Literal['none'] | Path", "none", []),
    ],
)
def test_the_paths_in_a_value(hint, value, paths):
    assert list(hints.paths(hints.parse(hint), value)) == paths
