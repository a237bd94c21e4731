from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from ctxlab.errors import UsageError
from ctxlab.sources import fetch, status, wheels
from ctxlab.sources.files import tree_sha256
from tests.sources.conftest import TREE, write_wheel

FETCH = "import ctxlab.cli; ctxlab.cli.main()"


def states(outcomes):
    return {outcome.name: outcome.state for outcome in outcomes}


def command(*args, **options):
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, "data", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def no_download(monkeypatch):
    def refuse(*_args):
        pytest.fail("downloaded what was there")

    monkeypatch.setattr(wheels, "download", refuse)


def test_pip_itself_fetches_from_nothing(real_pip, world):
    world.tree("alpha")
    world.tree("beta")
    world.rows["trees.beta"]["version"] = "9.9"
    world.vocabulary()
    world.write()
    assert states(fetch()) == {"words": "fetched", "alpha": "fetched", "beta": "failed"}
    assert states(status()) == {"words": "there", "alpha": "there", "beta": "missing"}


@pytest.fixture
def filled(world):
    """Two trees and a vocabulary, fetched."""
    world.tree("alpha")
    world.tree("beta")
    world.vocabulary()
    world.write()
    assert set(states(fetch()).values()) == {"fetched"}
    return world


def test_all_is_fetched_into_its_place(filled):
    tree = filled.cache / "trees" / "alpha"
    found = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert found == set(TREE), "without .dist-info"
    assert len(list((filled.cache / "tiktoken").iterdir())) == 1, "only what tiktoken asks for"
    assert [path.name for path in filled.cache.glob(".fetching-*")] == []


def test_what_is_there_and_right_is_not_fetched_again(filled, no_download):
    assert set(states(fetch()).values()) == {"there"}
    assert set(states(status()).values()) == {"there"}


def test_only_what_is_named_is_fetched(world):
    world.tree("alpha")
    world.tree("beta")
    world.write()
    assert states(fetch(["beta"])) == {"beta": "fetched"}
    assert states(status()) == {"alpha": "missing", "beta": "there"}


def test_force_fetches_it_again(filled):
    assert states(fetch(["alpha"], force=True)) == {"alpha": "fetched"}
    assert states(status()) == {"alpha": "there", "beta": "there", "words": "there"}


def test_an_unknown_name_lists_the_known(filled):
    with pytest.raises(UsageError, match=r"no input 'gamma' .* words, alpha, beta"):
        fetch(["gamma"])


def change_a_file(tree):
    file = tree / "small" / "core.py"
    file.write_text(file.read_text().replace("42", "43"))


def add_a_file(tree):
    (tree / "extra.py").write_text("")


def lose_a_file(tree):
    (tree / "small" / "__init__.py").unlink()


def link_a_file(tree):
    (tree / "link.py").symlink_to("/nowhere")


@pytest.mark.parametrize("damage", [change_a_file, add_a_file, lose_a_file, link_a_file])
def test_a_tree_that_changed_is_fetched_again(filled, damage):
    tree = filled.cache / "trees" / "alpha"
    right = tree_sha256(tree)
    damage(tree)
    assert states(status())["alpha"] == "missing"
    assert status(["alpha"])[0].reason == "not what its recipe says"
    assert states(fetch()) == {"words": "there", "alpha": "fetched", "beta": "there"}
    assert tree_sha256(tree) == right


def test_a_tree_that_was_only_touched_is_not_fetched_again(filled, no_download):
    os.utime(filled.cache / "trees" / "alpha" / "small" / "core.py", (1, 1))
    assert set(states(fetch()).values()) == {"there"}


def test_a_damaged_vocabulary_is_fetched_again(filled):
    file = next((filled.cache / "tiktoken").iterdir())
    file.write_text("half")
    assert states(fetch())["words"] == "fetched"
    assert file.read_text() == "QQ== 0\n"


def test_a_wheel_with_another_hash_is_refused_and_the_others_are_fetched(world):
    world.tree("alpha", sha256="a" * 64)
    world.tree("beta")
    world.write()
    alpha, beta = fetch()
    assert beta.state == "fetched"
    assert alpha.state == "failed"
    found = wheels.file_sha256(world.wheels / "alpha-1.0-py3-none-any.whl")
    expected = f"alpha-1.0-py3-none-any.whl has sha256 {found}, expected {'a' * 64}"
    assert alpha.reason == expected
    assert not (world.cache / "trees" / "alpha").exists()


def test_a_tree_with_another_hash_is_refused(world):
    world.tree("alpha", tree_sha256="b" * 64)
    world.write()
    (alpha,) = fetch()
    assert f"expected {'b' * 64}" in alpha.reason
    assert not (world.cache / "trees" / "alpha").exists()


def test_a_vocabulary_with_another_hash_is_refused(world):
    world.vocabulary(text="QQ== 1\n")
    world.write()
    (words,) = fetch()
    assert words.reason.startswith("o200k_base (fb37")
    assert not (world.cache / "tiktoken").exists()


def test_a_package_that_is_not_there_takes_no_other_along(world):
    world.tree("alpha")
    world.tree("beta")
    world.rows["trees.beta"]["version"] = "9.9"
    world.write()
    alpha, beta = fetch()
    assert alpha.state == "fetched"
    assert beta.state == "failed"
    assert "beta==9.9" in beta.reason


def test_an_old_tree_stays_when_the_new_one_cannot_be_fetched(filled):
    filled.rows["trees.alpha"]["version"] = "2.0"
    filled.rows["trees.alpha"]["tree_sha256"] = "c" * 64
    filled.write()
    assert states(fetch())["alpha"] == "failed"
    assert (filled.cache / "trees" / "alpha" / "small" / "core.py").is_file()


@pytest.mark.parametrize(
    "name", ["../evil.py", "/evil.py", "small/../../evil.py", "a\\..\\evil.py"]
)
def test_a_wheel_that_leads_outside_is_refused(world, name):
    world.tree("alpha")
    wheel = write_wheel(world.wheels, "alpha", "1.0", {**TREE, name: "evil"})
    world.rows["trees.alpha"]["sha256"] = wheels.file_sha256(wheel)
    world.write()
    (alpha,) = fetch()
    assert alpha.state == "failed"
    assert "leads out of the wheel" in alpha.reason
    assert list(world.root.parent.rglob("evil.py")) == []


def test_a_wheel_with_a_link_is_refused(world):
    import zipfile

    world.tree("alpha")
    wheel = world.wheels / "alpha-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "a") as archive:
        link = zipfile.ZipInfo("small/link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    world.rows["trees.alpha"]["sha256"] = wheels.file_sha256(wheel)
    world.write()
    assert "leads out of the wheel" in fetch()[0].reason


def test_no_network_is_one_line_without_an_address(world, monkeypatch):
    world.tree("alpha")
    world.tree("beta")
    world.server("gamma")
    world.write()
    nowhere = "http://me:hush@127.0.0.1:9/simple"
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", nowhere)
    (world.root.parent / "uv.toml").write_text("")
    monkeypatch.setenv("UV_DEFAULT_INDEX", nowhere)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    run = command()
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 2
    (line,) = [line for line in stderr.splitlines() if line.startswith("ctxlab:")]
    assert line.startswith("ctxlab: alpha, beta, gamma: no package registry was reached")
    assert "make data" in line
    assert "127.0.0.1" not in stderr
    assert "hush" not in stderr
    assert not (world.cache / "trees").exists()


def test_a_file_that_cannot_be_written_whole_is_not_there_at_all(world):
    """A limit on the size of files stands for the disk that is full."""
    import resource

    world.tree("alpha", {"big.txt": "x" * 300_000})
    world.write()
    wheel = (world.wheels / "alpha-1.0-py3-none-any.whl").stat().st_size
    limit = (wheel - 1, wheel - 1)
    run = command(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 2
    assert "Traceback" not in stderr
    assert not (world.cache / "trees").exists()
    assert list(world.cache.glob(".fetching-*")) == []
    assert states(fetch()) == {"alpha": "fetched"}


def test_a_place_that_cannot_be_written_is_told(world):
    world.tree("alpha")
    world.vocabulary()
    world.write()
    world.cache.mkdir()
    (world.cache / "trees").write_text("in the way")
    words, alpha = fetch()
    assert words.state == "fetched"
    assert alpha.reason == f"{world.cache / 'trees' / 'alpha'} cannot be written: File exists"


def test_two_at_once_do_not_harm_each_other(world):
    world.tree("alpha")
    world.tree("beta")
    world.write()
    runs = [command(), command()]
    said = [run.communicate(timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert set(states(status()).values()) == {"there"}


def test_killed_at_any_moment_it_leaves_nothing_half(world):
    world.tree("alpha", {f"a/{n}.py": "x = 1\n" * 200 for n in range(500)})
    world.write()
    dice = random.Random(7)
    for _ in range(3):
        run = command()
        time.sleep(dice.uniform(0.3, 3))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        tree = world.cache / "trees" / "alpha"
        assert not tree.exists() or status()[0].state == "there"
    for _ in range(50):  # a pip that lost its parent may still be writing
        fetch(force=True)
        if not list(world.cache.glob(".fetching-*")):
            break
        time.sleep(0.2)
    assert states(status()) == {"alpha": "there"}
    assert list(world.cache.glob(".fetching-*")) == []


def test_ctrl_c_is_one_word(world):
    world.tree("alpha")
    world.write()
    run = command(start_new_session=True)
    run.stderr.readline()
    os.killpg(run.pid, signal.SIGINT)
    _, stderr = run.communicate(timeout=60)
    assert stderr == "ctxlab: interrupted\n"
    assert run.returncode == 130
    assert list(world.cache.glob(".fetching-*")) == []
