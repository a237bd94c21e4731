from __future__ import annotations

from ctxlab.prefix.schema import sort_required
from tests.prefix.arrays import base_array, changed


def test_only_what_changes_is_copied():
    tool = base_array()[0]
    assert sort_required(tool) is tool

    branches = [{"required": ["a", "b"]}, {"required": ["b", "a"]}]
    mixed = changed(tool, "input_schema", "anyOf", to=branches)
    done = sort_required(mixed)
    assert done["input_schema"]["anyOf"][1] == {"required": ["a", "b"]}
    assert branches[1] == {"required": ["b", "a"]}
    assert done["input_schema"]["anyOf"][0] is branches[0]
    assert done["input_schema"]["properties"] is mixed["input_schema"]["properties"]
