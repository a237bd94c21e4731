import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.tables import from_csv, kinds, prepared, to_csv

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def round_trip(frame, folder):
    path = folder / "t.csv"
    path.write_bytes(to_csv(frame))
    return from_csv(path, kinds(frame))


@given(rows=st.lists(st.tuples(TEXT, st.floats(), st.integers(-(2**63), 2**63 - 1), st.booleans())))
def test_what_is_saved_comes_back(rows, tmp_path_factory):
    frame = pd.DataFrame(rows, columns=["text", "float", "int", "bool"])
    frame = frame.astype({"float": "float64", "int": "int64", "bool": "bool", "text": "str"})
    back = round_trip(frame, tmp_path_factory.mktemp("t"))
    pd.testing.assert_frame_equal(back, frame, check_exact=True)


def test_missing_values_come_back_as_missing(tmp_path):
    frame = pd.DataFrame(
        {
            "cause": ["x", None, "NA"],
            "turn": pd.array([1, None, 3], dtype="Int64"),
            "ok": pd.array([True, None, False], dtype="boolean"),
            "when": [pd.Timestamp("2026-11-01"), pd.NaT, pd.Timestamp("2026-11-02T03:04:05")],
            "any": ["x", 1, None],
        }
    )
    assert kinds(frame) == {
        "cause": "str?", "turn": "int?", "ok": "bool?", "when": "time?", "any": "mixed",
    }  # fmt: skip
    back = round_trip(frame, tmp_path)
    assert back["cause"].isna().tolist() == [False, True, False]
    assert back["cause"][2] == "NA"
    assert back["turn"].dtype == "Int64"
    assert back["ok"].tolist()[0] is True
    assert back["when"][2] == frame["when"][2]
    assert back["any"].tolist()[:2] == ["x", "1"]


def test_the_bytes_are_what_they_are():
    frame = pd.DataFrame(
        {
            "a": ["x,y", 'say "hi"', "two\nlines", "ret\rurn", "", " lead", "é"],
            "b": [0.1, 1e-7, 3.0, -0.0, math.inf, math.nan, 1 / 3],
        }
    )
    assert to_csv(frame).decode() == (
        'a,b\n"x,y",0.1\n"say ""hi""",1e-07\n"two\nlines",3.0\n"ret\rurn",-0.0\n"",inf\n'
        '" lead",\né,0.3333333333333333\n'
    )


def test_undecodable_text_stays_visible():
    assert to_csv(pd.DataFrame({"path": ["a\udc80"]})) == b"path\na\\udc80\n"


def test_times_keep_their_zone(tmp_path):
    frame = pd.DataFrame(
        {"when": [pd.Timestamp("2026-11-01T02:03:04Z")], "day": [dt.date(2026, 1, 2)]}
    )
    assert to_csv(frame) == b"when,day\n2026-11-01T02:03:04+00:00,2026-01-02\n"
    assert round_trip(frame, tmp_path)["when"][0] == frame["when"][0]


def test_objects_of_numbers_are_numbers():
    frame = pd.DataFrame({"a": [1, 2.5], "b": [1, 2], "c": [True, False]}, dtype=object)
    assert kinds(frame) == {"a": "float", "b": "int", "c": "bool"}
    assert kinds(pd.DataFrame({"n": np.array([1], dtype="uint8")})) == {"n": "int"}
    assert kinds(pd.DataFrame({"n": []}, dtype=object)) == {"n": "str"}
    assert kinds(pd.DataFrame({"n": pd.Categorical(["a", "b"])})) == {"n": "str"}


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}, 1j, b"x", dt.timedelta(1)])
def test_nested_values_are_refused(value):
    with pytest.raises(UsageError, match="column 'v': a table holds text"):
        kinds(pd.DataFrame({"v": pd.Series([value], dtype=object)}))


def test_empty_text_beside_missing_values_is_refused():
    with pytest.raises(UsageError, match="choose one"):
        kinds(pd.DataFrame({"v": ["", None]}))


def test_a_named_index_becomes_columns_and_a_numbering_goes():
    frame = pd.DataFrame({"n": [1, 2, 3]}, index=pd.Index(["a", "b", "c"], name="k"))
    assert list(prepared("t", frame, ["k"]).columns) == ["k", "n"]
    assert list(prepared("t", frame.reset_index()[1:], ["k"]).columns) == ["k", "n"]


@pytest.mark.parametrize(
    ("frame", "key", "told"),
    [
        ([1], ["a"], "a DataFrame is recorded, not list"),
        (pd.DataFrame({"a": [1]}, index=["x"]), ["a"], "the index would be lost"),
        (pd.DataFrame({"a": [1]}, index=pd.Index([1], name="a")), ["a"], "is a column too"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"], "columns a stand twice"),
        (pd.DataFrame([[1]]), [0], "each column has a name"),
        (pd.DataFrame(), ["a"], "each column has a name"),
        (pd.DataFrame({"a": [1]}), "a", "key is a list"),
        (pd.DataFrame({"a": [1]}), [], "key is a list"),
        (pd.DataFrame({"a": [1]}), ["b"], "no column 'b' for the key"),
        (pd.DataFrame({"a": [1, None]}), ["a"], "has missing values"),
        (pd.DataFrame({"a": [1, 2, 1]}), ["a"], "does not tell 1 rows apart, the first is a="),
    ],
)
def test_frames_that_are_no_tables_are_refused(frame, key, told):
    with pytest.raises(UsageError, match=r"^table t: ") as caught:
        prepared("t", frame, key)
    assert told in str(caught.value)


def test_a_file_that_is_not_the_saved_table_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    with pytest.raises(InputError, match="not the table that was saved"):
        from_csv(path, {"a": "int"})
    path.write_text("a,b\nx,1\n")
    with pytest.raises(InputError, match="not the table that was saved"):
        from_csv(path, {"a": "int", "b": "int"})
    with pytest.raises(InputError, match="its columns are not c, a"):
        from_csv(path, {"c": "int", "a": "str"})


def test_kinds_may_come_in_another_order_than_the_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("b,a\n007,1\n")
    frame = from_csv(path, {"a": "int", "b": "str"})
    assert frame.to_dict("list") == {"b": ["007"], "a": [1]}
    assert list(frame.columns) == ["b", "a"]
