from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from ctxlab.errors import UsageError
from ctxlab.tools import STYLES, SearchResult, pick, render, search


@pytest.fixture
def result(tmp_path: Path) -> SearchResult:
    """Five matching lines in three files, seven matches, one line of 1,509 characters."""
    (tmp_path / "a.py").write_text("foo foo foo\nfoo\n" + "foo\n" * 6)
    (tmp_path / "b.py").write_text("\n" + "x" * 900 + "foo" + "y" * 606 + "\n")
    (tmp_path / "c.py").write_text("foo\n")
    return search(tmp_path, "foo", max_results=4)


X, Y = "x" * 900, "y" * 606


def test_tag_is_a_block_for_each_match_and_exceeds_the_cap(result: SearchResult):
    root = result.root
    assert render(result, "tag") == "\n".join(
        [
            "6 matches (more results are available)",
            *([f'<match path="{root}/a.py" line=1>\nfoo foo foo\n</match>'] * 3),
            *(f'<match path="{root}/a.py" line={line}>\nfoo\n</match>' for line in (2, 3, 4)),
        ]
    )


def test_each_step_changes_one_thing(result: SearchResult):
    root = result.root
    relative = render(result, "tag").replace(f"{root}/", "")
    assert render(result, "relative") == relative
    assert render(result, "capped") == "\n".join(
        [
            "4 matches (more results are available)",
            *(['<match path="a.py" line=1>\nfoo foo foo\n</match>'] * 3),
            '<match path="a.py" line=2>\nfoo\n</match>',
        ]
    )
    assert render(result, "rows") == "\n".join(
        [
            "4 matches (more results are available)",
            '<match path="a.py" line=1>\nfoo foo foo\n</match>',
            *(f'<match path="a.py" line={line}>\nfoo\n</match>' for line in (2, 3, 4)),
        ]
    )
    assert render(result, "flat") == (
        "4 matches (more results are available)\n"
        "a.py:1:foo foo foo\na.py:2:foo\na.py:3:foo\na.py:4:foo"
    )
    grouped = (
        'Found 10 matches in 3 files for "foo" (showing 4 of 10 matches in 1 of 3 files)\n\n'
        "a.py\n1:foo foo foo\n2:foo\n3:foo\n4:foo\n... (4 more matches in this file)\n\n"
        "... (2 more matches in 2 more files)"
    )
    assert render(result, "grouped") == render(result, "windowed") == grouped
    assert render(result, "grep") == (
        'Found 10 matches in 3 files for "foo" (showing 4 of 10 matches in 3 of 3 files)\n\n'
        "a.py\n1:foo foo foo\n2:foo\n... (6 more matches in this file)\n\n"
        f"b.py\n2:{X[-150:]}foo{Y[:105]} [match at col 901 · line truncated, 1,509 chars]\n\n"
        "c.py\n1:foo"
    )


def test_a_long_line_keeps_500_characters_each_side_until_it_is_windowed(result: SearchResult):
    whole = search(result.root, "foo", "b.py")
    side = f"{X[-500:]}foo{Y[:500]}"
    for style in ("tag", "relative", "capped", "rows", "flat", "grouped"):
        assert f"{side}\n" in render(whole, style) + "\n"
        assert f"x{side}" not in render(whole, style)
    for style in ("windowed", "grep"):
        assert side not in render(whole, style)


def test_what_is_shown_is_counted(result: SearchResult):
    shown = {
        style: [(kept.file.path, kept.lines) for kept in pick(result, style)] for style in STYLES
    }
    assert shown["tag"] == shown["relative"] == shown["rows"] == [("a.py", 4)]
    assert shown["capped"] == [("a.py", 2)]
    assert shown["grep"] == [("a.py", 2), ("b.py", 1), ("c.py", 1)]


def test_styles_differ_by_one_change_each():
    styles = list(STYLES.values())
    for before, after in pairwise(styles):
        changed = [
            name
            for name in ("relative", "capped", "by_line", "layout", "windowed", "quota")
            if getattr(before, name) != getattr(after, name)
        ]
        assert len(changed) == 1, (before, after)


def test_nothing_found_begins_the_same_in_every_style(result: SearchResult):
    nothing = search(result.root, "absent")
    assert all(render(nothing, style).startswith("No matches") for style in STYLES)


def test_an_unknown_style_names_the_known_ones(result: SearchResult):
    with pytest.raises(UsageError, match="no style 'xml'; there are tag, relative"):
        render(result, "xml")


def test_equal_searches_give_equal_text(result: SearchResult):
    again = search(result.root, "foo", max_results=4)
    assert [render(result, style) for style in STYLES] == [render(again, style) for style in STYLES]


def test_a_long_pattern_is_cut_in_the_header(tmp_path: Path):
    (tmp_path / "a").write_text("x")
    answer = render(search(tmp_path, "q" * 3000))
    assert answer == f'No matches for "{"q" * 100}…{"q" * 100}": 1 file searched.'
