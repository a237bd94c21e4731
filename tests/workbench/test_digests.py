import hashlib
import os
import socket

import pytest

from ctxlab.errors import InputError
from ctxlab.workbench import digests
from ctxlab.workbench.digests import content


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "a" / "empty").mkdir(parents=True)
    (root / "a" / "x.py").write_bytes(b"print()\n")
    (root / "b.txt").write_bytes(b"text")
    return root


def test_a_file_has_the_digest_that_sha256sum_prints(tmp_path):
    (tmp_path / "f").write_bytes(b"x" * 3_000_000)
    assert content(tmp_path / "f") == (hashlib.sha256(b"x" * 3_000_000).hexdigest(), 3_000_000)


def change_content(root):
    (root / "b.txt").write_bytes(b"Text")


def rename(root):
    (root / "b.txt").rename(root / "c.txt")


def move_down(root):
    (root / "b.txt").rename(root / "a" / "b.txt")


def add_empty_directory(root):
    (root / "new").mkdir()


def add_empty_file(root):
    (root / "new").touch()


def file_for_directory(root):
    (root / "a" / "empty").rmdir()
    (root / "a" / "empty").touch()


def add_link(root):
    (root / "l").symlink_to("b.txt")


def add_fifo(root):
    os.mkfifo(root / "pipe")


@pytest.mark.parametrize(
    "change",
    [
        change_content, rename, move_down, add_empty_directory, add_empty_file,
        file_for_directory, add_link, add_fifo,
    ],
)  # fmt: skip
def test_whatever_changes_in_a_tree_changes_its_digest(tree, change):
    before = content(tree)
    assert content(tree) == before
    change(tree)
    assert content(tree).sha256 != before.sha256


def test_times_and_modes_do_not_count(tree):
    before = content(tree)
    os.utime(tree / "b.txt", (1, 1))
    (tree / "b.txt").chmod(0o600)
    assert content(tree) == before
    assert before.bytes == 12


def test_a_tree_reached_by_a_link_is_the_tree(tree, tmp_path):
    (tmp_path / "link").symlink_to(tree)
    assert content(tmp_path / "link") == content(tree)


def test_links_count_with_what_they_lead_to_when_it_is_a_file(tree, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("1")
    (tree / "l").symlink_to(outside)
    before = content(tree)
    outside.write_text("2")
    assert content(tree) != before


def test_circles_dangling_links_pipes_and_sockets_hold_nothing_up(tree):
    (tree / "up").symlink_to("..")
    (tree / "self").symlink_to("self")
    (tree / "gone").symlink_to("nowhere")
    os.mkfifo(tree / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tree / "s"))
        assert content(tree) == content(tree)


def test_names_that_are_no_utf8_and_trees_of_any_depth(tree):
    (tree / os.fsdecode(b"\xff\n")).touch()
    deep = tree
    for _ in range(300):
        deep /= "d"
    deep.mkdir(parents=True)
    assert content(tree).bytes == 12


def test_files_that_cannot_be_read_count_by_name(tree, monkeypatch):
    before = content(tree)
    real = digests._file

    def refuse(path):
        if path.endswith(b"b.txt"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(digests, "_file", refuse)
    assert content(tree).sha256 != before.sha256
    assert content(tree).bytes == 8


@pytest.mark.parametrize("path", ["nowhere", "/dev/null"])
def test_what_is_no_file_and_no_directory_is_refused(tmp_path, path):
    with pytest.raises(InputError):
        content(tmp_path / path)
