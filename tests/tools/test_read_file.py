from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.tools import Toolset, workspace_tools

NEXT = re.compile(r"the next call is read_file\((.*)\)\.$", re.MULTILINE)


@pytest.fixture
def tools(tmp_path: Path) -> Toolset:
    return workspace_tools(tmp_path)


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def body(answer: str) -> str:
    return answer.partition("\n\n")[2]


def follow(tools: Toolset, answer: str) -> list[str]:
    """The answers of the calls that each answer names, to the end."""
    answers = [answer]
    while told := NEXT.search(answers[-1].partition("\n\n")[0]):
        arguments = eval(f"dict({told[1]})", {})
        answers.append(tools.call("read_file", arguments))
        assert len(answers) < 100
    return answers


def test_a_partial_read_says_so_and_names_the_call_that_goes_on(tools: Toolset, tmp_path: Path):
    (tmp_path / "a.py").write_text(numbered(430))
    answer = tools.call("read_file", {"path": "a.py", "limit": 200})
    assert answer.startswith(
        "File: 'a.py'. Lines 1 to 200 (of 430 total lines).\n"
        "Partial: 230 lines remain; the next call is "
        'read_file(path="a.py", offset=201, limit=200).\n'
        "\n"
        "line 1\n"
    )
    answers = follow(tools, answer)
    assert [a.splitlines()[0] for a in answers[1:]] == [
        "File: 'a.py'. Lines 201 to 400 (of 430 total lines).",
        "File: 'a.py'. Lines 401 to 430 (of 430 total lines). End of file.",
    ]
    assert "".join(map(body, answers)) == numbered(430)


def test_a_read_beyond_the_end_says_that_the_file_ended(tools: Toolset, tmp_path: Path):
    (tmp_path / "a.py").write_text(numbered(50))
    answer = tools.call("read_file", {"path": "a.py", "limit": 1000})
    assert answer.startswith(
        "File: 'a.py'. Lines 1 to 50 (of 50 total lines). End of file.\n\nline 1"
    )


def test_2000_lines_are_the_limit_whatever_is_asked(tools: Toolset, tmp_path: Path):
    (tmp_path / "a.log").write_text(numbered(4500))
    for arguments in ({"path": "a.log"}, {"path": "a.log", "limit": 10**9}):
        answers = follow(tools, tools.call("read_file", arguments))
        assert "2500 lines remain" in answers[0]
        assert [body(a).count("\n") for a in answers] == [2000, 2000, 500]
        assert "".join(map(body, answers)) == numbered(4500)
    assert "a read gives at most 2000 lines" in tools.call(
        "read_file", {"path": "a.log", "limit": 3000}
    )


def test_a_long_line_keeps_head_and_tail_within_2000_characters(tools: Toolset, tmp_path: Path):
    line = "".join(f"<{n:05}>" for n in range(1171))[:8193]
    (tmp_path / "min.js").write_text(f"short\n{line}\nshort\n")
    first, long, last = body(tools.call("read_file", {"path": "min.js"})).splitlines()
    assert (first, last) == ("short", "short")
    assert len(long) == 2000
    assert long.startswith("<00000>")
    assert long.endswith(f"{line[-50:]} [line truncated, 8,193 chars]")
    head, _, tail = long.removesuffix(" [line truncated, 8,193 chars]").partition("...")
    assert line.startswith(head)
    assert line.endswith(tail)


@pytest.mark.parametrize("length", [1999, 2000])
def test_a_line_of_2000_characters_is_whole(tools: Toolset, tmp_path: Path, length: int):
    (tmp_path / "a").write_text("é" * length)
    assert body(tools.call("read_file", {"path": "a"})) == "é" * length


def test_an_offset_past_the_end_names_the_total(tools: Toolset, tmp_path: Path):
    (tmp_path / "a.py").write_text("a\nb\nc")
    (tmp_path / "empty.py").write_text("")
    error = "Error: offset 4 is past the end of 'a.py', which has 3 lines"
    assert tools.call("read_file", {"path": "a.py", "offset": 4}) == error
    assert tools.call("read_file", {"path": "a.py", "offset": 3}).endswith("\n\nc")
    empty = tools.call("read_file", {"path": "empty.py"})
    assert empty == "File: 'empty.py'. The file is empty (0 lines).\n\n"
    error = "Error: offset 2 is past the end of 'empty.py', which is empty (0 lines)"
    assert tools.call("read_file", {"path": "empty.py", "offset": 2}) == error


@pytest.mark.parametrize("name", ["offset", "limit"])
@pytest.mark.parametrize("value", [0, -1, -(10**9)])
def test_a_range_that_goes_nowhere_is_an_error(
    tools: Toolset, tmp_path: Path, name: str, value: int
):
    (tmp_path / "a.py").write_text("a\n")
    answer = tools.call("read_file", {"path": "a.py", name: value})
    assert answer == f"Error: read_file: {name} must be at least 1, not {value:,}"


def test_line_ends_are_kept_and_told(tools: Toolset, tmp_path: Path):
    (tmp_path / "mixed.txt").write_bytes(b"one\r\ntwo\nthree\r\n")
    (tmp_path / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    mixed = tools.call("read_file", {"path": "mixed.txt"})
    assert "Line ends are mixed: 2 \\r\\n, 1 \\n.\n" in mixed
    assert body(mixed).encode() == (tmp_path / "mixed.txt").read_bytes()
    dos = tools.call("read_file", {"path": "dos.txt"})
    assert "Line ends: \\r\\n.\n" in dos
    assert body(dos) in (tmp_path / "dos.txt").read_bytes().decode()


def test_text_in_other_encodings_is_decoded_and_named(tools: Toolset, tmp_path: Path):
    chinese = "中文注释：这个函数读取配置文件\n第二行，测试编码\n"
    for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "gbk"):
        (tmp_path / codec).write_bytes(chinese.encode(codec))
        answer = tools.call("read_file", {"path": codec})
        assert "\nEncoding: " in answer
        assert body(answer) == chinese
        assert "\ufffd" not in answer


def test_a_head_cut_inside_a_character_is_not_binary(tools: Toolset, tmp_path: Path):
    for text in ("a" * 8190 + "가나다", "a" * 65_535 + "가나다\n"):
        (tmp_path / "a").write_text(text, encoding="utf-8")
        answer = tools.call("read_file", {"path": "a"})
        assert "Encoding" not in answer
        assert f"가나다 [line truncated, {len(text.rstrip()):,} chars]" in answer


def test_binary_is_refused_with_its_size(tools: Toolset, tmp_path: Path):
    (tmp_path / "prog").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(993))
    answer = tools.call("read_file", {"path": "prog"})
    assert answer == "Error: 'prog' is binary (1,000 bytes), not text"


def test_the_next_call_quotes_any_name(tools: Toolset, tmp_path: Path):
    for name in (
        "qu\"ote's.py",
        "two\nlines.py",
        "back\\slash.py",
        "日本.py",
        "a:b.py",
        "x\udce9.py",
    ):
        (tmp_path / name).write_text(numbered(3))
        first = tools.call("read_file", {"path": name, "limit": 2})
        assert "".join(map(body, follow(tools, first))) == numbered(3)


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300),
    st.integers(1, 5),
)
def test_pages_join_to_the_text(tmp_path_factory: pytest.TempPathFactory, written: str, limit: int):
    folder = tmp_path_factory.mktemp("read")
    (folder / "f").write_bytes(written.encode())
    tools = workspace_tools(folder)
    answers, offset = [tools.call("read_file", {"path": "f", "limit": limit})], 1
    while NEXT.search(answers[-1].partition("\n\n")[0]):
        offset += limit
        answers.append(tools.call("read_file", {"path": "f", "offset": offset, "limit": limit}))
    assert "".join(map(body, answers)) == written.removeprefix("\ufeff")


@pytest.mark.parametrize("kind", ["lines", "one line", "wide"])
def test_a_large_file_is_read_in_little_memory(tools: Toolset, tmp_path: Path, kind: str):
    """48 MB: the lines of a log, one single line, the same in UTF-16."""
    line = {"lines": "an entry of a log\n", "one line": "abcdefghijk é", "wide": "entry\n"}[kind]
    codec = "utf-16" if kind == "wide" else "utf-8"
    block = (line * 200_000).encode(codec.replace("utf-16", "utf-16-le"))
    with (tmp_path / "large").open("wb") as file:
        file.write("\ufeff".encode("utf-16-le") if kind == "wide" else b"")
        while file.tell() < 48 << 20:
            file.write(block)
    tools.call("read_file", {"path": "large", "limit": 1})  # what is imported stays
    tracemalloc.start()
    answer = tools.call("read_file", {"path": "large"})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.startswith("File: 'large'. Lines 1 to ")
    assert peak < 8 << 20
