from __future__ import annotations

import json

import pytest

from ctxlab.errors import InputError
from ctxlab.sources.drift import digests_file
from ctxlab.sources.recipes import ServerRecipe, read_recipes


def test_the_committed_recipes_can_be_read():
    recipes = read_recipes()
    kinds = [type(recipe).__name__ for recipe in recipes]
    assert kinds == ["VocabularyRecipe"] + ["TreeRecipe"] * 4 + ["ServerRecipe"] * 5


def test_every_server_has_its_tools_on_record():
    known = json.loads(digests_file().read_text())
    servers = [recipe for recipe in read_recipes() if isinstance(recipe, ServerRecipe)]
    assert {server.name: server.tools for server in servers} == {
        name: len(tools) for name, tools in known.items()
    }


def test_no_address_stands_in_the_recipes():
    text = digests_file().with_name("sources.toml").read_text()
    addresses = [line for line in text.splitlines() if "://" in line]
    assert all(".invalid" in line for line in addresses), addresses


GOOD = {
    "package": '"requests"',
    "version": '"1"',
    "wheel": '"requests-1-py3-none-any.whl"',
    "sha256": f'"{"a" * 64}"',
    "tree_sha256": f'"{"b" * 64}"',
}


def tree(**changes):
    rows = {**GOOD, **changes}
    return "\n".join(["[trees.r]", *(f"{key} = {rows[key]}" for key in rows if rows[key])])


SERVER = """
exclude_newer = "2026-11-01T00:00:00Z"
[servers.s]
package = "p"
version = "1"
command = "c"
tools = {tools}
tools_sha256 = "{sha256}"
env = {env}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[trees", "no valid TOML"),
        ("trees = 3", r"trees: expected a table"),
        ("[trees]\nr = 3", r"trees\.r: expected a table"),
        (tree(sha256='"ABC"'), r"trees\.r\.sha256: expected 64 hexadecimal digits"),
        (tree(version="1"), r"trees\.r\.version: expected a text"),
        (tree(wheel=""), r"trees\.r\.wheel: expected a text"),
        ('[trees."../up"]', r"trees\.\.\./up: expected a new name of a-z, 0-9 and -"),
        (
            tree() + "\n[vocabularies.r]\n" + tree().partition("\n")[2] + '\nfolder="x"',
            "a new name",
        ),
        (SERVER.format(tools='"2"', sha256="a" * 64, env="{}"), r"s\.tools: expected a whole"),
        (SERVER.format(tools="2", sha256="a" * 64, env="{A = 1}"), r"s\.env\.A: expected a text"),
        (SERVER.format(tools="2", sha256="0", env="{}"), r"s\.tools_sha256: expected 64"),
        (
            SERVER.format(tools="2", sha256="a" * 64, env="{}").replace("exclude", "x"),
            r"exclude_newer: expected a text",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, text, told):
    path = tmp_path / "sources.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        read_recipes(path)
    assert caught.value.path == path


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_recipes(tmp_path / "none.toml")
