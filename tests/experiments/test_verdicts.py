from __future__ import annotations

import pytest

from ctxlab.experiments.verdicts import difference, told, verdict


@pytest.mark.parametrize(
    ("kind", "stated", "measured", "unit", "expected"),
    [
        ("exact", 2, 2, "", "reproduced"),
        ("exact", 2, 3, "", "differs"),
        ("exact", 48, 48.33, "percent", "reproduced"),
        ("exact", 16.3, 16.34, "percent", "reproduced"),
        ("exact", 16.3, 16.36, "percent", "differs"),
        ("exact", 1.25, 1.3, "", "differs"),
        ("exact", 0, 0, "bytes", "reproduced"),
        ("exact", [99, 59], [99, 59], "", "reproduced"),
        ("exact", [99, 59], [99], "", "differs"),
        ("exact", {"a": 5, "b": 4}, {"a": 5, "b": 4}, "", "reproduced"),
        ("exact", {"a": 5, "b": 4}, {"a": 5, "b": 0}, "", "differs"),
        ("simulated", 2, 2, "", "reproduced"),
        ("given", 128000, 128000, "tokens", "reproduced"),
        ("price", 1.25, 5.0, "USD/MTok", "differs"),
        ("price", {"openai": "5-10 min"}, {"openai": "5-10 min"}, "", "reproduced"),
        ("external", 75, 75, "percent", "external"),
        ("direction", 38610, 38610, "bytes", "reproduced"),
        ("direction", 38610, 61230, "bytes", "direction"),
        ("direction", 38610, 0, "bytes", "differs"),
        ("direction", 38610, -5, "bytes", "differs"),
        ("direction", 38610, 386101, "bytes", "differs"),
        ("direction", 10, 1.4, "ratio", "direction"),
        ("direction", 10, 0.9, "ratio", "differs"),
        ("direction", {"tag": 9, "grep": 4}, {"tag": 800, "grep": 300}, "", "direction"),
        ("direction", {"tag": 9, "grep": 4}, {"tag": 300, "grep": 800}, "", "differs"),
        ("direction", {"tag": 9, "grep": 4}, {"tag": 3, "grep": -1}, "", "differs"),
        ("direction", None, True, "", "direction"),
        ("direction", None, False, "", "differs"),
        ("direction", None, 0.4, "", "direction"),
        ("direction", None, 0.0, "", "differs"),
        ("live", 65, 20, "percent", "direction"),
        ("live", 65, None, "percent", "live"),
        ("external", 65, None, "percent", "open"),
        ("exact", 65, None, "percent", "open"),
    ],
)
def test_verdict(kind, stated, measured, unit, expected):
    assert verdict(kind, (stated, None), (measured, None), unit) == expected


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ((1, 40), "reproduced"),
        ((7, 40), "direction"),
        ((20, 40), "differs"),
        ((1, 30), "direction"),
    ],
)
def test_a_part_of_a_whole_points_the_same_way_on_the_same_side_of_half(measured, expected):
    assert verdict("direction", (1, 40), measured) == expected


def test_the_whole_must_agree_too():
    assert verdict("exact", (2, 12), (2, 11)) == "differs"


def test_told_is_what_a_reader_expects():
    assert told({"tag": 5275.4, "grep": 516.6, "change": -55.5}) == (
        "tag 5,275.4, grep 516.6, change -55.5"
    )
    assert told(3.0) == "3"
    assert told("daaf5a27") == "daaf5a27"
    assert told(0.125) == "0.125"


def test_difference_names_what_differs_and_nothing_else():
    assert difference({"a": 5, "b": 4}, {"a": 5, "b": 1}) == "b: 4, measured 1"
    assert difference(5, 4) == ""


def test_a_whole_float_is_exact_to_its_decimal():
    assert verdict("price", (1.0, None), (1.25, None)) == "differs"
    assert verdict("price", (2.0, None), (2.04, None)) == "reproduced"
    assert verdict("price", (2, None), (2.25, None)) == "reproduced"
