from __future__ import annotations

import json

import pytest

from ctxlab.errors import InputError
from ctxlab.experiments.registry_lint import findings

GOOD = {
    "name": "count_rows",
    "description": "Count the rows of a table. Use it before reading one; returns one number.",
    "input_schema": {"type": "object", "properties": {}},
}


def test_a_row_for_each_rule_and_one_for_a_registry_without_findings(tmp_path):
    bad = {"name": "do", "input_schema": {"type": "object", "properties": {"x": {}, "y": {}}}}
    (tmp_path / "bad.json").write_text(json.dumps([bad, GOOD]))
    (tmp_path / "good.json").write_text(json.dumps([GOOD]))
    table = findings(tmp_path).set_index(["registry", "rule"])
    assert table.loc[("good", ""), "findings"] == 0
    row = table.loc[("bad", "argument-without-description")]
    assert (row["tools"], row["tools_found"], row["share_percent"]) == (2, 1, 50)
    assert row["findings"] >= 1
    assert row["document"] == "tool-design"
    assert row["first"].startswith("do: ")


def test_a_folder_without_lists_is_refused(tmp_path):
    with pytest.raises(InputError, match="a folder with lists of tools"):
        findings(tmp_path)
