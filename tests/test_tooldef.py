from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import UsageError
from ctxlab.tooldef import call, definition


def sample(
    path: str,
    limit: Annotated[int, {"minimum": 1}] = 10,
    mode: Literal["head", "tail"] = "head",
    names: list[str] | None = None,
    *,
    deep: bool = False,
) -> str:
    """Give lines of a file.

    Use it before an edit; it is
    cheap:
    - one item
    - another

    Args:
        path: The file, relative to the root
            or absolute.
        limit (int): Lines: at least 1.
        mode: Which end.
        names: Names to leave out.
        deep: Follow folders.

    Returns:
        secret: the text.
    """
    return repr((path, limit, mode, names, deep))


def sorted_keys(value: Any) -> bool:
    if isinstance(value, dict):
        return list(value) == sorted(value) and all(sorted_keys(item) for item in value.values())
    return all(sorted_keys(item) for item in value) if isinstance(value, list) else True


def test_the_definition_says_what_signature_and_docstring_say():
    found = definition(sample)
    assert found["name"] == "sample"
    assert found["description"] == (
        "Give lines of a file.\n\nUse it before an edit; it is cheap:\n- one item\n- another"
    )
    schema = found["input_schema"]
    assert schema["required"] == ["path"]
    assert schema["properties"]["path"] == {
        "description": "The file, relative to the root or absolute.",
        "type": "string",
    }
    assert schema["properties"]["limit"]["description"] == "Lines: at least 1."
    assert schema["properties"]["mode"]["enum"] == ["head", "tail"]
    assert schema["properties"]["names"]["items"] == {"type": "string"}
    assert "default" not in schema["properties"]["names"]
    assert schema["properties"]["deep"]["default"] is False


def test_the_definition_is_canonical():
    assert sorted_keys(definition(sample))
    assert json.dumps(definition(sample)) == json.dumps(definition(sample), sort_keys=True)


def test_a_method_leaves_self_out():
    class Holder:
        def tool(self, path: str) -> str:
            """Do it.

            Args:
                path: The file.
            """
            return f"did {path}"

    held = Holder().tool
    assert list(definition(held)["input_schema"]["properties"]) == ["path"]
    assert call(held, {"path": "x"}) == "did x"


def test_an_argument_without_a_description_is_refused():
    def bare(path: str) -> str:
        """Do it."""
        return path

    with pytest.raises(UsageError, match=r"bare\(path\): no description"):
        definition(bare)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "sample: arguments must be one JSON object, not an array; it takes path (string)"),
        (None, "one JSON object, not null"),
        ("path", 'one JSON object, not the string "path"'),
        ({}, "the argument path is missing; it takes path (string), deep (boolean, optional)"),
        ({"path": "a", "file": 1}, 'no argument "file"; it takes path (string)'),
        ({1: 2}, "no argument 1; it takes"),
        ({"path": 3}, "path must be a string, not the number 3"),
        ({"path": "a", "limit": "5"}, 'limit must be a whole number, not the string "5"; leave it'),
        ({"path": "a", "limit": None}, "not null; leave it out for 10"),
        ({"path": "a", "limit": True}, "not the boolean true"),
        ({"path": "a", "limit": 1.5}, "a whole number, not the number 1.5"),
        ({"path": "a", "limit": float("nan")}, "a whole number, not the number NaN"),
        ({"path": "a", "limit": 0}, "limit must be at least 1, not 0"),
        ({"path": "a", "limit": 10**5000}, "within ±2**53"),
        ({"path": "a", "mode": "mid"}, 'mode must be one of "head", "tail", not "mid"'),
        ({"path": "a", "names": ["x", 1]}, "names[1] must be a string, not the number 1"),
        ({"path": "a", "deep": 10**5000}, "true or false, not a very large number"),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(arguments: Any, told: str):
    with pytest.raises(UsageError) as refused:
        call(sample, arguments)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_whole_floats_are_integers():
    assert call(sample, {"path": "a", "limit": 5.0}) == "('a', 5, 'head', None, False)"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
named = st.dictionaries(
    st.sampled_from(["path", "limit", "mode", "names", "deep", "x"]), json_values
)


@given(json_values | named)
def test_no_json_value_does_worse_than_a_usage_error(arguments: Any):
    try:
        call(sample, arguments)
    except UsageError as error:
        str(error).encode()
