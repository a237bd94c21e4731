"""One process for a batch and host, from which the hands of every dask worker there are forked.

    python -P -m ctxlab.workbench.hand_server FD [forks]

papermill is imported once, and one warm parent forks all kernels, as in the pool. FD is a socket
that listens. Each connection to it is a worker's: each byte that comes over it brings three
descriptors, calls, leash and life, for a hand that serves them (see `hand`). We end when the last
worker has let go; our hands end when we do, and whoever needs another starts us anew. No worker's
death touches us: we are in a session of our own.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from ctxlab.workbench import hand
from ctxlab.workbench.kernel_child import told_of_parents_death
from ctxlab.workbench.warm_parent import WarmParent

FORKS = "forks"
"""The argument that says that kernels will be forked: their warm parent starts at once."""
DESCRIPTORS = 3
_LOOK_SECONDS = 0.5
_IDLE_SECONDS = 60


class _Server:
    def __init__(self, listener: socket.socket, *, forks: bool) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._workers: set[socket.socket] = set()
        self._hands: set[int] = set()
        self._patience = _IDLE_SECONDS / _LOOK_SECONDS
        """How often we look in vain for a first worker."""
        self.warm = WarmParent() if forks else None

    def next_hand(self) -> list[int] | None:
        """Serve until a fork: a hand's descriptors in the child; None in us when it is over."""
        while True:
            ready = self._selector.select(_LOOK_SECONDS)
            self._look()
            for key, _ in ready:
                if key.fileobj is self._listener:
                    self._welcome()
                elif isinstance(key.fileobj, socket.socket) and (found := self._asked(key.fileobj)):
                    return found
            if not self._workers and self._over():
                return None

    def _look(self) -> None:
        if self.warm:
            self.warm.ensure()
        self._hands -= {pid for pid in self._hands if os.waitpid(pid, os.WNOHANG)[0]}

    def _welcome(self) -> None:
        worker, _ = self._listener.accept()
        self._workers.add(worker)
        self._selector.register(worker, selectors.EVENT_READ)
        self._patience = 0

    def _asked(self, worker: socket.socket) -> list[int]:
        """Fork a hand, if that is asked for: its descriptors in the child, nothing in us."""
        with suppress(OSError):
            asked, descriptors, _, _ = socket.recv_fds(worker, 1, DESCRIPTORS)
            if asked and len(descriptors) == DESCRIPTORS:
                pid = os.fork()
                if not pid:
                    self._forget()
                    return descriptors
                self._hands.add(pid)
                for each in descriptors:
                    os.close(each)
                return []
        self._selector.unregister(worker)
        self._workers.discard(worker)
        worker.close()
        return []

    def _forget(self) -> None:
        """In a hand: nothing of ours stays open."""
        self._selector.close()
        for each in (self._listener, *self._workers):
            each.close()
        if self.warm:
            self.warm.forget()

    def _over(self) -> bool:
        """Whether no worker is coming: once our path is gone, none can but those that wait."""
        if self._patience > 0:
            self._patience -= 1
            return False
        Path(self._listener.getsockname()).unlink(missing_ok=True)
        return not self._selector.select(0)


def main() -> None:
    """Fork hands until no worker is left; in a fork, be the hand."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch decides what Ctrl-C means
    server = _Server(socket.socket(fileno=int(sys.argv[1])), forks=FORKS in sys.argv)
    from ctxlab.workbench import execution, run  # noqa: F401, PLC0415  the warm parent starts first

    ours = os.getpid()
    descriptors = server.next_hand()
    if descriptors is None:
        if server.warm:
            server.warm.close()
        return
    told_of_parents_death(ours, signal.SIGTERM)
    for each in descriptors:
        os.set_inheritable(each, False)
    calls, leash, _life = descriptors
    with suppress(EOFError, OSError):
        address = server.warm.address if server.warm else None
        hand.serve(Connection(calls), Connection(leash, writable=False), address)
    os._exit(0)  # what ends with our server is not ours to end


if __name__ == "__main__":
    main()
