from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ctxlab import tokens
from ctxlab.experiments import grep_tokens
from ctxlab.experiments.grep_findings import findings
from ctxlab.experiments.queries import Asked, Query, ask
from ctxlab.tools import STYLES, render

pytestmark = pytest.mark.data


@pytest.fixture
def asked(tmp_path: Path) -> list[Asked]:
    """Eight lines with `foo` in three files, ten hits; `bar` once; `absent` nowhere."""
    (tmp_path / "a.py").write_text("foo foo foo\n" + "foo\n" * 5)
    (tmp_path / "b.py").write_text("foo\n")
    (tmp_path / "c.py").write_text("foo bar\n")
    queries = [Query("foo", "frequent"), Query("bar", "string"), Query("absent", "none")]
    return ask(queries, tmp_path, 200)


def row(frame: pd.DataFrame, **where: object) -> pd.Series:  # type: ignore[type-arg]
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_steps_count_the_rendered_text_and_its_evidence(asked: list[Asked]):
    steps = grep_tokens.steps(asked, 4, root="/r")
    assert len(steps) == len(STYLES) * 3
    tag, grep = row(steps, query="foo", style="tag"), row(steps, query="foo", style="grep")
    assert (tag.matches_shown, tag.matches_total, tag.files_shown, tag.files_total) == (4, 8, 1, 3)
    assert (grep.matches_shown, grep.files_shown) == (4, 3)
    flat = row(steps, query="bar", style="flat")
    assert flat.tokens == tokens.count("1 match\nc.py:1:foo bar")
    assert row(steps, query="absent", style="tag").tokens == tokens.count("No matches found.")


def test_where_the_tree_stands_changes_nothing_but_the_tag_formats_paths(asked: list[Asked]):
    here, there = (grep_tokens.steps(asked, 4, root=root) for root in ("/r", "/a/much/longer/root"))
    different = here["tokens"] != there["tokens"]
    assert set(here[different]["style"]) == {"tag"}
    assert str(asked[0].result.root) not in render(asked[0].result, "grep")


def test_the_steps_add_up(asked: list[Asked]):
    table = grep_tokens.by_style(grep_tokens.steps(asked, 4))
    assert table["step"].sum() == table["total"].iloc[-1]
    assert table["step"].iloc[0] == table["total"].iloc[0]
    assert grep_tokens.waterfall(table)["tokens"].tolist() == table["step"].tolist()
    assert table["style"].tolist() == list(STYLES)
    first, last = table.iloc[0], table.iloc[-1]
    assert last.saved_percent == pytest.approx(100 * (1 - last.total / first.total))


def test_shares_are_means_over_the_queries_that_find_something(asked: list[Asked]):
    table = grep_tokens.by_style(grep_tokens.steps(asked, 4)).set_index("style")
    assert table.loc["tag", "files_percent"] == pytest.approx((100 / 3 + 100) / 2)
    assert table.loc["grep", "files_percent"] == 100
    assert table.loc["tag", "matches_percent"] == pytest.approx((50 + 100) / 2)
    assert table.loc[["tag", "grep"], "whole"].tolist() == [1, 2]


def test_the_four_figures_are_those_of_the_table(asked: list[Asked]):
    steps = grep_tokens.steps(asked, 4)
    formats = grep_tokens.formats(steps).set_index("figure")
    sizes = steps[steps["style"] == "tag"]["tokens"]
    assert formats.loc["mean", "tag"] == pytest.approx(sizes.mean())
    assert formats.loc["p50", "tag"] == sizes.median()
    assert formats.loc["total", "tag"] == pytest.approx(sizes.sum() / 1e6)
    assert formats.loc["total", "unit"] == "Mtokens"
    mean = formats.loc["mean"]
    assert mean.change == pytest.approx(100 * (mean.grep / mean.tag - 1))


def test_shapes_stand_in_their_order(asked: list[Asked]):
    shapes = grep_tokens.by_shape(grep_tokens.steps(asked, 4)).set_index("shape")
    assert list(shapes.index) == ["string", "frequent", "none"]
    assert shapes.loc["frequent", "files_tag"] == pytest.approx(100 / 3)
    assert shapes.loc["frequent", "files_grep"] == 100
    assert pd.isna(shapes.loc["none", "files_grep"])
    assert shapes["queries"].tolist() == [1, 1, 1]


def test_a_larger_cap_shows_more(asked: list[Asked]):
    caps = grep_tokens.by_cap(asked, [1, 4, 200])
    for _, group in caps.groupby("style"):
        assert group["files_percent"].is_monotonic_increasing
    assert set(caps[caps["cap"] == 200]["files_percent"]) == {100}


def test_findings_are_computed(asked: list[Asked]):
    steps, caps = grep_tokens.steps(asked, 4), grep_tokens.by_cap(asked, [4, 7, 200])
    table = grep_tokens.by_style(steps)
    text = findings(table, caps, 4)
    totals = table.set_index("style")["total"]
    assert f"(−{100 * (1 - totals['grep'] / totals['tag']):.1f} %)" in text
    assert "from 100 % of a query's files instead of 66.7 %" in text
    assert "the cap would have to be 200 instead of 4" in text
    few = findings(table, caps[caps["cap"] < 7], 4)
    assert "no cap up to 4 covers as many" in few


def test_findings_make_nothing_of_what_did_not_happen(asked: list[Asked]):
    caps = grep_tokens.by_cap(asked, [200, 500])
    text = findings(grep_tokens.by_style(grep_tokens.steps(asked, 200)), caps, 200)
    assert "**The quota** changes nothing here" in text
    assert "instead of" not in text
    assert "+0" not in text
    assert "with or without the quota" in text
    nothing = asked[2:]
    table = grep_tokens.by_style(grep_tokens.steps(nothing, 4))
    assert findings(table, grep_tokens.by_cap(nothing, [4]), 4).startswith("- No search found")


def test_the_quota_table():
    table = grep_tokens.quota([50, 3, 1, 1], 10)
    assert table["rows"].tolist() == [7, 1, 1, 1]
    assert table["file"].tolist() == ["file 1", "file 2", "file 3", "file 4"]
