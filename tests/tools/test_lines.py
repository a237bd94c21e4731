from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.errors import UsageError
from ctxlab.tools import lines
from ctxlab.tools.lines import Page, read_page
from ctxlab.tools.workspace import Workspace


def page(folder: Path, data: bytes, first: int = 1, count: int = 2000, width: int = 2000) -> Page:
    (folder / "file").write_bytes(data)
    with Workspace(folder).open("file") as file:
        return read_page(file, first, count, width)


def text(found: Page) -> str:
    return "".join(line.head + line.end for line in found.lines)


@pytest.mark.parametrize(
    ("data", "total"),
    [
        (b"", 0),
        (b"\n", 1),
        (b"a", 1),
        (b"a\nb\nc", 3),
        (b"a\nb\nc\n", 3),
        (b"a\r\nb\r\n", 2),
        (b"a\rb\x0cc\xe2\x80\xa8d\xc2\x85e\x0bf\x1cg", 1),
        (b"\n\n\n", 3),
        (b"\r\n\r", 2),
    ],
)
def test_lines_are_counted_by_their_line_feeds(tmp_path: Path, data: bytes, total: int):
    found = page(tmp_path, data)
    assert found.total == total == len(found.lines)
    assert text(found).encode() == data


@pytest.mark.parametrize(
    "size", [lines.BLOCK - 1, lines.BLOCK, lines.BLOCK + 1, lines.BLOCK * 2 + 7]
)
@pytest.mark.parametrize(
    "unit", [b"x", b"x\n", b"xy\r\n", "é\n".encode(), "日本\r\n".encode(), "👩\n".encode()]
)
def test_nothing_happens_at_the_edge_of_a_block(tmp_path: Path, size: int, unit: bytes):
    data = unit * (size // len(unit) + 1)
    found = page(tmp_path, data, count=10**6, width=10**6)
    assert text(found).encode() == data
    assert found.encoding.said == ""
    assert found.crlf == data.count(b"\r\n")
    assert found.lf == data.count(b"\n") - data.count(b"\r\n")
    last = page(tmp_path, data, first=found.total, width=10**6)
    assert text(last) == data.decode().splitlines(keepends=True)[-1]


def test_a_large_file_is_counted_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = b"some line of a log\r\n" * 20_000 + "ünd\n".encode() * 30_000
    plain = page(tmp_path, data, first=20_001, count=3)
    monkeypatch.setattr(lines, "_LARGE", 0)
    fast = page(tmp_path, data, first=20_001, count=3)
    assert plain == fast
    assert (fast.total, fast.crlf, fast.lf, text(fast)) == (50_000, 20_000, 30_000, "ünd\n" * 3)


def test_a_long_line_keeps_its_ends_and_its_length(tmp_path: Path):
    long = "".join(chr(0x4E00 + n % 5000) for n in range(400_000))
    found = page(tmp_path, f"a\n{long}\r\nb".encode(), width=50)
    assert [line.length for line in found.lines] == [1, 400_000, 1]
    assert (found.lines[1].head, found.lines[1].tail) == (long[:50], long[-50:])
    assert found.lines[1].end == "\r\n"


@pytest.mark.parametrize("length", [48, 49, 50, 51, 52])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_width_is_of_the_line_without_its_end(tmp_path: Path, length: int, end: str):
    line = page(tmp_path, f"{'x' * length}{end}".encode(), width=50).lines[0]
    assert (line.length, line.end, bool(line.tail)) == (length, end, length > 50)
    assert line.head == "x" * min(length, 50)


def test_bytes_that_are_not_utf8_late_in_the_file_do_not_change_what_it_is(tmp_path: Path):
    data = "日本語のテキスト\n".encode() * 30_000 + b"bad \xff byte\n"
    found = page(tmp_path, data, first=30_000)
    assert text(found) == "日本語のテキスト\nbad \\xff byte\n"
    assert r"\xNN" in found.encoding.said


def test_utf8_that_ends_in_the_middle_of_a_character(tmp_path: Path):
    assert text(page(tmp_path, "日本".encode()[:-1])) == "日\\xe6\\x9c"


def test_gbk_is_decoded_by_name_wherever_its_first_byte_stands(tmp_path: Path):
    line = "中文注释：这个函数读取配置文件，第二行，测试编码\n"
    found = page(tmp_path, b"x = 1\n" * 60_000 + line.encode("gbk"), first=60_001)
    assert text(found) == line
    assert "gb" in found.encoding.said


def test_a_file_that_grows_or_shrinks_while_it_is_read(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"one\ntwo\n")
    with Workspace(tmp_path).open("file") as file:
        with (tmp_path / "file").open("ab") as grow:
            grow.write(b"three\n")
        assert read_page(file, 1, 10, 10).total == 2
        (tmp_path / "file").write_bytes(b"o")
        assert read_page(file, 1, 10, 10).total == 1
        (tmp_path / "file").write_bytes(b"")
        assert read_page(file, 1, 10, 10).total == 0


def test_binary_is_refused_with_its_size(tmp_path: Path):
    with pytest.raises(UsageError, match=r"^'file' is binary \(1,234 bytes\), not text$"):
        page(tmp_path, b"\x7fELF\0\0" + b"x" * 1228)


@contextmanager
def small_blocks(size: int):
    before, lines.BLOCK = lines.BLOCK, size
    try:
        yield
    finally:
        lines.BLOCK = before


ends = st.sampled_from(["\n", "\r\n", "\r", "\f", "\u2028", "\x85", "é", "👩", "x", "日"])
plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@settings(deadline=None)
@given(
    st.lists(plain | ends, max_size=20).map("".join),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.integers(1, 4),
    st.sampled_from([7, 64, 1 << 17]),
)
def test_pages_join_to_the_text(
    tmp_path_factory: pytest.TempPathFactory, written: str, codec: str, count: int, block: int
):
    folder = tmp_path_factory.mktemp("pages")
    written = written.removeprefix("\ufeff")
    with small_blocks(block):
        pages = [page(folder, written.encode(codec), 1, count)]
        while sum(len(found.lines) for found in pages) < pages[0].total:
            pages.append(page(folder, written.encode(codec), 1 + count * len(pages), count))
    assert "".join(text(found) for found in pages) == written
    assert pages[0].total == len(written.removesuffix("\n").split("\n")) - (written == "")
    assert {found.total for found in pages} == {pages[0].total}
