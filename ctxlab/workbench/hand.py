"""A process that runs notebooks one after the other for a dask worker, and ends with it.

It is a fork of its host's `hand_server`. Calls come pickled over one socket, their results go back.
Letting go of the leash ends us, in the middle of a run too: its kernel ends and its unfinished
directory goes. A dask worker lives for days and cannot stop what runs in a thread of its own; a
hand reads the project's code as it is on disk when its batch begins, and can be stopped. One that
has had nothing to do for a minute goes.
"""

from __future__ import annotations

import os
from multiprocessing.connection import Connection

from ctxlab.workbench.warm_parent import ADDRESS
from ctxlab.workbench.workers import obey

_IDLE_SECONDS = 60


def serve(calls: Connection, leash: Connection, warm: str | None) -> None:
    """Serve calls until nobody asks; the first message is the worker's environment and folder.

    `warm` is the address where kernels are forked, if they are.
    """
    obey(leash)
    environment, folder = calls.recv()
    os.environ.clear()
    os.environ.update(environment | ({ADDRESS: warm} if warm else {}))
    os.chdir(folder)
    while calls.poll(_IDLE_SECONDS) and _answered(calls):
        pass


def _answered(calls: Connection) -> bool:
    try:
        function, arguments = calls.recv()
    except EOFError:
        return False
    try:
        calls.send((function(*arguments), None))
    except Exception as error:  # noqa: BLE001  it is the caller's
        calls.send((None, error))
    return True
