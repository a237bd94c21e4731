from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.errors import ResourceExpired, StoreError, UsageError
from ctxlab.truncation import (
    FsspecStorage,
    MemoryStorage,
    RedisStorage,
    ResourceStore,
    SqliteStorage,
)
from ctxlab.truncation.storages import Lifetime
from tests.truncation.services import redis_server
from tests.truncation.strategies import texts

REDIS = pytest.param("redis", marks=pytest.mark.services)
KINDS = ["memory", "sqlite", "files", "memory-files", REDIS]


@pytest.fixture(scope="module")
def redis_url():
    with redis_server() as url:
        yield url


@pytest.fixture(params=KINDS)
def storage(request, tmp_path):
    if request.param == "memory":
        return MemoryStorage()
    if request.param == "sqlite":
        return SqliteStorage(tmp_path / "deep" / "store.sqlite")
    if request.param == "files":
        return FsspecStorage(str(tmp_path / "store"))
    if request.param == "memory-files":
        return FsspecStorage(f"memory://{tmp_path.name}")
    return RedisStorage(request.getfixturevalue("redis_url"), prefix=f"{tmp_path.name}:")


HARD = ["", "x", "a\x00b", "e\u0301👨‍👩‍👧‍👦", "\ud800 lone", "\r\n\ufeff", "日本" * 3000]


@pytest.mark.parametrize("content", HARD)
def test_what_was_saved_comes_back_with_every_byte(storage, content):
    store = ResourceStore(storage)
    key = store.save(content, {"tool": "t", "kind": "plain"})
    assert ResourceStore(storage).text(key) == content
    data = content.encode("utf-8", "surrogatepass")
    found = store.metadata(key)
    assert found["sha256"] == hashlib.sha256(data).hexdigest()
    assert (found["chars"], found["bytes"], found["tool"]) == (len(content), len(data), "t")


def test_pages_join_to_the_whole(storage):
    store = ResourceStore(storage)
    content = "🇯🇵x\r\n" * 5000
    key = store.save(content)
    parts, offset = [], 0
    while True:
        page = store.get(key, offset, 777)
        parts.append(page.content)
        assert page.total_chars == len(content)
        assert page.returned_chars == len(page.content)
        if not page.has_more:
            break
        offset += page.returned_chars
    assert "".join(parts) == content


def test_an_id_is_never_given_twice(storage):
    draws = itertools.chain(["a" * 8, "a" * 8, "a" * 8, "b" * 8], itertools.repeat("a" * 8))
    store = ResourceStore(storage, draw=lambda: next(draws))
    assert [store.save("one"), store.save("two")] == ["aaaaaaaa", "bbbbbbbb"]
    assert (store.text("aaaaaaaa"), store.text("bbbbbbbb")) == ("one", "two")
    with pytest.raises(StoreError, match="no free id in 100 draws"):
        store.save("three")


def test_ids_are_eight_hex_digits_and_forgiving(storage):
    store = ResourceStore(storage)
    key = store.save("text")
    assert len(key) == 8
    int(key, 16)
    assert store.get(f' "{key.upper()}" ').content == "text"
    for wrong in ("", "nope", "../../etc/passwd", key + "0", "０1234567", None, 12345678, ["a"]):
        with pytest.raises(StoreError, match="is no resource id; one is 8 hex digits"):
            store.get(wrong)
    with pytest.raises(StoreError, match="no resource '00000000'"):
        store.get("00000000")


def test_what_has_expired_says_so_and_names_the_call(storage):
    now = [1000.0]
    store = ResourceStore(storage, ttl=60, clock=lambda: now[0])
    key = store.save("text", {"tool": "grep_search", "arguments": {"pattern": 'a"b', "n": 1}})
    bare = store.save("text")
    assert store.text(key) == "text"
    now[0] += 60
    with pytest.raises(ResourceExpired) as told:
        store.get(key)
    call = 'grep_search(pattern="a\\"b", n=1)'
    assert str(told.value) == f"resource {key} has expired; to see it again, call {call}"
    storage.sweep(now[0])
    with pytest.raises(ResourceExpired, match="has expired"):
        ResourceStore(storage, clock=lambda: now[0]).get(key)
    with pytest.raises(ResourceExpired, match="call the tool that made it"):
        store.get(bare)
    assert store.metadata(key)["chars"] == 4
    draws = iter([key, "cccccccc"])
    assert (
        ResourceStore(storage, clock=lambda: now[0], draw=lambda: next(draws)).save("new")
        == "cccccccc"
    )


def test_sweeping_lets_go_of_the_content(tmp_path):
    path = tmp_path / "s.sqlite"
    for storage in (MemoryStorage(), SqliteStorage(path), FsspecStorage(str(tmp_path / "files"))):
        assert storage.add("aaaaaaaa", '{"expires": 5.0}', b"x", Lifetime(5.0, 5.0))
        assert storage.add("bbbbbbbb", '{"expires": null}', b"y", None)
        storage.sweep(4.0)
        assert storage.read("aaaaaaaa")[1] == b"x"
        storage.sweep(5.0)
        assert storage.read("aaaaaaaa")[1] is None
        assert storage.read("bbbbbbbb")[1] == b"y"


@pytest.mark.services
def test_redis_lets_go_by_itself(redis_url):
    store = ResourceStore(RedisStorage(redis_url), ttl=0.05)
    key = store.save("text", {"tool": "t"})
    time.sleep(0.1)
    with pytest.raises(ResourceExpired, match=r"call t\(\)"):
        store.get(key)
    assert RedisStorage(redis_url).read(key)[1] is None


@pytest.mark.parametrize(
    ("offset", "limit", "told"),
    [
        (-1, 10, "offset must be a whole number of at least 0, not -1"),
        (11, 10, "offset 11 is past the end: [0-9a-f]{8} has 10 characters"),
        (0, 0, "limit must be a whole number of at least 1, not 0"),
        (0, -5, "limit must be"),
        (1.0, 5, "offset must be"),
        (True, 5, "offset must be"),
        ("0", 5, "offset must be"),
    ],
)
def test_a_bad_page_is_refused(offset, limit, told):
    store = ResourceStore(MemoryStorage())
    with pytest.raises(UsageError, match=told):
        store.get(store.save("0123456789"), offset, limit)


def test_the_end_is_no_error():
    store = ResourceStore(MemoryStorage())
    page = store.get(store.save("0123456789"), 10)
    assert (page.content, page.has_more) == ("", False)
    names = "resource_id offset returned_chars total_chars has_more content"
    assert " ".join(dict(page)) == names


def test_only_text_and_json_are_kept():
    store = ResourceStore(MemoryStorage())
    with pytest.raises(UsageError, match="content must be a string, not bytes"):
        store.save(b"x")
    with pytest.raises(UsageError, match="metadata must be JSON values"):
        store.save("x", {"a": {1}})
    with pytest.raises(UsageError, match="ttl must be above 0"):
        ResourceStore(MemoryStorage(), ttl=0)


@given(st.lists(texts, min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_two_stores_on_one_storage_mix_nothing(contents):
    storage = MemoryStorage()
    stores = [ResourceStore(storage), ResourceStore(storage)]
    keys = [stores[n % 2].save(content) for n, content in enumerate(contents)]
    assert len(set(keys)) == len(keys)
    assert [stores[1].text(key) for key in keys] == contents


def test_threads_share_a_store(storage):
    store = ResourceStore(storage)
    contents = [f"text {n} " * 50 for n in range(120)]
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(store.save, contents))
        assert list(pool.map(store.text, keys)) == contents
    assert len(set(keys)) == 120


WRITER = """
import sys, random
from ctxlab.truncation import ResourceStore, SqliteStorage
store = ResourceStore(SqliteStorage(sys.argv[1]))
draw = random.Random(int(sys.argv[2]))
for n in range(int(sys.argv[3])):
    content = f"{sys.argv[2]}:{n}:" + chr(draw.randrange(97, 123)) * draw.randrange(20_000, 80_000)
    print(store.save(content), n, content[-1], len(content), flush=True)
"""


def written(done: str, seed: int) -> dict[str, str]:
    """What the writer handed out: id → content."""
    found = {}
    for line in done.splitlines():
        key, n, char, length = line.split()
        head = f"{seed}:{n}:"
        found[key] = head + char * (int(length) - len(head))
    return found


def test_processes_that_share_a_file_lose_and_mix_nothing(tmp_path):
    path = tmp_path / "store.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    jobs = [
        subprocess.Popen([*command, str(seed), "40"], stdout=subprocess.PIPE, text=True)
        for seed in range(4)
    ]
    found = [written(job.communicate()[0], seed) for seed, job in enumerate(jobs)]
    assert all(job.returncode == 0 for job in jobs)
    store = ResourceStore(SqliteStorage(path))
    assert len(set().union(*found)) == 160
    for contents in found:
        assert all(store.text(key) == content for key, content in contents.items())


def test_a_writer_that_is_killed_keeps_every_id_it_handed_out(tmp_path):
    path = tmp_path / "store.sqlite"
    for seed in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(seed), "100000"],
            stdout=subprocess.PIPE,
            text=True,
        ) as job:
            assert job.stdout
            lines = [job.stdout.readline() for _ in range(5 + seed)]
            os.kill(job.pid, signal.SIGKILL)
            lines += [line for line in job.stdout if line.endswith("\n")]
        store = ResourceStore(SqliteStorage(path))
        for key, content in written("".join(lines), seed).items():
            assert store.text(key) == content


def _save_in_child(store, queue):
    queue.put(store.save("from the child"))


def test_a_forked_process_opens_its_own_connection(tmp_path):
    store = ResourceStore(SqliteStorage(tmp_path / "s.sqlite"))
    mine = store.save("from the parent")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_save_in_child, args=(store, queue))
    child.start()
    theirs = queue.get(timeout=20)
    child.join()
    assert [store.text(mine), store.text(theirs)] == ["from the parent", "from the child"]


def test_the_file_is_the_owners_alone(tmp_path):
    SqliteStorage(tmp_path / "s.sqlite")
    assert stat.S_IMODE((tmp_path / "s.sqlite").stat().st_mode) == 0o600


def test_the_default_is_a_file_in_the_cache_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    key = ResourceStore().save("text")
    assert (
        ResourceStore(SqliteStorage(tmp_path / "ctxlab" / "resources.sqlite")).text(key) == "text"
    )


def test_a_storage_that_fails_says_so(tmp_path):
    (tmp_path / "text").write_text("no database, and long enough to be looked at" * 50)
    with pytest.raises(StoreError, match="file is not a database"):
        SqliteStorage(tmp_path / "text")
    with pytest.raises(StoreError, match=r"Is a directory"):
        SqliteStorage(tmp_path)
    with pytest.raises(UsageError, match="MemoryStorage keeps resources in memory"):
        SqliteStorage(":memory:")
    with pytest.raises(UsageError, match="nope"):
        FsspecStorage("nope://x")
    with pytest.raises(StoreError, match="Redis"):
        RedisStorage(f"unix://{tmp_path}/none")
    with pytest.raises(UsageError, match="no Redis url"):
        RedisStorage("nope://x")


def test_damage_is_noticed(tmp_path):
    store = ResourceStore(SqliteStorage(tmp_path / "s.sqlite"))
    key = store.save("text")
    with sqlite3.connect(tmp_path / "s.sqlite") as database:
        database.execute("UPDATE resources SET content = x'00'")
    with pytest.raises(StoreError, match="is not what was saved; the storage is damaged"):
        store.get(key)
    files = FsspecStorage(str(tmp_path / "files"))
    key = ResourceStore(files).save("text")
    (tmp_path / "files" / f"{key}.bin").unlink()
    with pytest.raises(StoreError, match="damaged"):
        ResourceStore(files).get(key)
    (tmp_path / "files" / f"{key}.json").write_text("{")
    with pytest.raises(StoreError, match=r"JSON|Expecting"):
        ResourceStore(files).get(key)


class FullDisk(LocalFileSystem):
    """A local file system that has no room for contents."""

    protocol = "fulldisk"

    def pipe_file(self, path, value, **kwargs):
        super().pipe_file(path, value[: len(value) // 2], **kwargs)
        raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    storage = FsspecStorage(str(tmp_path))
    storage._files = FullDisk()
    with pytest.raises(StoreError, match="No space left on device"):
        ResourceStore(storage).save("text" * 1000)
    assert list(tmp_path.iterdir()) == []


def test_a_full_database_is_a_store_error(tmp_path):
    storage = SqliteStorage(tmp_path / "s.sqlite")
    storage._connection().execute("PRAGMA max_page_count=20")
    store = ResourceStore(storage)
    with pytest.raises(StoreError, match="full"):
        store.save("x" * 1_000_000)
    assert store.text(store.save("small")) == "small"


class NoExclusive(MemoryFileSystem):
    """A file system that cannot make a file exclusively."""

    protocol = "noexclusive"

    def open(self, path, mode="rb", **kwargs):
        if "x" in mode:
            raise ValueError(mode)
        return super().open(path, mode, **kwargs)


def test_a_file_system_without_exclusive_creation_is_asked_first(tmp_path):
    storage = FsspecStorage(f"memory://{tmp_path.name}")
    storage._files = NoExclusive()
    draws = iter(["aaaaaaaa", "aaaaaaaa", "bbbbbbbb"])
    store = ResourceStore(storage, draw=lambda: next(draws))
    assert [store.save("one"), store.save("two")] == ["aaaaaaaa", "bbbbbbbb"]
    assert store.text("aaaaaaaa") == "one"


@pytest.mark.services
def test_a_server_that_goes_away_is_a_store_error():
    with redis_server() as url:
        store = ResourceStore(RedisStorage(url))
        key = store.save("text")
        other = store.save("other")
        assert store.text(key) == "text"
    with pytest.raises(StoreError, match="Redis"):
        store.get(other)
    with pytest.raises(StoreError, match="Redis"):
        store.save("more")
