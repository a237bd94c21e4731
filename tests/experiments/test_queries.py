from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxlab import project
from ctxlab.errors import InputError
from ctxlab.experiments import queries
from ctxlab.experiments.queries import SHAPES, Query, ask, load_queries, told

OURS = "data/queries/agents.yaml"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for tree in ("one", "two"):
        (tmp_path / tree).mkdir()
        (tmp_path / tree / "a.py").write_text(f"def {tree}():\n    return 1  # TODO\n")
    return tmp_path


def test_ours_have_every_shape_and_are_all_different():
    ours = load_queries(OURS)
    assert set(Counter(query.shape for query in ours)) == set(SHAPES)
    assert len(set(ours)) == len(ours)


@pytest.mark.data
def test_ours_find_what_their_shape_says_and_few_find_most():
    asked = ask(load_queries(OURS), project.cache_dir() / "trees", 20)
    assert all(one.result.complete for one in asked)
    assert all((one.result.total == 0) for one in asked if one.query.shape == "none")
    named = [one for one in asked if one.query.tree and one.query.shape != "none"]
    assert all(one.result.total for one in named)
    totals = sorted((one.result.total for one in asked), reverse=True)
    assert sum(totals[: len(totals) // 5]) > 0.9 * sum(totals)  # skewed, as searches are


def test_a_query_without_a_tree_is_asked_of_every_tree(corpus: Path):
    asked = [Query("TODO"), Query("def one", tree="one"), Query("def two", tree="two")]
    assert [one.name for one in ask(asked, corpus, 20)] == [
        "one: TODO",
        "one: def one",
        "two: TODO",
        "two: def two",
    ]


def test_another_corpus_is_asked_what_names_no_tree(corpus: Path):
    (only,) = ask([Query("TODO"), Query("x", tree="three")], corpus / "one", 20)
    assert (only.name, only.tree, only.result.total) == ("TODO", "", 1)


def test_queries_of_others_are_read_and_what_is_not_ours_is_ignored(tmp_path: Path):
    path = tmp_path / "q.json"
    path.write_text(json.dumps([{"pattern": "a", "tree": "t", "real_uses": 3, "regex": "basic"}]))
    assert load_queries(path) == [Query("a", tree="t")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a list of queries"),
        ("queries: []", "expected a list of queries"),
        ("- {tree: a}", "[0]: expected a mapping with a text under pattern"),
        ("- {pattern: 3}", "[0]: expected a mapping with a text under pattern"),
        ("- {pattern: a}\n- {pattern: b, literal: 1}", "[1].literal: expected true or false"),
        ("- {pattern: a, tree: 1}", "[0].tree: expected a text"),
        ("a: [", "neither YAML nor JSON"),
    ],
)
def test_a_wrong_file_is_told_with_its_place(tmp_path: Path, text: str, told: str):
    path = tmp_path / "q.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        load_queries(path)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_search_that_is_not_whole_is_refused(corpus: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(queries, "TIME_LIMIT", 0.0)
    with pytest.raises(InputError, match="takes more than 0 s"):
        ask([Query("TODO")], corpus / "one", 20)


def test_what_cannot_be_asked_is_told(corpus: Path):
    with pytest.raises(InputError, match="cannot be read"):
        load_queries(corpus / "gone.yaml")
    with pytest.raises(InputError, match="not a folder"):
        ask([Query("x")], corpus / "gone", 20)
    with pytest.raises(InputError, match="none of the trees"):
        ask([Query("x", tree="three")], corpus, 20)
    with pytest.raises(InputError, match=r"the query '\(': pattern: unclosed group"):
        ask([Query("(")], corpus, 20)


def test_how_many_of_the_queries_fit_is_told(corpus: Path):
    given = [Query("TODO", tree="one"), Query("absent"), Query("x", tree="three")]
    text = told(given, ask(given, corpus, 20))
    assert "**2 searches over one source tree**, 1 of which found something." in text
    assert "Only 2 of the file's 3 queries" in text
    assert "-p queries=FILE" in text
    assert "All 2 queries of the file" in told(given[:2], ask(given[:2], corpus, 20))
