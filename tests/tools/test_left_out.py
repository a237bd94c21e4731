from __future__ import annotations

from pathlib import Path

import pytest

from ctxlab.tools import ripgrep, search

WIDE = "needle é\n".encode("utf-16-le")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each pass over the tree had to explain itself."""
    made: list[bool] = []
    count = ripgrep.count

    def counted(*arguments, **more):
        if len(arguments) == 2:  # the tree, not files by name
            made.append(more.get("explain", False))
        return count(*arguments, **more)

    monkeypatch.setattr(ripgrep, "count", counted)
    return made


def found(root: Path, pattern: str = "needle") -> list[str]:
    return [file.path for file in search(root, pattern).files]


def test_a_tree_explains_itself_once(tmp_path: Path, passes: list[bool]):
    (tmp_path / "wide.txt").write_bytes(WIDE)
    (tmp_path / "a.txt").write_text("needle\n")
    for _ in range(3):
        assert found(tmp_path) == ["a.txt", "wide.txt"]
    assert found(tmp_path, "absent") == []
    assert passes == [True, False, False, False]


@pytest.mark.parametrize("change", ["new", "renamed", "rewritten", "gone", "to text", "ignored"])
def test_a_tree_that_has_changed_explains_itself_anew(
    tmp_path: Path, passes: list[bool], change: str
):
    (tmp_path / "wide.txt").write_bytes(WIDE)
    (tmp_path / "a.txt").write_text("needle and as many bytes as that"[: len(WIDE)])
    assert found(tmp_path) == ["a.txt", "wide.txt"]
    expected = ["a.txt", "wide.txt"]
    if change == "new":
        (tmp_path / "b.txt").write_bytes(WIDE)
        expected = ["a.txt", "b.txt", "wide.txt"]
    elif change == "renamed":
        (tmp_path / "wide.txt").rename(tmp_path / "x.txt")
        expected = ["a.txt", "x.txt"]
    elif change == "rewritten":
        (tmp_path / "a.txt").write_bytes(WIDE)
    elif change == "gone":
        (tmp_path / "wide.txt").unlink()
        expected = ["a.txt"]
    elif change == "to text":
        (tmp_path / "wide.txt").write_text("needle")
    elif change == "ignored":
        (tmp_path / ".gitignore").write_text("wide*\n")
        expected = ["a.txt"]
    assert found(tmp_path) == expected
    assert found(tmp_path) == expected
    assert passes == [True, False, True, False]


def test_what_gitignore_names_is_known_from_the_second_search_too(tmp_path: Path):
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.log").write_text("needle\n")
    assert [search(tmp_path, "needle").ignored for _ in range(2)] == [("a.log",), ("a.log",)]
