import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.workbench import shown

LONG = ["claude-3-sonnet-20240229", "claude-sonnet-4", "claude-sonnet-4-5", "claude-opus-4-5"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("0.10114619999999999", "0.12931575", ("0.1011", "0.1293")),
        ("100", "1234567", ("100", "1,234,567")),
        ("12345.678901", "12345.678902", ("12,345.678901", "12,345.678902")),
        ("-0.30000000000000004", "0.0", ("-0.3", "0.0")),
        ("1.2345678901e-12", "inf", ("1.2345678901e-12", "inf")),
        ("3.10", "3.11", ("3.10", "3.11")),
    ],
)
def test_numbers_have_the_digits_that_tell_them_apart(before, after, told):
    assert shown.cells(before, after) == told


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_numbers_that_differ_are_never_shown_alike(before, after):
    old, new = shown.cells(repr(before), repr(after))
    assert old != new or before == after
    assert max(len(old), len(new)) <= shown.WIDTH


def test_an_input_that_is_text_stays_text():
    assert shown.values("20261130", "20261201") == ("20261130", "20261201")
    assert shown.values(0.1 + 0.2, 0.4) == ("0.3", "0.4")
    assert shown.values(1000000, 2000000) == ("1000000", "2000000")


def test_a_list_that_changes_at_its_end_shows_its_end():
    before, after = shown.values(LONG, [*LONG, "claude-opus-4-6"])
    assert before != after
    assert after.endswith('"claude-opus-4-6"]')
