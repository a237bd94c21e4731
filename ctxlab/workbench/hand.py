"""A process that runs notebooks one after the other for a dask worker, and ends with it.

    python -P -m ctxlab.workbench.hand FD

Calls come pickled over the socket FD, their results go back. Closing our standard input ends us, in
the middle of a run too: its kernel ends and its unfinished directory goes. A dask worker lives for
days and cannot stop what runs in a thread of its own; a hand reads the project's code as it is on
disk when its batch begins, and can be stopped. One that has had nothing to do for a minute goes.
"""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from ctxlab.workbench import warm_parent
from ctxlab.workbench.workers import obey

_IDLE_SECONDS = 60
FORKS = "forks"
"""The argument that says that kernels will be forked: their warm parent starts at once."""


def main() -> None:
    """Serve calls until nobody asks."""
    obey(Connection(sys.stdin.fileno(), writable=False))
    calls = Connection(int(sys.argv[1]))
    if FORKS in sys.argv:
        warm_parent.address()  # it starts while we import papermill
    from ctxlab.workbench import execution  # noqa: F401, PLC0415  before the first call comes

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


if __name__ == "__main__":
    main()
