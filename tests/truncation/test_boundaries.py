# ruff: noqa: E501  samples of code stand on a line each
from __future__ import annotations

import re

import pytest

from ctxlab.truncation import truncate
from ctxlab.truncation.boundaries import languages
from ctxlab.truncation.boundaries.logs import LogEntries, entry_starts
from ctxlab.truncation.boundaries.markdown import outline

CODE = {
    "python": (
        "import os\n\n\nclass A:\n    b = 1\n\n{0}",
        "    # Why {0}.\n    @cached\n    def m{0}(self, x):\n        if x:\n            return {0}\n\n",
    ),
    "javascript": (
        "import a from 'a';\n\nexport class B {{\n  c = 1;\n\n{0}}}\n",
        "  /** Why {0}. */\n  m{0}(x) {{\n    if (x) {{ return {0}; }}\n  }}\n\n",
    ),
    "typescript": (
        "import {{ a }} from 'a';\n\nexport class B {{\n  private c: number = 1;\n\n{0}}}\n",
        "  // Why {0}.\n  m{0}(x: string): number {{\n    return {0};\n  }}\n\n",
    ),
    "go": (
        'package main\n\nimport "fmt"\n\n{0}',
        "// M{0} says why.\nfunc M{0}(x int) int {{\n\tif x > 0 {{\n\t\treturn {0}\n\t}}\n\treturn x\n}}\n\n",
    ),
    "java": (
        "package a;\n\nimport java.util.List;\n\npublic class A {{\n\n{0}}}\n",
        "  /** Why {0}. */\n  @Override\n  public int m{0}(int x) {{\n    return {0};\n  }}\n\n",
    ),
    "rust": (
        "use std::fs;\n\nimpl A {{\n{0}}}\n",
        "    /// Why {0}.\n    #[inline]\n    pub fn m{0}(&self) -> u32 {{\n        {0}\n    }}\n\n",
    ),
    "c": (
        "#include <stdio.h>\n\n{0}",
        "/* Why {0}. */\nstatic int m{0}(int x) {{\n  if (x) {{\n    return {0};\n  }}\n  return x;\n}}\n\n",
    ),
}
WHY = re.compile(r"(?:# |// |/\*\* |/// |/\* )(?:Why (\d+)\.|M(\d+) says)")
NAMED = re.compile(r"\b[mM](\d+)\(")


@pytest.mark.parametrize("keep", ["head", "both", "tail"])
@pytest.mark.parametrize("language", CODE)
def test_functions_stay_whole_with_their_comments_and_their_class(language, keep):
    frame, method = CODE[language]
    text = frame.format("".join(method.format(n) for n in range(100)))
    assert languages.guess(text) == language
    for limit in (700, 1500, 4000):
        cut = truncate(text, limit, keep=keep)
        assert cut.kind == "code"
        assert not languages.parse(cut.text, language)[0].has_error
        told = {a or b for a, b in WHY.findall(cut.text)}
        assert told == set(NAMED.findall(cut.text))
        assert len(cut.text) > limit / 2


def test_other_languages_go_by_their_indentation():
    block = "  def m{0}(x)\n    if x\n      {0}\n    end\n  end\n\n"
    text = "class A\n" + "".join(block.format(n) for n in range(100)) + "end\n"
    cut = truncate(text, 1000, kind="code")
    assert cut.text.startswith("class A\n  def m0(x)\n")
    assert cut.text.endswith("  end\n\nend\n")
    assert cut.text.count("def ") * 2 + 1 == len(re.findall(r"^ *end$", cut.text, re.MULTILINE))


def test_a_diff_keeps_the_names_of_the_files_whose_hunks_stay():
    hunk = "@@ -{0},2 +{0},2 @@\n context\n-old {0}\n+new {0}\n"
    files = [
        f"diff --git a/f{n} b/f{n}\n--- a/f{n}\n+++ b/f{n}\n"
        + "".join(hunk.format(10 * m + 1) for m in range(40))
        for n in range(3)
    ]
    text = "".join(files)
    head = truncate(text, 900)
    assert head.kind == "diff"
    assert head.text.startswith(files[0][:60])
    assert head.text.endswith(("\n",))
    assert head.text.count("@@ -") == head.text.count("-old") == head.text.count("+new")
    tail = truncate(text, 900, keep="tail")
    assert tail.text.startswith("diff --git a/f2 b/f2\n--- a/f2\n+++ b/f2\n@@ ")
    assert tail.text.endswith("+new 391\n")
    inside = truncate(files[0][:47] + "@@ -1,900 +1 @@\n" + "-line\n" * 900, 200)
    assert "@@ -1,900 +1 @@\n-line\n" in inside.text


def test_search_results_keep_the_path_over_the_matches_that_stay():
    text = 'Found 900 matches in 3 files for "x"\n\n' + "\n".join(
        f"src/f{n}.py\n" + "".join(f"{m}:x = {m}\n" for m in range(1, 301)) for n in range(3)
    )
    cut = truncate(text, 400)
    assert cut.kind == "search"
    assert cut.text.startswith('Found 900 matches in 3 files for "x"\n\nsrc/f0.py\n1:x = 1\n')
    assert set(cut.text.splitlines()) <= set(text.splitlines())
    tail = truncate(text, 400, keep="tail")
    assert tail.text.startswith('Found 900 matches in 3 files for "x"\n\nsrc/f2.py\n')
    assert tail.text.endswith("300:x = 300\n")
    tags = "".join(f'<match path="/a" line={n}>\nx = {n}\n</match>\n' for n in range(99))
    cut = truncate(f"99 matches\n{tags}", 400)
    assert cut.text.count("<match ") == cut.text.count("</match>") > 5
    groups = "--\n".join(
        f"a.py-{n}-before\na.py:{n + 1}:hit\na.py-{n + 2}-after\n" for n in range(99)
    )
    cut = truncate(groups, 400, kind="search")
    assert cut.text.count("before") == cut.text.count("hit") == cut.text.count("after") > 5


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("10:00:00 a\n  b\nc\n10:00:01 d\n", [0, 17]),
        ("preamble\n10:00:00 a\n10:00:01 b\n", [0, 9, 20]),
        ("ok\nTraceback (most recent call last):\n  File\nValueError: x\nok\n", [0, 59]),
        ("ok\n\nTraceback (most recent call last):\n  File\nValueError: x\nok\n", [0, 4, 60]),
        ("a.c:1: error: x\n  1 | y\n    | ^\na.c:2: error: z\n", [0, 32]),
        ("java.lang.A: b\n\tat c\nCaused by: d\n\tat e\n\t... 9 more\nnext\n", [0, 52]),
        ("panic: x\n\ngoroutine 1 [running]:\nmain.f()\n\t/a.go:1\nnext\n", [0]),
        ("thread 'main' panicked at a.rs:1:\nx\nstack backtrace:\n   0: y\nnext\n", [0, 61]),
        ("one\ntwo\n", [0, 4]),
    ],
)  # fmt: skip
def test_where_log_entries_begin(text, starts):
    assert entry_starts(text, 0, len(text)) == starts


@pytest.mark.parametrize(
    ("entry", "is_error"),
    [
        ("10:00:00 ERROR down", True),
        ("10:00:00 [error] down", False),
        ("10:00:00 INFO retried after ERROR 5", False),
        ("10:00:00 INFO handled\nTraceback (most recent call last):\nKeyError: 1", True),
        ("10:00:00 WARNING disk", False),
        ("10:00:00 level=error msg=x", True),
        ("10:00:00 level=info errors=0", False),
        ("E1130 10:00:00.0 1 a.go:1] x", True),
        ('1.2.3.4 - - [30/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 503 5', True),
        ("10:00:00 FATAL x", True),
        ("10:00:00 0 FAILED, 5 passed", True),
        ("a.c:1:1: fatal error: x.h: No such file", True),
        ("java.lang.IllegalStateException: x", True),
    ],
)
def test_which_entries_tell_of_an_error(entry, is_error):
    text = f"10:00:00 INFO up\n{entry}\n10:00:00 INFO up\n"
    found = LogEntries()(text, 0, len(text), (999, 999))
    assert bool(found.first) is is_error


def test_headings_and_fences_of_markdown():
    text = (
        "Title\n=====\n\n# One\n\n```md\n# not one\n~~~\n```\n\n  ## Two ##\n\n"
        "- item\n\n  ```\n  code\n  ```\n\nSub\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~~\nopen\n"
    )
    headings, fences = outline(text)
    assert [heading.level for heading in headings] == [1, 1, 2, 2]
    assert [text[fence.opened : fence.closed] for fence in fences] == [
        "# not one\n~~~\n",
        "  code\n",
        "open\n",
    ]


def test_a_table_keeps_its_head_and_a_list_whole_items():
    rows = "".join(f"| {n} | x |\n" for n in range(200))
    cut = truncate(f"# T\n\n| a | b |\n|---|---|\n{rows}", 300, kind="markdown", keep="tail")
    assert cut.text.startswith("# T\n\n| a | b |\n|---|---|\n")
    assert cut.text.endswith("| 199 | x |\n")
    items = "".join(f"- item {n}\n  more of {n}\n" for n in range(200))
    cut = truncate(f"# L\n\n{items}", 300, kind="markdown")
    assert cut.text.count("- item") == cut.text.count("more of") > 5


def test_an_unquoted_and_a_quoted_field_are_cut_inside_when_no_row_fits():
    for row in ("1," + "x" * 900, '1,"' + 'x""' * 300 + '"'):
        cut = truncate(f"a,b\n{row}\n", 60, kind="csv")
        assert cut.text.startswith("a,b\n1,")
        assert cut.text.count('"') % 2 == 0
        assert 50 < len(cut.text) <= 60
