"""Report and index in a real browser: quiet, offline, readable in both schemes and on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from ctxlab.workbench import charts
from ctxlab.workbench.index import write_index
from ctxlab.workbench.pages import when
from ctxlab.workbench.pages.words import took
from ctxlab.workbench.report import write_report
from ctxlab.workbench.svg import labelled
from tests.conftest import need_service
from tests.workbench import gallery
from tests.workbench.made_runs import FAILURE, PARAMETERS, code, display, error, made, stream
from tests.workbench.made_runs import markdown as prose
from tests.workbench.test_index import TABLE as SUMS
from tests.workbench.test_report import EVIL, EVIL_OUTPUTS

FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
TABLE = (
    '<table class="ctxlab-table"><thead><tr><th>name</th><th class="num">lost_tokens</th></tr>'
    "</thead><tbody>"
    + "".join(
        f'<tr><td>{name}</td><td class="num">{value}</td></tr>'
        for name, value in (("b", "1,200"), ("a", "−3"), ("c", "–"), ("d", "90"))
    )
    + "</tbody></table>"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    need_service(chromium, "no chromium is installed (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=chromium, args=FLAGS.split())
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    drawn = {name: labelled(charts.svg(figure), name, name) for name, figure in gallery.figures()}
    pictures = [display({"text/html": svg}, ctxlab={"chart": name}) for name, svg in drawn.items()]
    told = display({"text/html": TABLE}, ctxlab={"table": "lost"})
    source = "import os\n\n\nclass A:  # one\n    x: int = print('a', 1.5)\n"
    source += "    @property\n    def y(self) -> None: raise ValueError(f'{self}')"
    cells = [
        prose("# A report\n\nSome **words** and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        code(PARAMETERS, tags=["parameters"]),
        prose("## Charts\n\n### One"),
        code(source, *pictures, told, stream("out"), stream("err", "stderr"), count=2),
    ]
    chart = {"path": "grouped.svg", "alt": "Bars", "sha256": ""}
    for day in (1, 2, 3):
        evil = EVIL.replace('"', '""')
        sums = f'id,kept_turns\nall,{day}\nworse,{9 - day}\n"{evil}",{day}\n'
        files = {"grouped.svg": drawn["grouped"], "log.txt": "", "sums.csv": sums}
        name = f"202611{day:02}T142200Z-3fa9c1d2"
        made(folder, *cells, run_id=name, charts={"grouped": chart}, files=files,
             tables={"sums": SUMS | {"sha256": str(day)}},
             parameters={"seeds": day}, seconds=day)  # fmt: skip
    broken = [prose("# Broken"), code("1 / 0", error(), count=2), code("2", count=None)]
    made(folder, *broken, entry="broken", status="failed", error=FAILURE)
    made(folder, prose(f"# {EVIL}"), code(EVIL, *EVIL_OUTPUTS.values()), entry="hostile",
         parameters={EVIL: EVIL}, parameters_passed={EVIL: EVIL})  # fmt: skip
    for run in folder.glob("*/2*"):
        write_report(run)
    write_index(folder)
    return folder


PAGES = {
    "index": "index.html",
    "report": "tool_mutations/20261103T142200Z-3fa9c1d2/report.html",
    "comparison": "comparisons/tool_mutations/before.html",
    "failed": "broken/20261130T142200Z-3fa9c1d2/report.html",
    "hostile": "hostile/20261130T142200Z-3fa9c1d2/report.html",
}


class Watched:
    """A page that remembers what it complained of and what it asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.noise: list[str] = []
        self.page.on("console", lambda message: self.noise.append(message.text))
        self.page.on("pageerror", lambda error: self.noise.append(str(error)))
        self.page.on("dialog", lambda dialog: self.noise.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self._asked(request.url, path))
        self.page.goto(path.as_uri())

    def _asked(self, url: str, path: Path) -> None:
        if url != path.as_uri() and not url.startswith("data:"):
            self.noise.append(f"request {url}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.services
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_offline_and_accessible(
    browser: Any, results: Path, name: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with Watched(browser, results / PAGES[name], color_scheme=scheme) as watched:
        watched.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        answer = axe.run(watched.page).response
        assert watched.noise == []
    assert any(one["id"] == "color-contrast" for one in answer["passes"])
    found = answer["violations"]
    told = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
    assert [one for one in found if one["impact"] in ("serious", "critical")] == [], told


@pytest.mark.services
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_in_one_direction_only(browser: Any, results: Path, name: str) -> None:
    phone = {"width": 390, "height": 800}
    with Watched(browser, results / PAGES[name], viewport=phone) as watched:
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        smallest = watched.page.evaluate(
            "Math.min(...[...document.querySelectorAll('figure.chart text')].map("
            "t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a || 99))"
        )
    assert wide <= 390
    assert smallest >= (7.5 if name == "report" else 5.5)  # a gallery's pictures are small ones


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_hostile_text_is_shown_as_text(browser: Any, results: Path) -> None:
    for name in ("hostile", "index"):
        with Watched(browser, results / PAGES[name]) as watched:
            text = watched.page.inner_text("body")
            assert "<script>alert(1)</script></script><img src=x onerror=alert(1)> $$x$$" in text
            assert watched.page.evaluate("document.images.length") == 0
            assert watched.page.evaluate("document.scripts.length") == 1
            assert watched.noise == []


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_a_page_is_complete_without_script(browser: Any, results: Path) -> None:
    for name in ("report", "index"):
        with Watched(browser, results / PAGES[name], java_script_enabled=False) as watched:
            page = watched.page
            assert page.locator("figure.chart svg").first.is_visible()
            assert page.locator(".tools").is_hidden()
            if name == "report":
                assert page.locator("td.num").first.is_visible()
                page.locator("details.code summary").first.click()
                assert page.locator("details.code pre").first.is_visible()


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_tables_sort_by_number_and_by_word_with_missing_values_last(
    browser: Any, results: Path
) -> None:
    with Watched(browser, results / PAGES["report"]) as watched:
        page = watched.page
        table = page.locator("#table-lost table")

        def column(at: int) -> list[str]:
            return table.locator(f"tbody td:nth-child({at})").all_inner_texts()

        table.get_by_role("button", name="lost_tokens").click()
        assert column(2) == ["−3", "90", "1,200", "–"]
        table.get_by_role("button", name="lost_tokens").click()
        assert column(2)[:3] == ["1,200", "90", "−3"]
        assert table.locator("th[aria-sort=descending]").count() == 1
        table.get_by_role("button", name="name").click()
        assert column(1) == ["a", "b", "c", "d"]
        assert watched.noise == []


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_the_scheme_can_be_chosen_and_the_code_unfolded(browser: Any, results: Path) -> None:
    with Watched(browser, results / PAGES["report"], color_scheme="light") as watched:
        page = watched.page

        def ground() -> str:
            return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

        light = ground()
        page.get_by_role("button", name="Dark").click()
        assert ground() != light
        page.get_by_role("button", name="Light").click()
        assert ground() == light
        page.get_by_role("button", name="Show code").click()
        assert page.locator("details.code:not([open])").count() == 0
        assert page.get_by_role("button", name="Hide code").is_visible()


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_charts_take_the_colour_of_the_page(browser: Any, results: Path) -> None:
    for scheme in ("light", "dark"):
        with Watched(browser, results / PAGES["report"], color_scheme=scheme) as watched:
            same = watched.page.evaluate(
                "getComputedStyle(document.querySelector('figure.chart text')).fill"
                " === getComputedStyle(document.body).color"
            )
        assert same


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_links_lead_from_the_gallery_to_a_report_and_back(browser: Any, results: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto((results / "index.html").as_uri())
    page.get_by_role("link", name="A report").click()
    assert page.url.endswith(PAGES["report"])
    page.get_by_role("link", name="All runs").click()
    assert page.url.endswith("index.html")
    page.get_by_role("link", name="the run before").click()
    assert page.url.endswith(PAGES["comparison"])
    assert page.locator("td .pill.failed").count() == 1
    page.get_by_role("link", name="20261103T142200Z-3fa9c1d2").click()
    assert page.url.endswith(PAGES["report"])
    context.close()


@pytest.mark.services
@pytest.mark.xdist_group("browser")
def test_paper_is_white_and_unscrolled(browser: Any, results: Path) -> None:
    with Watched(browser, results / PAGES["report"], color_scheme="dark") as watched:
        watched.page.emulate_media(media="print", color_scheme="dark")
        ground = watched.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        cut = watched.page.evaluate(
            "[...document.querySelectorAll('pre, .scroll')].filter("
            "e => e.offsetParent && e.scrollHeight > e.clientHeight + 2).length"
        )
        assert ground == "rgb(255, 255, 255)"
        assert watched.page.locator(".top").is_hidden()
        assert cut == 0


@pytest.mark.parametrize(
    ("started", "told"),
    [
        ("2026-01-02T03:04:05Z", "2 Jan 2026, 03:04 UTC"),
        ("2026-01-02T03:04:05+09:00", "1 Jan 2026, 18:04 UTC"),
        ("not a time", "not a time"),
        (7, "unknown time"),
    ],
)
def test_times_are_told_in_utc(started: object, told: str) -> None:
    assert when(started) == told


@pytest.mark.parametrize("wrong", [None, True, -1, "3", [], {}])
def test_what_is_no_duration_is_a_dash(wrong: object) -> None:
    assert took(wrong) == "–"
