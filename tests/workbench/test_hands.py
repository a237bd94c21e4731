"""The hands of a host's dask workers, without dask: one server for them all."""

import os
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from uuid import uuid4

import psutil
import pytest

from ctxlab.workbench import hands
from tests.workbench.test_batch_processes import gone

ANOTHER_WORKER = """
import os, sys
from ctxlab.workbench import hands
print(hands.call(sys.argv[1], False, os.getppid), hands.call(sys.argv[1], False, os.getpid))
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.fixture
def batch():
    name = uuid4().hex
    yield name
    hands.end(name)


def another_worker(batch):
    """A second worker of the host: the process, its hand's parent and its hand."""
    command = [sys.executable, "-c", ANOTHER_WORKER, batch]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    parent, hand = map(psutil.Process, map(int, worker.stdout.readline().split()))
    return worker, parent, hand


def test_workers_share_a_server_which_survives_the_one_that_started_it(batch):
    worker, server, hand = another_worker(batch)
    hands.prepare(batch, 1, forks=False)
    assert hands.call(batch, False, os.getppid) == server.pid
    worker.kill()
    worker.communicate()
    assert gone([hand]), "a hand ends with its worker"
    assert hands.call(batch, False, os.getppid) == server.pid
    hands.end(batch)
    assert gone([server])


def test_a_server_that_died_is_started_anew(batch):
    server = psutil.Process(hands.call(batch, False, os.getppid))
    hand = psutil.Process(hands.call(batch, False, os.getpid))
    server.kill()
    assert gone([hand])
    end, found = time.monotonic() + 60, server.pid
    while found == server.pid:
        assert time.monotonic() < end
        with suppress(BrokenExecutor):
            found = hands.call(batch, False, os.getppid)
    assert hands.call(batch, False, os.getppid) == found


def test_a_hand_that_dies_takes_its_call_along_and_nothing_else(batch):
    server = hands.call(batch, False, os.getppid)
    with pytest.raises(BrokenExecutor):
        hands.call(batch, False, os._exit, 3)
    assert hands.call(batch, False, os.getppid) == server


def test_a_hand_has_the_folder_and_the_environment_of_its_worker(batch, tmp_path, monkeypatch):
    server = hands.call(batch, False, os.getppid)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OF_THIS_WORKER", "1")
    with suppress(BrokenExecutor):
        hands.call(batch, False, os._exit, 0)
    assert hands.call(batch, False, os.getcwd) == str(tmp_path)
    assert hands.call(batch, False, os.getenv, "OF_THIS_WORKER") == "1"
    assert hands.call(batch, False, os.getppid) == server
