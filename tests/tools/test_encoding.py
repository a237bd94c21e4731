from __future__ import annotations

import codecs
import subprocess
import sys
from pathlib import Path

import pytest

from ctxlab.tools.encoding import HEAD, guess, sniff

CHINESE = "中文注释：这个函数读取配置文件\n第二行，测试编码\n"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    ["plain ascii\nsecond line\n", "é à ü\n", f"x = 1\n{CHINESE}", CHINESE, "Привет, мир\n"],
)
def test_utf16_is_text_with_and_without_its_mark(codec: str, text: str):
    data = text.encode(codec)
    mark = codecs.BOM_UTF16_LE if codec.endswith("le") else codecs.BOM_UTF16_BE
    marked, bare = sniff(mark + data), sniff(data)
    assert marked is not None
    assert (marked.codec, marked.mark) == (codec, 2)
    assert bare is not None
    assert (bare.codec, bare.mark) == (codec, 0)


@pytest.mark.parametrize(
    "data",
    [
        Path(sys.executable).resolve().read_bytes()[:HEAD],
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
        b"text with one \0 NUL\n",
        b"text with one  \0 NUL\n\n",
        b"\0" * 100,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"a\0b\0c\0\n",
        codecs.BOM_UTF32_LE + "text".encode("utf-32-le"),
        bytes(range(256)) * 4,
    ],
)
def test_binary_is_binary(data: bytes):
    assert sniff(data) is None


def test_a_head_that_ends_inside_a_character_is_text():
    for text in ("a" * 8190 + "가나다", "가" * HEAD):
        head = text.encode()[:HEAD]
        found = sniff(head)
        assert found is not None
        assert found.codec == "utf-8"
    wide = ("x\n" * HEAD).encode("utf-16-le")[:HEAD]
    assert sniff(wide) is not None


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("gb18030", CHINESE),
        ("shift_jis", "設定ファイルを読み込む関数\nテスト行です。\n"),
        ("euc_jp", "設定ファイルを読み込む関数\nテスト行です。\n"),
        ("big5", "這個函數讀取設定檔\n第二行，測試編碼\n"),
        ("euc_kr", "이 함수는 설정 파일을 읽습니다\n두 번째 줄\n"),
        ("cp1251", "Эта функция читает файл настроек и возвращает результат\n" * 10),
        ("cp1252", "Die Größe der Datei überschreitet die Länge – „schön“\n" * 5),
    ],
)
def test_legacy_text_is_decoded_and_the_guess_is_named(codec: str, text: str):
    sample = text.encode(codec)
    found = guess(b"", sample)
    assert sample.decode(found.codec) == text
    assert found.codec in found.said
    assert "a guess" in found.said


@pytest.mark.parametrize(
    "head",
    [
        b"# -*- coding: gbk -*-\n",
        b"# vim: set fileencoding=gbk :\n",
        b'<?xml version="1.0" encoding="gbk"?>',
        b'<meta charset="gbk">',
        b"<meta http-equiv=content-type content='text/html; charset=gbk'>",
    ],
)
def test_what_a_file_declares_comes_before_a_guess(head: bytes):
    # Two syllables fit Korean as well: only the declaration can tell.
    found = guess(head, "返回结果".encode("gbk"))
    assert (found.codec, found.said) == ("gbk", "gbk, as the file declares")


@pytest.mark.parametrize(
    "declared", [b"coding: rot13", b"coding: hex", b"coding: ascii", b"coding: u"]
)
def test_a_declaration_that_does_not_fit_is_ignored(declared: bytes):
    assert guess(declared, b"needle \xff\xfe tail").codec == "utf-8"


def test_a_few_stray_bytes_are_shown_as_they_are_not_guessed():
    for sample in (b"needle \xff\xfe tail", b"caf\xe9", b"x" * 300 + b"\xff"):
        found = guess(b"", sample)
        assert found.codec == "utf-8"
        assert r"\xNN" in found.said


def test_plain_text_does_not_pay_for_the_guess():
    program = "import sys, ctxlab.tools; print('charset_normalizer' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert said.stdout.strip() == "False"
