from __future__ import annotations

import pandas as pd
import pytest
import yaml

from ctxlab.errors import InputError, UsageError
from ctxlab.experiments.claims import (
    COLUMNS,
    Claim,
    MeasuredIn,
    check,
    compare,
    load_claims,
    stated,
)
from tests.conftest import REPOSITORY

BASE = "id: a, document: tool-design, kind: exact, statement: s"

# A claim may gain a place where it is measured; it never disappears silently.
IDS = """
reg-mutations reg-safe reg-mean reg-breakpoint reg-orderings reg-property-orderings
reg-false-invalidation reg-session-a reg-session-b reg-resent reg-core-fingerprint
reg-breakpoint-position
reg-layout-small reg-layout-large reg-layout-permissions reg-layout-generated
des-quota des-grep-mean des-grep-p50 des-grep-p95 des-grep-total des-price-sonnet des-price-gpt
des-price-gemini des-discount des-write des-minimum des-low-rate des-timestamp des-latency
des-tool-share des-in-out des-ttl des-openai-write des-resellers des-read-limits
res-fraction res-budget res-lossless
sea-default sea-range sea-auto sea-always-load sea-results sea-description-cut sea-prefix
sea-threshold sea-repeat
""".split()  # noqa: SIM905  one name after the other is what is read here


def test_no_claim_has_disappeared():
    assert sorted(claim.id for claim in load_claims()) == sorted(IDS)


def test_the_figures_are_those_that_were_handed_over():
    given = yaml.safe_load(shared_file("claims.yaml").read_text(encoding="utf-8"))["claims"]
    ours = {claim.id: claim for claim in load_claims()}
    for claim in given:
        own = ours[claim["id"]]
        assert (own.value, own.of) == (claim.get("value"), claim.get("of")), claim["id"]
        assert (own.document, own.kind) == (claim["document"], claim["kind"]), claim["id"]


def shared_file(name):
    for folder in (REPOSITORY.parent, REPOSITORY.parent.parent):
        if (folder / "shared" / name).exists():
            return folder / "shared" / name
    pytest.skip(f"no shared {name} beside the checkout")


def test_what_is_measured_somewhere_can_be_read_there():
    for claim in load_claims():
        place = claim.measured_in
        uses_key = place is not None and "$key" in (place.column, *place.select.values())
        assert uses_key == (place is not None and isinstance(claim.value, dict)), claim.id


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claims: [{", ":1: not YAML"),
        ("- a", "expected a mapping with the key claims"),
        ("claims: {}", ":claims: expected a list"),
        ("claims: [a]", "claims[0]: expected a mapping"),
        ("claims: [{document: tool-design}]", "claims[0].id: expected a text"),
        (f"claims: [{{{BASE}}}, {{{BASE}}}]", ":a: the id 'a' is used twice"),
        (f"claims: [{{{BASE}, valeu: 5}}]", "no field 'valeu'; there are id, document, kind"),
        (f"claims: [{{{BASE.replace('exact', 'sure')}}}]", ":a: no kind 'sure'; there are exact"),
        (f"claims: [{{{BASE.replace('design', 'x')}}}]", ":a: no document 'tool-x'"),
        (f"claims: [{{{BASE}, measured_in: {{table: t}}}}]", "a.measured_in.experiment: expected"),
        (f"claims: [{{{BASE}, measured_in: 5}}]", "a.measured_in: expected a mapping"),
    ],
)
def test_a_broken_file_says_where_and_what(tmp_path, text, message):
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_claims(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read: No such file"):
        load_claims(tmp_path / "none.yaml")


TABLES = {
    "run": {
        "rows": pd.DataFrame(
            {"name": ["a", "b", "c"], "n": [5, 4, 1], "of": [12, 12, 12], "tree": ["x", "x", "y"]}
        ),
        "wide": pd.DataFrame({"raw": [36], "canonical": [1]}),
    }
}


def claim(value, column="n", table="rows", kind="exact", of=None, **select):
    place = MeasuredIn("run", table, column, select)
    return Claim("id", "tool-design", kind, "words", value, of=of, note="why", measured_in=place)


def one(claim):
    (row,) = compare([claim], TABLES).to_dict("records")
    return row


def test_one_row_one_value():
    row = one(claim(4, name="b", of=12))
    assert (row["stated"], row["measured"], row["verdict"]) == ("4 of 12", "4 of 12", "reproduced")


def test_a_mapping_is_read_row_by_row():
    row = one(claim({"a": 5, "b": 3}, name="$key", tree="x"))
    assert (row["measured"], row["verdict"]) == ("a 5, b 4", "differs")
    assert row["note"] == "b: 3, measured 4; why"


def test_a_mapping_is_read_column_by_column():
    row = one(claim({"raw": 36, "canonical": 1}, "$key", "wide"))
    assert (row["measured"], row["verdict"]) == ("raw 36, canonical 1", "reproduced")


def test_a_list_is_the_column_of_the_selected_rows():
    assert one(claim([5, 4], tree="x"))["verdict"] == "reproduced"
    assert one(claim([5, 1], name=["a", "c"]))["verdict"] == "reproduced"


@pytest.mark.parametrize(
    ("unmeasured", "note"),
    [
        (claim(4, name="z"), "not measured: 0 rows where name = z in rows, expected 1; why"),
        (claim(4), "not measured: 3 rows at all in rows, expected 1; why"),
        (claim(4, "m", name="a"), "not measured: no column m; why"),
        (claim(4, where="a"), "not measured: no column where; why"),
        (claim(4, table="none"), "not measured: no table none of run; why"),
        (
            claim({"a": 5, "q": 3}, name="$key"),
            "not measured: 0 rows where name = q in rows, expected 1; why",
        ),
    ],
)
def test_what_is_not_there_is_open_and_says_why(unmeasured, note):
    row = one(unmeasured)
    assert (row["verdict"], row["measured"], row["note"]) == ("open", "", note)


def test_a_claim_without_a_place_is_open_and_stays_in_the_table():
    frame = compare(load_claims(), {})
    assert list(frame["id"]) == [claim.id for claim in load_claims()]
    assert set(frame["verdict"]) == {"open", "live"}
    assert list(frame.columns) == COLUMNS


def test_tables_read_back_from_csv_give_the_same(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"turn": [5, 10], "ok": [True, False], "usd": [0.5, None]}).to_csv(
        path, index=False
    )
    tables = {"run": {"rows": pd.read_csv(path)}}
    asked = [claim(0.5, "usd", turn="5"), claim(0.5, "usd", ok=True), claim(0.5, "usd", turn=10)]
    assert list(compare(asked, tables)["verdict"]) == ["reproduced", "reproduced", "open"]


def test_a_notebook_checks_only_its_own():
    frame = check("core_tail_session", {})
    assert {"reg-session-a", "reg-session-b", "reg-resent"} <= set(frame["id"])
    assert all(check("tool_mutations", {})["document"] == "tool-registry")


def test_a_chart_can_mark_what_is_stated():
    assert (
        stated("reg-session-b") == next(c for c in load_claims() if c.id == "reg-session-b").value
    )
    with pytest.raises(UsageError, match="no claim has the id 'reg-nothing'"):
        stated("reg-nothing")
    assert stated("id", [claim(5)]) == 5
