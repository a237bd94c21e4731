from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.errors import InputError
from ctxlab.workbench.report import ansi, html, markdown, outputs, text, vector, write_report
from tests.workbench.made_runs import (
    FAILURE,
    PARAMETERS,
    SVG,
    code,
    display,
    error,
    made,
    stream,
)
from tests.workbench.made_runs import markdown as prose

EVIL = (
    '<script>alert(1)</script></script><img src=x onerror=alert(1)> $$x$$ "quoted" &amp; \x1b[31m'
)


class Page(HTMLParser):
    """Tags, attributes and text of a page, as a browser would see them."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(run: Path) -> Page:
    return Page(write_report(run).read_text(encoding="utf-8"))


def check_safe(page: Page) -> None:
    """One script of ours, no event handler, nothing to load, no place twice."""
    assert page.tags["script"] == 1
    for gone in ("iframe", "object", "embed", "form", "base", "foreignobject", "link"):
        assert page.tags[gone] <= (gone == "link")
    for _, name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "xlink:href", "action", "data"):
            assert re.match(r"#|data:|\.\./\.\./index\.html|[\w.%-]+$", value), value
        if name == "style":
            assert "url(" not in value.replace("url(#", "")
    assert len(page.ids) == len(set(page.ids))


def test_a_whole_report(tmp_path: Path) -> None:
    run = made(
        tmp_path,
        prose("# Twelve changes\n\nWhat is **kept**?"),
        code(PARAMETERS, tags=["parameters"]),
        prose("## Kept\n\n### By prefix"),
        code(
            "x = 1  # comment",
            stream("told\n"),
            display({"text/html": SVG, "text/plain": "A line."}, ctxlab={"chart": "kept"}),
            display(
                {"text/html": '<table class="ctxlab-table"><tr><td>7</td></tr></table>'},
                ctxlab={"table": "kept"},
            ),
            count=2,
        ),
        files={"kept.csv": "a\n7\n", "kept.svg": SVG, "log.txt": ""},
        tables={"kept": {"path": "kept.csv", "rows": 1, "key": ["a"], "measured": False}},
        charts={"kept": {"path": "kept.svg", "alt": "A line.", "sha256": ""}},
    )
    page = read(run)
    check_safe(page)
    assert page.tags["h1"] == 1
    for told in (
        "Twelve changes", "succeeded", "30 Nov 2026, 14:22 UTC", "took 12.3 s", "01234567",
        "draws of the session", "Kept", "By prefix", "told", "kept.csv", "1 rows, by a",
        "claude-sonnet-4-5", "1.2 kB", "inputs_sha256",
    ):  # fmt: skip
        assert told in page.text
    assert ("svg", "aria-label", "A line.") in page.attributes
    assert ("figure", "id", "chart-kept") in page.attributes
    links = {value[1:] for tag, name, value in page.attributes if tag == "a" and value[:1] == "#"}
    assert links <= set(page.ids)


def test_nothing_in_a_report_names_an_address(tmp_path: Path) -> None:
    run = made(tmp_path, prose("# A"), code("1", display({"text/html": SVG}), error()))
    source = write_report(run).read_text()
    assert not re.search(r"(https?:)?//[\w.-]+\.\w", source)
    assert "w3.org" not in source


def test_a_failed_run_says_what_and_where(tmp_path: Path) -> None:
    run = made(
        tmp_path,
        prose("# A"),
        code("1 / 0", stream("before"), error(), count=2),
        code("never()", count=None),
        status="failed",
        error=FAILURE,
    )
    page = read(run)
    check_safe(page)
    assert "This run failed in In [2]" in page.text
    assert page.text.count("ZeroDivisionError: division by zero") == 2
    assert ("a", "href", "#cell-1") in page.attributes
    assert ("section", "class", "cell failed") in page.attributes
    assert ("span", "class", "a1") in page.attributes
    assert "Did not run" in page.text


@pytest.mark.parametrize("broken", [None, "", "[]", "{}", '{"cells": 3}', '{"cells": [3, null]}'])
@pytest.mark.parametrize("manifest", [None, "", "[]", "{}", '{"tables": 3, "git": [], "data": {}}'])
def test_what_is_missing_or_broken_is_said(
    tmp_path: Path, broken: str | None, manifest: str | None
) -> None:
    run = made(tmp_path)
    for name, content in (("notebook.ipynb", broken), ("manifest.json", manifest)):
        (run / name).unlink()
        if content is not None:
            (run / name).write_text(content)
    page = read(run)
    check_safe(page)
    assert "no readable manifest" in page.text


def test_a_chart_that_the_notebook_does_not_show_stands_at_the_end_or_is_missed(
    tmp_path: Path,
) -> None:
    charts = {
        "there": {"path": "there.svg", "alt": "A line", "sha256": ""},
        "gone": {"path": "gone.svg", "alt": "Bars of a & b", "sha256": ""},
        "evil": {"path": "../../../evil.svg", "alt": "", "sha256": ""},
    }
    (tmp_path / "evil.svg").write_text(SVG)
    page = read(made(tmp_path / "results", files={"there.svg": SVG}, charts=charts))
    assert page.tags["svg"] == 1
    assert "The chart gone is not there: Bars of a & b" in page.text
    assert not any("evil" in value for tag, _, value in page.attributes if tag == "a")


def test_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run directory"):
        write_report(tmp_path / "nowhere")


def test_writing_again_leaves_one_file_and_the_same_bytes(tmp_path: Path) -> None:
    run = made(tmp_path, prose("# A"), code("1", stream("x")))
    first = write_report(run).read_bytes()
    assert write_report(run).read_bytes() == first
    assert sorted(path.name for path in run.iterdir()) == [
        "manifest.json", "notebook.ipynb", "report.html",
    ]  # fmt: skip


EVIL_OUTPUTS = {
    "stream": stream(EVIL),
    "stderr": stream(EVIL, "stderr"),
    "plain": display({"text/plain": EVIL}),
    "html": display({"text/html": EVIL, "text/plain": "p"}),
    "cell": display({"text/html": f"<table><tr><td>{EVIL}</td></tr></table>"}),
    "svg": display({"image/svg+xml": f"<svg>{EVIL}</svg>"}),
    "markdown": display({"text/markdown": f"{EVIL}\n[a](javascript:alert(1)) ![a](http://a.b/c)"}),
    "json": display({"application/json": {EVIL: EVIL}}),
    "png": display({"image/png": f'"{EVIL}'}),
    "javascript": display({"application/javascript": "alert(1)", "text/plain": EVIL}),
    "traceback": error(EVIL),
    "names": display({"text/html": SVG}, ctxlab={"chart": EVIL, "table": EVIL}),
    "wrong": {"output_type": "display_data", "data": {"text/html": 3, "text/plain": None}},
    "nothing": {"output_type": EVIL},
}


@pytest.mark.parametrize("output", EVIL_OUTPUTS.values(), ids=EVIL_OUTPUTS)
def test_hostile_output_stays_text(tmp_path: Path, output: dict[str, object]) -> None:
    run = made(tmp_path, code(EVIL, output), prose(EVIL), parameters={EVIL: EVIL}, entry="e")
    page = read(run)
    check_safe(page)
    assert page.tags["img"] == 0
    assert "<script>alert(1)</script>" in page.text
    assert "$$x$$" in page.text


PIECES = """
    <svg> </svg> <math> <style> </style> <!-- --> <table> <td> </table> <p title=' > " <script>
    </script> <noscript> <iframe> <b onclick=x> </b> <a href=javascript:x> text <![CDATA[ ]]>
    &lt;script&gt; <img/src=x> <template> <select> <xmp> <plaintext> <mtext> <foreignObject>
    <?php ?> <SCRIPT/x> </SCRIPT\t> <tr> <title> <textarea>
"""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES.split()), max_size=12))
def test_no_html_gets_a_forbidden_tag_through(pieces: list[str]) -> None:
    page = Page(str(html.cleaned(" ".join(pieces), "T")))
    assert set(page.tags) <= {"table", "td", "tr", "p", "b", "div"}
    assert {name for _, name, _ in page.attributes} <= {"class", "tabindex", "role", "aria-label"}


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("<p onclick=x>a</p>", "<p>a</p>"),
        ("a<script>b</script>c", "ac"),
        ("a<script>b", ""),
        ("<style>*{}</style>", ""),
        ("<h1>a</h1>", "<p>a</p>"),
        ("<b>a", "<b>a</b>"),
        ("</td></table>a", "a"),
        ("<a href='http://a.b'>a</a>", "a"),
        ("<td colspan='2' rowspan='x'>a</td>", '<td colspan="2">a</td>'),
        ("<td style='text-align: right; position: fixed'>a</td>", '<td class="num">a</td>'),
        ("<td>−1,234.5</td>", "<td>−1,234.5</td>"),
        ("<th></th><td>a</td>", "<td></td><td>a</td>"),
        ("<th>a_b</th>", "<th>a_<wbr>b</th>"),
        ("<td>nineteen characters</td>", '<td class="words">nineteen characters</td>'),
        ("&lt;b&gt;", "&lt;b&gt;"),
        ("a\x1bb&#27;", "a␛b"),
    ],
)  # fmt: skip
def test_html_is_rebuilt_from_what_is_allowed(source: str, kept: str) -> None:
    assert str(html.cleaned(source, "T")) == kept


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (["1", "2.5", "−3"], True),
        (["1,234", "", "–"], True),
        (["1", "1, 4"], False),
        (["", ""], False),
        (["50%", "$1.20", "1e-5"], True),
    ],
)
def test_columns_of_numbers_stand_on_the_right(cells: list[str], right: bool) -> None:
    rows = "".join(f"<tr><td>a</td><td>{cell}</td></tr>" for cell in cells)
    table = f"<table><tr><th>name</th><th>value</th></tr>{rows}</table>"
    told = str(html.cleaned(table, "T"))
    assert told.count('class="num"') == (len(cells) + 1) * right
    assert ('<th class="num">value' in told) is right


def test_our_own_tables_know_their_columns() -> None:
    row = '<tr><td class="num">1</td><td>2</td></tr>'
    told = html.cleaned(f'<table class="ctxlab-table">{row}</table>', "T")
    assert row in told


def test_deep_html_is_no_danger() -> None:
    assert "x" in html.cleaned("<div>" * 5_000 + "x", "T")


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        ('<rect onclick="x" width="1"/>', '<rect width="1"/>'),
        ('<a href="javascript:x"><rect/></a>', ""),
        ("<foreignObject><p>a</p></foreignObject>", ""),
        ("<style>*{fill:url(http://a.b)}</style>", ""),
        ('<rect style="fill: url(http://a.b)"/>', "<rect/>"),
        ('<rect style="fill: url( &quot;#p&quot; )"/>', '<rect style="fill: url(#i-p)"/>'),
        ('<rect fill="url(//a.b/c#p)"/>', "<rect/>"),
        ('<rect style="background: image-set(x)"/>', "<rect/>"),
        (r'<rect style="fill: \75rl(x)"/>', "<rect/>"),
        ('<use href="#p"/><use href="http://a.b#p"/>', '<use href="#i-p"/><use/>'),
        ('<image href="data:image/svg+xml;base64,AAAA"/>', "<image/>"),
        ('<image href="data:image/png;base64,AAAA"/>',
         '<image href="data:image/png;base64,AAAA"/>'),
        ('<set attributeName="href" to="javascript:x"/>', ""),
        ('<path id="p" d="M0 0"/>', '<path id="i-p" d="M0 0"/>'),
        ("<text>a &lt;b&gt;<tspan>c</tspan>d</text>",
         "<text>a &lt;b&gt;<tspan>c</tspan>d</text>"),
    ],
)  # fmt: skip
def test_svg_is_rebuilt_from_what_is_allowed(inside: str, kept: str) -> None:
    whole = vector.cleaned(f"<svg>{inside}</svg>", "L", "i-")
    body = re.sub(r"^<svg[^>]*?(/>|>)|</svg>$", "", str(whole))
    assert body == kept


@pytest.mark.parametrize(
    "source",
    [
        "",
        "<p/>",
        "<svg>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>',
        "<svg xmlns='http://www.w3.org/1999/xhtml'/>",
        "not svg",
    ],
)
def test_what_is_no_svg_is_nothing(source: str) -> None:
    assert vector.cleaned(source, "L") == ""


def test_every_chart_of_the_house_survives_unchanged() -> None:
    from ctxlab.workbench import charts
    from ctxlab.workbench.svg import labelled
    from tests.workbench import gallery

    for name, figure in gallery.figures():
        drawn = labelled(charts.svg(figure), name, "L")
        kept = str(vector.cleaned(drawn, "L"))
        assert Page(kept).tags == Page(drawn).tags
        assert len(Page(kept).attributes) == len(Page(drawn).attributes) - 1  # xmlns


def test_markdown_has_no_raw_html_and_no_address() -> None:
    told = markdown.rendered("<b>a</b> [b](https://c.d/e) [f](#g) ![h](i.png) $x$").html
    assert str(told) == (
        '<p>&lt;b&gt;a&lt;/b&gt; b (https://c.d/e) <a href="#g">f</a> [picture: h] $x$</p>\n'
    )


def test_headings_are_listed_and_begin_below_the_title() -> None:
    told = markdown.rendered("# A\n\n# B `c`\n\n### D", take_title=True, anchors="s1")
    assert told.title == "A"
    assert [(h.level, h.text, h.anchor) for h in told.headings] == [
        (2, "B c", "s1-b-c"),
        (3, "D", "s1-d"),
    ]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[1;31mno\x1b[0m", '<span class="a1 ab">no</span>'),
        ("\x1b[38;5;196mx\x1b[39my", '<span class="a1">x</span>y'),
        ("\x1b[38;2;0;0;255mx", '<span class="a4">x</span>'),
        ("\x1b[38;5;241mx", '<span class="a0">x</span>'),
        ("\x1b[48;5;1mx\x1b[7m\x1b[2Ky", "xy"),
        ("\x1b]8;;http://a.b\x07link\x1b]8;;\x07", "link"),
        ("\x1b[38;5mx", "x"),
        ("\x1b[", "␛["),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_terminal_colours(given: str, shown: str) -> None:
    assert str(ansi.coloured(given)) == shown


@given(st.text(alphabet="\x1b[]0123456789;:mKhl\x07\\<b>", max_size=40))
def test_no_escape_sequence_breaks_a_page(given: str) -> None:
    assert set(Page(str(ansi.coloured(given))).tags) <= {"span"}
    assert "\x1b" not in ansi.coloured(given)


def test_progress_bars_leave_their_last_state() -> None:
    shown = outputs.shown([stream("1%\r"), stream("50%\r100%\n", "stdout")], "c")
    assert Page(str(shown)).text == "100%"


def test_huge_outputs_are_cut_and_say_so() -> None:
    shown = Page(str(outputs.shown([stream("".join(f"{n}\n" for n in range(100_000)))], "c"))).text
    assert len(shown) < 1.1 * text.LIMIT
    assert "characters left out; all of it is in notebook.ipynb" in shown
    assert shown.startswith("0\n1\n")
    assert shown.endswith("99999")


def test_one_endless_line_is_cut() -> None:
    shown = Page(str(outputs.shown([stream("x" * 1_000_000)], "c"))).text
    assert "998,000 characters" in shown


def test_a_report_has_room_for_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxlab.workbench.report.cells._EMBEDDED", 1000)
    page = read(made(tmp_path, *(code("1", stream("y" * 600)) for _ in range(4))))
    assert page.text.count("outputs left out: the report is full") >= 2
