from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxlab.tools import ripgrep, search

WIDE = "needle é\n".encode("utf-16-le")


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One item for each pass that looks for what looks binary."""
    made: list[int] = []
    containing = ripgrep.containing

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return containing(*arguments)

    monkeypatch.setattr(ripgrep, "containing", counted)
    return made


def found(root: Path, pattern: str = "needle") -> list[str]:
    return [file.path for file in search(root, pattern).files]


def test_a_tree_is_looked_through_once(tmp_path: Path, looked: list[int]):
    (tmp_path / "wide.txt").write_bytes(WIDE)
    (tmp_path / "a.txt").write_text("needle\n")
    for _ in range(3):
        assert found(tmp_path) == ["a.txt", "wide.txt"]
    assert found(tmp_path, "absent") == []
    assert len(looked) == 1


@pytest.mark.parametrize("change", ["new", "renamed", "rewritten", "gone", "to text", "ignored"])
def test_a_tree_that_has_changed_is_looked_through_again(
    tmp_path: Path, looked: list[int], change: str
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
    assert len(looked) == 2


def test_what_gitignore_names_is_known_from_the_second_search_too(tmp_path: Path):
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.log").write_text("needle\n")
    assert [search(tmp_path, "needle").ignored for _ in range(2)] == [("a.log",), ("a.log",)]


def test_what_looks_binary_is_searched_with_an_include_too(tmp_path: Path):
    (tmp_path / "wide.txt").write_bytes(WIDE)
    (tmp_path / "wide.log").write_bytes(WIDE)
    assert [file.path for file in search(tmp_path, "needle", "*.log").files] == ["wide.log"]
