from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ctxlab import tokens
from ctxlab.experiments import read_tokens
from ctxlab.experiments.queries import Asked, Query, ask
from ctxlab.tools import render, workspace_tools

pytestmark = pytest.mark.data


@pytest.fixture
def asked(tmp_path: Path) -> list[Asked]:
    """A definition on line 4,500 of a file of 6,000 lines, and one in a small file."""
    lines = [f"value_{n} = {n}\n" for n in range(6000)]
    lines[4499] = "def far_away():\n"
    (tmp_path / "large.py").write_text("".join(lines))
    (tmp_path / "small.py").write_text("def near():\n    return 1\n")
    queries = [
        Query("def far_away", "definition"),
        Query("def near", "definition"),
        Query("value_77 ", "identifier"),
        Query("class Absent", "class"),
    ]
    return ask(queries, tmp_path, 200)


def test_reaching_pages_up_to_the_definition_and_no_further(asked: list[Asked], tmp_path: Path):
    table = read_tokens.reaching(asked, lines=20).set_index("query")
    assert list(table.index) == ["def far_away", "def near"]
    far = table.loc["def far_away"]
    tools = workspace_tools(tmp_path)
    pages = [tools.call("read_file", {"path": "large.py", "offset": n}) for n in (1, 2001, 4001)]
    assert far["whole"] == sum(tokens.count_many(pages))
    ranged = tools.call("read_file", {"path": "large.py", "offset": 4495, "limit": 20})
    assert far["searched"] == tokens.count(render(asked[0].result)) + tokens.count(ranged)
    assert (far["line"], far["file_lines"]) == (4500, 6000)
    assert far["whole_files_over_search"] == pytest.approx(far["whole"] / far["searched"])
    assert (
        table.loc["def near", "whole_files_over_search"] < 1
    )  # the search comes on top of a small file


def test_what_a_presentation_tells_is_read_from_what_it_adds(asked: list[Asked]):
    table = read_tokens.presentations(asked, lines=200).set_index("presentation")
    assert (table["reads"] == 1).all()  # the small file is read whole
    told = table[["tells_range", "tells_total", "tells_next"]]
    assert told.loc["nothing"].tolist() == [0, 0, 0]
    assert told.loc["gutter"].tolist() == [100, 0, 0]
    assert told.loc["header"].tolist() == told.loc["footer"].tolist() == [100, 100, 100]
    assert table.loc["nothing", "added"] == 0
    assert table.loc["gutter", "added"] > table.loc["header", "added"]
    assert (table["text"] == table["text"].iloc[0]).all()


def test_a_corpus_without_definitions_gives_empty_tables(asked: list[Asked]):
    others = [one for one in asked if one.query.shape == "identifier"]
    assert read_tokens.reaching(others).empty
    assert read_tokens.presentations(others).empty
    assert "nothing to read" in read_tokens.findings(pd.DataFrame(), pd.DataFrame())


def test_findings_are_computed(asked: list[Asked]):
    reached, presented = read_tokens.reaching(asked), read_tokens.presentations(asked)
    text = read_tokens.findings(reached, presented)
    assert f"{reached['whole_files_over_search'].median():.1f} × the tokens" in text
    assert "(median of 2); the search is dearer in 1 of them" in text
    assert "- **Nothing** adds no token and tells nothing." in text
    assert "tells the range, the total, where to go on." in text


def test_one_definition_is_told_as_one_case(asked: list[Asked]):
    reached = read_tokens.reaching(asked[:1])
    text = read_tokens.findings(reached, read_tokens.presentations(asked[:1], lines=9000))
    assert "one definition was found" in text
    assert "dearer" not in text
    assert "nothing to present" in text
