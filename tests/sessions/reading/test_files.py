"""Files as they lie about: links, long lines, marks, readers that are stopped."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from ctxlab import InputError, read_sessions
from ctxlab.errors import RunFailed
from ctxlab.sessions.reading import lines, scanning
from tests.sessions.transcripts import answer, reasons, totals, user, write


def test_loops_of_links_and_links_to_nothing_are_passed_over(tmp_path):
    path = write(tmp_path / "a/5f1c.jsonl", answer("m1"))
    (tmp_path / "a/loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a/again.jsonl").symlink_to(path)
    (tmp_path / "a/nothing.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a/round.jsonl").symlink_to(tmp_path / "a/round.jsonl")
    os.mkfifo(tmp_path / "a/pipe.jsonl")
    assert totals(read_sessions(tmp_path))[0] == 1
    with pytest.raises(InputError, match="neither a file nor a folder"):
        read_sessions(tmp_path / "a/pipe.jsonl")


def test_marks_and_carriage_returns_do_not_move_a_place(tmp_path):
    rows = [answer("m1"), answer("m2")]
    path = write(tmp_path / "5f1c.jsonl", *rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    [session] = read_sessions(path)
    assert [each.lines[0].read() for each in session.exchanges] == rows


def test_a_long_line_is_read_and_one_that_is_too_long_is_told(tmp_path, monkeypatch):
    path = write(tmp_path / "5f1c.jsonl", answer("m1"), user("x" * (50 << 20)), answer("m2"))
    [session] = read_sessions(path)
    assert (totals([session])[0], session.skipped) == (2, ())
    monkeypatch.setattr(lines, "LONGEST", 1 << 20)
    [session] = read_sessions(path, processes=1)
    assert (totals([session])[0], reasons(session)) == (2, {lines.TOO_LONG: 1})
    assert session.exchanges[1].lines[0].read()["message"]["id"] == "m2"


@pytest.mark.parametrize(
    "spoilt",
    [b'{"a": NaN}', b'{"a": "\\ud800"}', b"[" * 5_000, b'{"a": 1e999}x', b"\xff\xfe", b"\0\0"],
)
def test_what_orjson_refuses_is_one_broken_row(tmp_path, spoilt):
    path = write(tmp_path / "5f1c.jsonl", answer("m1"), spoilt + b"\n", answer("m2"))
    [session] = read_sessions(path)
    assert (totals([session])[0], reasons(session)) == (2, {lines.BROKEN: 1})
    assert session.skipped[0].first == f"{path}:2"


def test_a_process_that_dies_is_told(tmp_path, monkeypatch):
    write(tmp_path / "5f1c.jsonl", answer("m1"))
    monkeypatch.setattr(scanning, "SMALL", 0)
    monkeypatch.setattr(scanning, "_PROGRAM", "import sys; sys.exit({})")
    with pytest.raises(RunFailed, match=r"the process that read .*5f1c\.jsonl died"):
        read_sessions(tmp_path, processes=2)


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGKILL])
def test_a_reader_that_is_stopped_leaves_no_process(tmp_path, with_signal):
    path = write(tmp_path / "5f1c.jsonl", *(answer(f"m{n}") for n in range(2_000)))
    program = (
        "import sys; from ctxlab.sessions import read_sessions\n"
        "from ctxlab.sessions.reading import scanning\n"
        "scanning.SMALL, scanning.PART = 0, 1000\n"
        "read_sessions(sys.argv[1], processes=2, progress=lambda *_: print('on', flush=True))"
    )
    reader = psutil.Popen(
        [sys.executable, "-c", program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for _ in range(3):
        reader.stdout.readline()
    children = reader.children()
    assert len(children) == 2
    reader.send_signal(with_signal)
    reader.communicate(timeout=30)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    assert reader.returncode == -with_signal


def test_what_lies_in_the_current_folder_is_never_imported(tmp_path):
    write(tmp_path / "log.jsonl", *(answer(f"m{number}") for number in range(200)))
    (tmp_path / "orjson.py").write_text("open('ran', 'w')")
    program = (
        "import sys; from ctxlab.sessions.reading import scanning\n"
        "sys.path.insert(0, ''); sys.path.insert(0, sys.argv[1])\n"
        "scanning.SMALL, scanning.PART = 0, 10_000\n"
        "from ctxlab import read_sessions\n"
        "print(len(read_sessions('log.jsonl', processes=2)[0].exchanges))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("200\n", "")
    assert not (tmp_path / "ran").exists()
