from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.errors import InputError, UsageError
from ctxlab.tools.workspace import Workspace, escaped_name, shown

SECRET = "the secret outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a secret beside it, and links of every kind."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text(SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "root-too").mkdir()
    (tmp_path / "root-too" / "secret.txt").write_text(SECRET)
    root = tmp_path / "root"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "app.py").write_text("inside\n")
    (root / "src" / "deep" / "a.py").write_text("deep\n")
    links = {
        "file": "../secret.txt",
        "folder": "../outside",
        "absolute": str(tmp_path / "secret.txt"),
        "absolute_folder": str(tmp_path / "outside"),
        "up": "..",
        "src/up2": "../..",
        "chain1": "chain2",
        "chain2": "folder",
        "through": "src/../../secret.txt",
        "etc": "/etc",
        "proc": "/proc/self/root",
        "src/deep/far": "../../../secret.txt",
        "loop": "loop",
        "ring1": "ring2",
        "ring2": "ring1",
        "here": ".",
        "inside": "src/app.py",
        "inside_absolute": str(root / "src"),
        "src/sideways": "../src/deep/a.py",
        "nowhere": "gone/away",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


def content(root: Path, path: str) -> str:
    with Workspace(root).open(path) as file:
        return os.pread(file.fd, file.size, 0).decode()


ESCAPES = [
    "../secret.txt",
    "../root-too/secret.txt",
    "../root/../secret.txt",
    "src/../../secret.txt",
    "src/deep/../../../secret.txt",
    "./../secret.txt",
    "src/./../../secret.txt",
    "//../secret.txt",
    "../../../../../../../../etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "/proc/self/cwd",
    "/dev/stdin",
    "/",
    "..",
    "../",
    "file",
    "folder",
    "folder/secret.txt",
    "folder/../secret.txt",
    "absolute",
    "absolute_folder/secret.txt",
    "up/secret.txt",
    "up/outside/secret.txt",
    "up/up/secret.txt",
    "src/up2/secret.txt",
    "src/up2/outside/secret.txt",
    "chain1/secret.txt",
    "chain2/secret.txt",
    "through",
    "etc/passwd",
    "proc/etc/passwd",
    "src/deep/far",
    "here/file",
    "here/here/folder/secret.txt",
    "inside_absolute/../../secret.txt",
    "inside_absolute/up2/secret.txt",
    "loop",
    "loop/secret.txt",
    "ring1",
    "ring1/../secret.txt",
    "nowhere",
    "~/.bashrc",
    "$HOME/.bashrc",
    "file:///etc/passwd",
    "%2e%2e/secret.txt",
    "..%2fsecret.txt",
    "..\\secret.txt",
    "C:\\secret.txt",
    "\\x2e\\x2e/secret.txt",
    "src/app.py/../../../secret.txt",
    "{tmp}/secret.txt",
    "{tmp}/root/../secret.txt",
    "{tmp}/root-too/secret.txt",
    "{tmp}/root/folder/secret.txt",
    "",
    "\0",
    "src/app.py\0../secret.txt",
    "\ud800",
    "a/" * 3000,
    "a" * 300,
]


@pytest.mark.parametrize("path", ESCAPES)
def test_nothing_outside_is_read(root: Path, path: str):
    with pytest.raises(UsageError) as refused:
        content(root, path.replace("{tmp}", str(root.parent)))
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)
    str(refused.value).encode()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/app.py", "inside\n"),
        ("./src//app.py", "inside\n"),
        ("src/deep/../app.py", "inside\n"),
        ("{root}/src/app.py", "inside\n"),
        ("inside", "inside\n"),
        ("inside_absolute/app.py", "inside\n"),
        ("here/here/src/app.py", "inside\n"),
        ("src/sideways", "deep\n"),
        ("src/deep/../../inside", "inside\n"),
    ],
)
def test_every_way_inside_is_open(root: Path, path: str, text: str):
    assert content(root, path.replace("{root}", str(root))) == text


def test_the_path_is_told_from_the_root_with_links_resolved(root: Path):
    with Workspace(root).open("here/inside_absolute/sideways") as file:
        assert file.path == "src/deep/a.py"


def test_a_root_reached_through_a_link_takes_both_spellings(root: Path, tmp_path: Path):
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    workspace = Workspace(alias)
    for path in (alias / "src/app.py", root / "src/app.py"):
        with workspace.open(str(path)) as file:
            assert file.path == "src/app.py"


def test_a_link_swapped_in_between_check_and_open_shows_nothing(root: Path):
    """A thread swaps a file and a folder for links to the outside as fast as it can."""
    inside, outside = root / "swap", root / "swap.link"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "spare").mkdir(exist_ok=True)
            (root / "spare" / "secret.txt").write_text("harmless")
            outside.symlink_to("../outside")
            (root / "spare").rename(inside)
            inside.rename(root / "spare")
            outside.rename(inside)
            inside.unlink()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = set()
        for _ in range(1500):
            try:
                seen.add(content(root, "swap/secret.txt"))
            except UsageError:
                seen.add("refused")
    finally:
        stop.set()
        thread.join()
    assert SECRET not in seen


def test_what_is_no_file_is_named_and_never_waited_for(root: Path):
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "sock"))
        workspace = Workspace(root)
        kinds = {"pipe": "a FIFO", "sock": "a socket", "src": "a directory", "here": "a directory"}
        for name, kind in kinds.items():
            with pytest.raises(UsageError, match=f"^'{name}' is {kind}, not a file$"):
                workspace.open(name).__enter__()


def test_the_root_must_be_a_directory(root: Path):
    with pytest.raises(InputError, match="not a directory"):
        Workspace(root / "src" / "app.py")
    with pytest.raises(InputError, match="not a directory"):
        Workspace(root / "gone")


def test_no_descriptor_is_left_open(root: Path):
    before = descriptors()
    for path in [*ESCAPES, "src/app.py", "src"]:
        with suppress(UsageError):
            content(root, path)
    assert descriptors() == before


def descriptors() -> int:
    return psutil.Process().num_fds()


HOSTILE = [
    "two\nlines.txt",
    "tab\tand\x1b[31mred.txt",
    "a:1:b.txt",
    "-n",
    "--flag",
    "sp ace'quote\".txt",
    "back\\slash.txt",
    "back\\slash\nand line.txt",
    "zero\u200bwidth\u202eright.txt",
    "byte\udce9.txt",
    "c1\u0085.txt",
    "\u2028.txt",
    "日本語.txt",
    "emoji👩‍👩‍👧.txt",
    "*?[x].txt",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_one_line_of_text_and_opens_as_shown(tmp_path: Path, name: str):
    (tmp_path / name).write_text("found")
    text = shown(name)
    text.encode()
    assert len(text.splitlines()) == 1
    assert escaped_name(text) == name or text == name
    assert content(tmp_path, text) == "found"
    assert content(tmp_path, name) == "found"


@given(st.text(st.characters(), min_size=1))
def test_a_shown_name_gives_the_name_back(name: str):
    text = shown(name)
    assert name in (text, escaped_name(text))
    assert "\n" not in text
