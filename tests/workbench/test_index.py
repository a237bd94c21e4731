from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from ctxlab.errors import InputError
from ctxlab.workbench.index import write_index
from ctxlab.workbench.report import write_report
from tests.workbench.made_runs import FAILURE, SVG, code, display, made, markdown
from tests.workbench.test_report import EVIL, Page

TABLE = {
    "path": "sums.csv", "rows": 1, "key": ["id"], "columns": {"id": "str", "kept_turns": "int"},
    "metrics": {"kept_turns": {"better": "higher", "absolute": 0, "relative": 0}},
    "measured": False,
}  # fmt: skip


def read(results: Path) -> Page:
    return Page(write_index(results).read_text(encoding="utf-8"))


def run_id(day: int) -> str:
    return f"202611{day:02}T142200Z-3fa9c1d2"


def a_run(results: Path, day: int, entry: str = "kept", **manifest: Any) -> Path:
    run = made(
        results,
        markdown(f"# What is kept, {day}"),
        code("1", display({"text/html": SVG}, ctxlab={"chart": "zoom"})),
        entry=entry,
        run_id=run_id(day),
        files={
            "aside.svg": SVG,
            "zoom.svg": SVG,
            "sums.csv": f"id,kept_turns\nall,{38605 + day}\n",
        },
        **{
            "started": f"2026-11-{day:02}T14:22:00Z",
            "charts": {
                "aside": {"path": "aside.svg", "alt": "Aside", "sha256": ""},
                "zoom": {"path": "zoom.svg", "alt": "The first", "sha256": ""},
            },
            "tables": {
                "sums": TABLE | {"sha256": f"{day}"},
            },
        }
        | manifest,
    )  # fmt: skip
    write_report(run)
    return run


def test_an_empty_directory_says_what_to_do(tmp_path: Path) -> None:
    assert "No run is here yet" in read(tmp_path).text


def test_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results directory"):
        write_index(tmp_path / "nowhere")


def test_an_entry_shows_its_newest_run_and_what_changed(tmp_path: Path) -> None:
    for day in (3, 4, 5):
        a_run(tmp_path, day, parameters={"seeds": day})
    page = read(tmp_path)
    for told in (
        "1 entry, 3 runs, the newest of 5 Nov 2026, 14:22 UTC", "All newest runs succeeded",
        "What is kept, 5", "kept turns", "38,610",
        "Against the run before 4 Nov 2026, 14:22 UTC 1 better seeds 4 → 5",
        "2 earlier runs",
    ):  # fmt: skip
        assert told in " ".join(page.text.split())
    assert ("svg", "aria-label", "The first") in page.attributes  # as in the report, not by name
    for place in (f"kept/{run_id(day)}/report.html" for day in (3, 4, 5)):
        assert ("a", "href", place) in page.attributes


def test_links_lead_to_what_is_there(tmp_path: Path) -> None:
    for day in (3, 4):
        a_run(tmp_path, day)
    (a_run(tmp_path, 5, entry="bare") / "report.html").unlink()
    for tag, name, value in read(tmp_path).attributes:
        if tag == "a" and name == "href" and not value.startswith("#"):
            assert (tmp_path / value).exists(), value


def test_a_failed_run_is_told_with_the_picture_of_the_last_good_one(tmp_path: Path) -> None:
    a_run(tmp_path, 1)
    for day in (3, 4, 5):
        a_run(tmp_path, day, status="failed", error=FAILURE, charts={}, tables={})
    text = " ".join((page := read(tmp_path)).text.split())
    assert "Not well: kept" in text
    assert "ZeroDivisionError: division by zero" in text
    assert "Picture of the run of 1 Nov 2026, 14:22 UTC, the last that succeeded" in text
    assert page.tags["svg"] == 1


def test_the_baseline_is_held_against_and_is_no_entry(tmp_path: Path) -> None:
    accepted = a_run(tmp_path, 1)
    (tmp_path / "baseline").mkdir()
    accepted.rename(tmp_path / "baseline" / "kept")
    a_run(tmp_path, 5)
    text = " ".join(read(tmp_path).text.split())
    assert "1 entry, 1 run," in text
    assert "Against the baseline 1 Nov 2026, 14:22 UTC 1 better the same inputs" in text


def test_a_notebook_that_changed_and_found_the_same_has_a_word(tmp_path: Path) -> None:
    for day, source in ((3, "ab"), (4, "cd")):
        other = {"path": "notebooks/01_kept.ipynb", "source_sha256": source * 32}
        run = a_run(tmp_path, day, notebook=other, parameters={"seeds": day})
        (run / "sums.csv").write_text("id,kept_turns\nall,7\n")
    text = " ".join(read(tmp_path).text.split())
    assert "14:22 UTC 1 same 2 inputs changed, the notebook too" in text


def test_what_got_worse_is_told_by_table_and_has_a_page_of_its_own(tmp_path: Path) -> None:
    for day, kept in ((3, 40), (4, 40), (5, 1)):
        run = a_run(tmp_path, day, entry="a & b")
        (run / "sums.csv").write_text(f"id,kept_turns\nall,{kept}\n<b>x</b>,{day}\n")
    accepted = tmp_path / "a & b" / run_id(3)
    shutil.copytree(accepted, tmp_path / "baseline" / "a & b")
    text = " ".join((page := read(tmp_path)).text.split())
    assert "the run before 4 Nov 2026, 14:22 UTC 1 worse, 1 better table sums: 1 worse" in text
    assert "All newest runs succeeded. Worse than the baseline: a & b." in text
    for name in ("baseline", "before"):
        place = f"comparisons/a & b/{name}.html"
        assert ("a", "href", quote(place)) in page.attributes
        other = Page((tmp_path / place).read_text(encoding="utf-8"))
        assert "<b>x</b>" in other.text
        assert str(tmp_path) not in other.text
        links = {value for tag, kind, value in other.attributes if (tag, kind) == ("a", "href")}
        assert "../../index.html" in links
        for link in links - {"#main"}:
            assert (tmp_path / place).parent.joinpath(unquote(link)).exists(), link


def test_who_explores_with_other_parameters_is_not_alarmed(tmp_path: Path) -> None:
    a_run(tmp_path, 5).rename(tmp_path / "accepted")
    (tmp_path / "baseline").mkdir()
    (tmp_path / "accepted").rename(tmp_path / "baseline" / "kept")
    run = a_run(tmp_path, 6)
    (run / "sums.csv").write_text("id,kept_turns\nall,1\n")
    assert "Worse than the baseline: kept." in " ".join(read(tmp_path).text.split())
    shutil.rmtree(run)
    run = a_run(tmp_path, 6, parameters={"seeds": 1})
    (run / "sums.csv").write_text("id,kept_turns\nall,1\n")
    text = " ".join(read(tmp_path).text.split())
    assert "Worse than the baseline" not in text
    assert "1 worse" in text


def test_a_chart_that_is_far_taller_than_wide_shows_its_beginning(tmp_path: Path) -> None:
    run = a_run(tmp_path, 5)
    assert "The beginning of a long chart" not in read(tmp_path).text
    (run / "zoom.svg").write_text(SVG.replace("0 0 9 9", "0 0 9 99.5"))
    page = read(tmp_path)
    assert ("figure", "class", "chart tall") in page.attributes
    assert "The beginning of a long chart" in page.text


def test_pages_of_comparisons_that_are_no_more_go(tmp_path: Path) -> None:
    for day in (3, 4):
        a_run(tmp_path, day)
    write_index(tmp_path)
    assert list((tmp_path / "comparisons").rglob("*.html"))
    shutil.rmtree(tmp_path / "kept" / run_id(3))
    write_index(tmp_path)
    assert not list((tmp_path / "comparisons").rglob("*.html"))
    assert "comparisons" not in read(tmp_path).text


def test_a_run_that_cannot_be_compared_is_said_so(tmp_path: Path) -> None:
    a_run(tmp_path, 3, environment={})
    a_run(tmp_path, 4)
    assert "cannot be compared: one of them cannot be read" in " ".join(read(tmp_path).text.split())


def test_a_summary_and_the_claims_stand_on_the_card(tmp_path: Path) -> None:
    columns = {"figure": "str", "value": "float", "of": "int", "unit": "str"}
    tables = {
        "claims": {"path": "claims.csv", "rows": 3, "key": ["id"]},
        "summary": {"path": "summary.csv", "rows": 3, "key": ["figure"], "columns": columns},
    }
    run = a_run(tmp_path, 5, tables=tables)
    (run / "claims.csv").write_text("id,verdict\na,reproduced\nb,reproduced\nc,differs\n")
    (run / "summary.csv").write_text(
        "figure,value,of,unit\nmean_share,48.3333,100,%\nsafe,2.0,12,mutations\nsent,1234567.0,,B\n"
    )
    text = " ".join(read(tmp_path).text.split())
    assert "Claims: 2 reproduced, 1 differs" in text
    assert "mean share 48.3% safe 2 of 12 sent 1,234,567" in text


BROKEN = {
    "no manifest": None,
    "empty": "",
    "no object": "[]",
    "wrong types": json.dumps(
        {
            "status": 3, "started": [], "seconds": "x", "git": [], "tables": [1], "charts": 7,
            "parameters_passed": [], "error": "x", "notebook": 1, "environment": 3, "data": 1,
        }
    ),
    "wrong inside": json.dumps(
        {
            "tables": {"a": 3, "b": {"path": 3, "rows": 1}},
            "charts": {"c": 3, "d": {"path": "/x"}},
            "parameters_passed": {"a": None}, "error": {"ename": 3}, "git": {"commit": 3},
        }
    ),
    "lone surrogate": '{"status": "failed", "error": {"ename": "\\ud800", "evalue": "x"}}',
    "deep": "[" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("manifest", BROKEN.values(), ids=BROKEN)
def test_broken_runs_break_nothing(tmp_path: Path, manifest: str | None) -> None:
    for entry in ("kept", "alone"):
        run = a_run(tmp_path, 9, entry=entry)
        if manifest is None:
            (run / "manifest.json").unlink()
        else:
            (run / "manifest.json").write_text(manifest)
    a_run(tmp_path, 5)
    a_run(tmp_path, 6)
    assert "What is kept" in read(tmp_path).text


def test_foreign_things_break_nothing_and_are_named(tmp_path: Path) -> None:
    a_run(tmp_path, 5)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "kept" / "mine").mkdir()
    (tmp_path / "kept" / f".{run_id(6)}.tmp").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "kept" / run_id(7)).symlink_to("nowhere")
    (tmp_path / "kept" / run_id(5) / "manifest.json.d").mkdir()
    page = read(tmp_path)
    assert "1 entry, 1 run," in " ".join(page.text.split())
    assert "kept/mine" in page.text
    assert "elsewhere" in page.text
    assert ".tmp" not in page.text


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    folder = tmp_path / "<script>alert(1)<"
    run = a_run(
        tmp_path,
        5,
        entry="<img src=x onerror=alert(1)>",
        parameters_passed={EVIL: EVIL},
        status="failed",
        error={"ename": EVIL, "evalue": EVIL},
        charts={EVIL: {"path": "zoom.svg", "alt": EVIL}},
        tables={EVIL: {"path": EVIL, "rows": 1}},
    )
    folder.mkdir()
    (run / "zoom.svg").write_text(f"<svg>{EVIL}</svg>")
    (run / "report.html").write_text("<title><script>alert(1)</script></title>")
    page = read(tmp_path)
    assert page.tags["script"] == 1
    assert page.tags["img"] == 0
    assert not any(name.startswith("on") for _, name, _ in page.attributes)


def test_nothing_outside_is_read_or_linked(tmp_path: Path) -> None:
    (tmp_path / "secret.svg").write_text(SVG.replace("<path", "<text>secret</text><path"))
    (tmp_path / "results").mkdir()
    outside = "../../../secret.svg"
    a_run(
        tmp_path / "results",
        5,
        charts={"zoom": {"path": outside, "alt": "x"}, "y": {"path": str(tmp_path / "secret.svg")}},
        tables={"t": {"path": outside, "rows": 1, "metrics": {"a": {}}}},
    )
    page = read(tmp_path / "results")
    assert "secret" not in page.text
    assert not any("secret" in value for _, _, value in page.attributes)


def test_the_page_is_replaced_in_one_step_and_is_the_same_for_the_same_runs(tmp_path: Path) -> None:
    a_run(tmp_path, 5)
    first = write_index(tmp_path)
    before, content = first.stat().st_ino, first.read_bytes()
    assert write_index(tmp_path).read_bytes() == content
    assert first.stat().st_ino != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "kept"]


def test_nothing_in_the_index_names_an_address(tmp_path: Path) -> None:
    a_run(tmp_path, 5)
    source = write_index(tmp_path).read_text()
    assert "//" not in source.replace("application/", "")
