from __future__ import annotations

import time
from pathlib import Path

from ctxlab.tools import ripgrep
from ctxlab.tools.matches import MAX_HITS, line_text, matches, places


def first(root: Path, pattern: str, files: list[str], most: int = 5) -> dict[str, list[bytes]]:
    options = [f"--regexp={pattern}", *ripgrep.selection()]
    found, whole = matches(root, options, files, most, time.monotonic() + 30)
    assert whole
    return found


def test_the_first_lines_of_each_file_are_told(tmp_path: Path):
    names = ["a", "two\nlines", "byte\udce9", "-n", "none"]
    for name in names:
        (tmp_path / name).write_bytes(b"no\r\n" + (b"" if name == "none" else b"x q q\r\n" * 9))
    found = first(tmp_path, "q", names, 3)
    assert {name: len(events) for name, events in found.items()} == dict.fromkeys(names, 3) | {
        "none": 0
    }
    assert [places(event) for event in found["a"]] == [
        (2, 4, [(2, 3), (4, 5)]),
        (3, 11, [(2, 3), (4, 5)]),
        (4, 18, [(2, 3), (4, 5)]),
    ]
    assert line_text(found["a"][0]) == b"x q q\r\n"


def test_a_line_that_is_not_utf8_is_told_in_bytes(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"\xff q\n")
    (event,) = first(tmp_path, "q", ["a"])["a"]
    assert line_text(event) == b"\xff q\n"


def test_a_line_of_any_length_costs_a_few_bytes(tmp_path: Path):
    """A line full of what could be taken for the end of a match."""
    trap = '"},\\n,"line_number":7,"absolute_offset":9,"submatches":[{"match":{"text":"'
    for times in (100, 100_000):
        (tmp_path / "a").write_text("first\n" + trap * times + "needle\nneedle\n")
        long, short = first(tmp_path, "needle", ["a"])["a"]
        assert len(long) < 200
        end = len(trap) * times
        assert places(long) == (2, 6, [(end, end + 6)])
        assert line_text(long) is None
        assert (places(short)[0], line_text(short)) == (3, b"needle\n")


def test_a_match_of_any_length_and_any_number_of_matches(tmp_path: Path):
    size = 3_000_000
    (tmp_path / "a").write_text("y" * size + "\n" + "x y" * (MAX_HITS * 4) + "\nq\n")
    (whole,) = first(tmp_path, "^y.*y$", ["a"], 1)["a"]
    assert places(whole) == (1, 0, [(0, size)])
    many = first(tmp_path, "[xq]", ["a"])["a"]
    assert [len(places(event)[2]) for event in many] == [MAX_HITS, 1]
    assert places(many[0])[2][:2] == [(0, 1), (3, 4)]


def test_a_match_of_nothing_has_a_place(tmp_path: Path):
    (tmp_path / "a").write_text("\n\nx\n")
    assert [places(event) for event in first(tmp_path, "^$", ["a"])["a"]] == [
        (1, 0, [(0, 0)]),
        (2, 1, [(0, 0)]),
    ]
