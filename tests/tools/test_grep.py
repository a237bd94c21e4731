from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxlab import project
from ctxlab.errors import InputError, SearchError, UsageError
from ctxlab.tools import SearchResult, passes, pick, render, ripgrep, search, workspace_tools
from ctxlab.tools.workspace import shown
from tests.conftest import shared


def grep(root: Path, pattern: str, **arguments: object) -> str:
    return workspace_tools(root).call("grep_search", {"pattern": pattern, **arguments})


def rows(result: SearchResult) -> dict[str, list[tuple[int, str]]]:
    return {file.path: [(row.line, row.text) for row in file.rows] for file in result.files}


def test_the_known_format(tmp_path: Path):
    (tmp_path / "src" / "util").mkdir(parents=True)
    (tmp_path / "src/a.ts").write_text(
        "\n" * 9 + "export function foo() {\n" + "\n" * 31 + "\treturn foo();\n"
    )
    (tmp_path / "src/util/b.ts").write_text("\n" * 6 + "import { foo } from './a';\n")
    assert grep(tmp_path, "foo") == (
        'Found 3 matches in 2 files for "foo"\n'
        "\n"
        "src/a.ts\n"
        "10:export function foo() {\n"
        "42:\treturn foo();\n"
        "\n"
        "src/util/b.ts\n"
        "7:import { foo } from './a';"
    )


def test_what_is_shown_of_the_total_is_told_and_spread(tmp_path: Path):
    for place in range(26):
        count = 254 if place == 0 else 10
        (tmp_path / f"{place:02}.py").write_text("q = 1\n" * count)
    answer = grep(tmp_path, "q", max_results=50)
    assert answer.startswith(
        'Found 504 matches in 26 files for "q" '
        "(showing 50 of 504 matches in 26 of 26 files)\n\n00.py\n"
    )
    assert len(re.findall(r"^\d+:q", answer, re.MULTILINE)) == 50
    assert "... (9 more matches in this file)" in answer
    assert answer.count("more match") == 26


def test_files_beyond_the_cap_are_counted(tmp_path: Path):
    for place in range(5):
        (tmp_path / f"{place}.py").write_text("q\n" * (place + 1))
    answer = grep(tmp_path, "q", max_results=2)
    assert "showing 2 of 15 matches in 2 of 5 files" in answer
    assert answer.endswith("... (6 more matches in 3 more files)")


def test_a_hit_far_into_a_long_line_is_shown_with_its_column(tmp_path: Path):
    (tmp_path / "a.min.js").write_text("x" * 3999 + "NEEDLE" + "y" * 995 + "\n")
    answer = grep(tmp_path, "NEEDLE")
    window = "x" * 150 + "NEEDLE" + "y" * 105
    assert f"1:{window} [match at col 4000 · line truncated, 5,000 chars]" in answer


def test_a_line_of_600_characters_is_verbatim(tmp_path: Path):
    (tmp_path / "a").write_text("é" * 594 + "needle\n" + "é" * 595 + "needle\n")
    first, second = grep(tmp_path, "needle").splitlines()[-2:]
    assert first == "1:" + "é" * 594 + "needle"
    assert second == "2:" + "é" * 150 + "needle [match at col 596 · line truncated, 601 chars]"


def test_one_bad_line_hides_nothing(tmp_path: Path):
    (tmp_path / "bad.txt").write_bytes(b"fine\nneedle \xff\xfe tail\n")
    (tmp_path / "long.txt").write_text("a" * 180_000 + "needle" + "b" * 5000 + "\nneedle two\n")
    (tmp_path / "other.txt").write_text("needle\n")
    answer = grep(tmp_path, "needle")
    assert answer.startswith("Found 4 matches in 3 files")
    assert "2:needle \\xff\\xfe tail" in answer
    assert "[match at col 180001 · line truncated, 185,006 chars]" in answer
    assert "2:needle two" in answer
    assert "\ufffd" not in answer


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"(a|aa)+$", r"(a*)*b", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(.*a){20}x"],
)
def test_a_regex_that_would_never_end_elsewhere_ends_here(tmp_path: Path, pattern: str):
    (tmp_path / "a.txt").write_text("a" * 35 + "!\n" + "a" * 100_000 + "!\nneedle aaa\n")
    result = search(tmp_path, pattern)
    assert result.complete
    if pattern.endswith("a+)+$"):
        assert rows(result)["a.txt"][-1] == (3, "needle aaa")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=x)", "look-around"),
        ("(?<!x)y", "look-around"),
        (r"(a)\1", "backreferences"),
        ("foo(", "unclosed group; escape it with \\, or give literal=True"),
        ("[a", "unclosed character class"),
        ("*", "repetition operator missing expression"),
        (r"a\nb", "one line at a time"),
        ("a\nb", "line break"),
        (r"\x00", "binary files"),
        ("\0", "NUL"),
        ("\ud800", "surrogate"),
        ("", "pattern is empty"),
        ("a{1000}{1000}{10}", "too large"),
        ("x" * 5000, "5,000 characters; 4,096 is the limit"),
        (r"\p{nope}", "Unicode"),
    ],
)
def test_a_refused_pattern_is_told(tmp_path: Path, pattern: str, said: str):
    answer = grep(tmp_path, pattern)
    assert answer.startswith("Error: pattern")
    assert said in answer
    assert "\n" not in answer
    with pytest.raises((SearchError, UsageError)):
        search(tmp_path, pattern)


@pytest.mark.parametrize("include", ["[", "{a", "", "\0", "x" * 2000, "\ud800"])
def test_a_refused_include_is_told(tmp_path: Path, include: str):
    answer = grep(tmp_path, "x", include=include)
    assert answer.startswith("Error: include")
    assert "'src/**/*.py'" in answer or "'**/*.py'" in answer


def test_ignored_files_are_told_when_nothing_is_found(tmp_path: Path):
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "a.log").write_text("needle\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "x.py").write_text("needle\n")
    (tmp_path / "a.py").write_text("nothing\n")
    answer = grep(tmp_path, "needle")
    assert answer == (
        'No matches for "needle": 2 files searched.\n'
        "Not searched, since .gitignore names them: a.log, build."
    )


@pytest.mark.parametrize(
    "include", ["*.log", "**/*.log", "a.log", "**/*", "build/**", "build", "{a,b}*"]
)
def test_include_never_brings_back_what_is_ignored(tmp_path: Path, include: str):
    test_ignored_files_are_told_when_nothing_is_found(tmp_path)
    answer = grep(tmp_path, "needle", include=include)
    assert answer.startswith("No matches")
    assert "since .gitignore names them" in answer


def test_only_the_roots_own_rules_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "repo" / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / ".gitignore").write_text("*.py\n")
    (root / ".ignore").write_text("*.py\n")
    (root / ".rgignore").write_text("*.py\n")
    (root / "sub" / ".gitignore").write_text("b.py\n")
    (root / ".git").mkdir()
    (root / ".git" / "info").mkdir()
    (root / ".git" / "info" / "exclude").write_text("*.py\n")
    for name in ("a.py", ".hidden.py", "sub/a.py", "sub/b.py", ".git/c.py"):
        (root / name).write_text("needle\n")
    config = tmp_path / "rgrc"
    config.write_text("--max-count=0\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    assert sorted(rows(search(root, "needle"))) == [".hidden.py", "a.py", "sub/a.py"]


@pytest.mark.parametrize(
    ("include", "found"),
    [
        ("**/*", ["a.py", "a.ts", "src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("*.py", ["a.py", "src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("src", ["src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("src/", ["src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("./src/**", ["src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("src/*.py", ["src/a.py", "src/x[1].py"]),
        ("{root}/src/**/*.py", ["src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("{root}", ["a.py", "a.ts", "src/a.py", "src/deep/a.py", "src/x[1].py"]),
        ("src/x[1].py", ["src/x[1].py"]),
        ("*.{ts,tsx}", ["a.ts"]),
        ("deep", ["src/deep/a.py"]),
        ("a.py", ["a.py"]),
        ("!*.py", ["a.ts"]),
        ("/etc/**", []),
        ("../**", []),
        ("-n", []),
    ],
)
def test_include_takes_what_people_write(tmp_path: Path, include: str, found: list[str]):
    (tmp_path / "src" / "deep").mkdir(parents=True)
    for name in ("a.py", "a.ts", "src/a.py", "src/deep/a.py", "src/x[1].py"):
        (tmp_path / name).write_text("needle\n")
    result = search(tmp_path, "needle", include.replace("{root}", str(tmp_path)))
    assert sorted(rows(result)) == found


def test_literal_and_case(tmp_path: Path):
    (tmp_path / "a").write_text("--flag\nf(x) [y]\nNeedle\nneedle\nC:\\dir\\file\n")
    for text in ("--flag", "f(x) [y]", "C:\\dir\\file", "-"):
        assert search(tmp_path, text, literal=True).total >= 1
    assert search(tmp_path, "needle").total == 1
    assert search(tmp_path, "needle", case_sensitive=False).total == 2
    assert r"\| is the character |" in grep(tmp_path, r"foo\|bar")


@pytest.mark.parametrize("pattern", ["$scope", "items[0]", "f(x)", "${name}"])
def test_text_that_was_read_as_an_expression_is_told(tmp_path: Path, pattern: str):
    (tmp_path / "a").write_text("$scope.x = items[0]; ${name} + f(x)\n")
    answer = grep(tmp_path, pattern)
    assert answer.startswith(("No matches", "Error: "))
    assert "literal=True" in answer
    assert grep(tmp_path, pattern, literal=True).startswith("Found 1 match")
    assert "literal" not in grep(tmp_path, "absent", literal=True)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_marked_and_wide_text_is_searched(tmp_path: Path, codec: str):
    text = "first é\nsecond needle 日本 needle\r\n\nlast needle"
    (tmp_path / "a.txt").write_bytes(text.encode(codec))
    assert rows(search(tmp_path, "needle")) == {
        "a.txt": [(2, "second needle 日本 needle"), (4, "last needle")]
    }
    (row, _) = search(tmp_path, "needle").files[0].rows
    assert [row.text[start:end] for start, end in row.hits] == ["needle", "needle"]
    assert rows(search(tmp_path, "^first")) == {"a.txt": [(1, "first é")]}


def test_binaries_are_skipped(tmp_path: Path):
    (tmp_path / "prog").write_bytes(b"needle\n\x7fELF\0\0\0\nneedle\n")
    assert grep(tmp_path, "needle").startswith("No matches")


def test_a_nul_late_in_a_text_hides_nothing_and_read_file_agrees(tmp_path: Path):
    (tmp_path / "a.log").write_bytes(b"needle\n" * 20_000 + b"x\0y\n" + b"needle end\n")
    result = search(tmp_path, "needle")
    assert result.total == 20_001
    assert search(tmp_path, "needle end").files[0].rows[0].line == 20_002
    read = workspace_tools(tmp_path).call("read_file", {"path": "a.log", "offset": 20_002})
    assert read.endswith("\n\nneedle end\n")


def test_gbk_rows_read_as_read_file_reads_them(tmp_path: Path):
    line = "needle 中文注释：这个函数读取配置文件，第二行，测试编码"
    (tmp_path / "a.txt").write_bytes(f"ascii\n{line}\n".encode("gbk"))
    assert rows(search(tmp_path, "needle")) == {"a.txt": [(2, line)]}


def test_files_that_change_while_they_are_searched_break_no_search(tmp_path: Path):
    """Cut short, rewritten in UTF-16, gone: a mapped file would end ripgrep with a signal."""
    stop = threading.Event()

    def churn() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            path = tmp_path / f"{turn % 3}.txt"
            path.write_bytes("needle é\n".encode("utf-16-le" if turn % 2 else "utf-8") * 3000)
            os.truncate(path, turn % 50)
            if turn % 7 == 0:
                path.unlink()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        answers = [grep(tmp_path, "needle") for _ in range(40)]
    finally:
        stop.set()
        thread.join()
    assert all(answer.startswith(("Found", "No matches")) for answer in answers)


def test_a_name_too_long_to_open_is_told_in_one_line(tmp_path: Path):
    """A path of more than 4,096 bytes, which can be made step by step only."""
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(45):
        os.mkdir("d" * 100, dir_fd=folder)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("needle.txt", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    os.close(folder)
    answer = grep(tmp_path, "needle")
    assert "Not read: " in answer
    assert len(answer) < 500


def test_links_and_special_files(tmp_path: Path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("needle\n")
    (root / "a.txt").write_text("needle\n")
    for name, target in {"out": "../secret.txt", "up": "..", "loop": "loop", "me": "a.txt"}.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    assert list(rows(search(root, "needle"))) == ["a.txt"]
    (tmp_path / "alias").symlink_to(root)
    assert list(rows(search(tmp_path / "alias", "needle"))) == ["a.txt"]


def test_a_file_that_became_a_link_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Between ripgrep and reading, each kind of change that could show something else."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("needle and a secret\n")
    for name in ("link", "gone", "other", "shorter", "same"):
        (root / name).write_text("first\nneedle\n")
    first = passes.first

    def then_change(*arguments: object, **more: object) -> object:
        result = first(*arguments, **more)
        (root / "link").unlink()
        (root / "link").symlink_to("../secret")
        (root / "gone").unlink()
        (root / "other").write_text("xirst\nneexle\n")
        (root / "shorter").write_text("f")
        return result

    monkeypatch.setattr(passes, "first", then_change)
    answer = grep(root, "needle")
    assert "secret" not in answer
    assert answer.count("2:needle") == 1
    assert "Changed while they were searched, search again: gone, link, other, shorter." in answer


@pytest.mark.parametrize(
    "name", ["a:1:b.txt", "two\nlines", "byte\udce9.txt", "-n", "x\x1b[0m", "日本"]
)
def test_hostile_names_are_one_line_and_readable(tmp_path: Path, name: str):
    (tmp_path / name).write_text("needle\n")
    answer = grep(tmp_path, "needle")
    assert answer == f'Found 1 match in 1 file for "needle"\n\n{shown(name)}\n1:needle'
    path = answer.splitlines()[2]
    assert workspace_tools(tmp_path).call("read_file", {"path": path}).endswith("\n\nneedle\n")


def test_a_giant_line_and_a_giant_match(tmp_path: Path):
    (tmp_path / "a.js").write_text("x" * 900_000 + "needle" + "é" * 600_000 + "\nneedle\n")
    result = search(tmp_path, "needle")
    assert [(row.line, row.length) for row in result.files[0].rows] == [(1, 1_500_006), (2, 6)]
    assert "[match at col 900001 · line truncated, 1,500,006 chars]" in grep(tmp_path, "needle")
    whole = search(tmp_path, "^x.*$").files[0].rows[0]
    assert (whole.hits, len(whole.text)) == (((0, 1_500_006),), 500)
    many = search(tmp_path, "x").files[0]
    assert (many.total, len(many.rows[0].hits)) == (1, 1)


def test_what_was_found_before_the_time_was_over_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "counted.txt").write_text("needle\n" * 3)
    (tmp_path / "late.txt").write_text("needle\n" * 30)
    count = ripgrep.count

    def late(*arguments: Any, **more: Any) -> ripgrep.Counted:
        counted = count(*arguments, **more)
        counted.files.pop("late.txt", None)
        counted.complete = False
        return counted

    monkeypatch.setattr(ripgrep, "count", late)
    result = search(tmp_path, "needle", max_results=8, time_limit=0.5, first_come=False)
    answer = render(result)
    assert answer.startswith('Found at least 11 matches in 2 files for "needle" (showing 8 of 11 ')
    assert answer.count(":needle") == 8
    assert "stopped at its time limit of 0.5 s: there may be more files and more matches." in answer
    nothing = render(search(tmp_path, "absent", time_limit=0.5))
    assert nothing.startswith('No matches for "absent" before the time was over.\n')


def test_only_what_can_be_shown_is_kept(tmp_path: Path):
    for place in range(300):
        (tmp_path / f"{place:03}.py").write_text("q\n" * (2 if place else 5000))
    result = search(tmp_path, "q", max_results=20)
    assert result.total == 5598
    assert sum(len(file.rows) for file in result.files) <= 40


@pytest.mark.parametrize("cap", [1, 7, 20, 33, 64, 65, 100, 199])
def test_as_many_rows_are_shown_as_the_cap_allows_whatever_order_files_come_in(
    tmp_path: Path, cap: int
):
    for place in range(64):
        (tmp_path / f"{place:02}.py").write_text("q\n" * (1 + place % 4))
    result = search(tmp_path, "q", max_results=cap)
    assert sum(kept.lines for kept in pick(result, "grep")) == min(cap, result.total)
    only = search(tmp_path, "q", max_results=cap, first_come=False)
    assert render(only) == render(result)


def test_the_root_and_the_cap_are_checked(tmp_path: Path):
    with pytest.raises(InputError):
        search(tmp_path / "gone", "x")
    with pytest.raises(UsageError, match="max_results"):
        search(tmp_path, "x", max_results=0)


parts = st.sampled_from(
    [
        "needle",
        "é",
        "日本",
        "👩",
        "\n",
        "\r\n",
        "\r",
        "\f",
        "\x0b",
        "\x1c",
        "\u2028",
        "\x85",
        " ",
        "x" * 700,
    ]
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(parts, max_size=30).map("".join), st.sampled_from(["utf-8", "utf-16", "utf-16-le"]))
def test_grep_and_read_agree_on_every_line(
    tmp_path_factory: pytest.TempPathFactory, text: str, codec: str
):
    folder = tmp_path_factory.mktemp("agree")
    (folder / "f").write_bytes(text.encode(codec))
    expected = [n for n, line in enumerate(text.split("\n"), 1) if "needle" in line]
    result = search(folder, "needle")
    found = [row for file in result.files for row in file.rows]
    if codec == "utf-16-le" and "\0" not in text.encode(codec).decode("latin-1"):
        return  # without a NUL nothing says that it is UTF-16
    assert [row.line for row in found] == expected
    tools = workspace_tools(folder)
    for row in found:
        answer = tools.call("read_file", {"path": "f", "offset": row.line, "limit": 1})
        line = answer.partition("\n\n")[2]
        assert row.length > 2000 or line.removesuffix("\n").removesuffix("\r") == row.text


@pytest.mark.data
def test_what_agents_really_search_for():
    """Real patterns of a coding agent: what we count is what `grep` counted, file by file."""
    queries = json.loads(shared("grep", "queries_real30.json").read_text())
    trees = project.cache_dir() / "trees"
    for query in queries:
        result = search(trees / query["tree"], query["pattern"], max_results=20)
        assert result.complete
        shown = pick(result, "grep")
        assert sum(kept.lines for kept in shown) == min(result.total, 20)
        answer = render(result)
        assert answer.startswith(("Found", "No matches"))
        # The trees of the queries are whole repositories, ours are what is installed.
        assert query["lines"] > 0 or result.total == 0
