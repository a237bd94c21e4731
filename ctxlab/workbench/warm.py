"""A warm parent: it has imported what notebooks import, and forks a fresh kernel for each request.

    python -P -m ctxlab.workbench.warm SOCKET

A kernel costs seconds before its first cell: start, pandas, matplotlib. Here they are paid once.
Each connection to SOCKET asks for one kernel with a line of JSON, {"argv", "env", "cwd", "log"}, is
told {"pid"}, and {"exit"} when that kernel ends. Closing the connection kills the kernel; closing
our standard input ends us, and every kernel with us: nothing outlives a batch that was killed.

One thread, no event loop and no zmq context: those do not survive a fork. What a notebook changes
(rcParams, monkeypatches, seeds) it changes in its own process. The project's own code is not
imported ahead: a kernel reads it as it is on disk.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxlab.workbench.kernel_child import end_with_parent

# What the notebooks import, and what ipykernel and matplotlib import late.
PRELOAD = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",  # every kernel has one: 90 modules
    "IPython.core.pylabtools",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "tornado.queues",
    "pydoc",
    "sqlite3",
    "numpy",
    "pandas",
    "pandas.io.formats.string",
    "matplotlib.figure",
    "matplotlib.style",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "PIL.Image",
    "PIL.PngImagePlugin",
    "orjson",
    "tqdm",
    "yaml",
)

Request = dict[str, Any]


@dataclass
class _Server:
    listener: socket.socket
    selector: selectors.BaseSelector
    wakeup: socket.socket
    kernels: dict[int, socket.socket] = field(default_factory=dict)

    def next_kernel(self) -> Request | None:
        """Serve until a fork: the request in the child; None in the parent when it is over."""
        while True:
            for key, _ in self.selector.select():
                if key.data == "end":
                    self._end_kernels()
                    return None
                request = self._answer(key)
                if request is not None:
                    return request

    def _answer(self, key: selectors.SelectorKey) -> Request | None:
        if key.data == "reap":
            self.wakeup.recv(4096)
            self._reap()
        elif key.data == "accept":
            connection, _ = self.listener.accept()
            self.selector.register(connection, selectors.EVENT_READ, "request")
        elif key.data == "request" and isinstance(key.fileobj, socket.socket):
            return self._start(key.fileobj)
        elif isinstance(key.fileobj, socket.socket):
            self._drop(key.fileobj, key.data)
        return None

    def _start(self, connection: socket.socket) -> Request | None:
        self.selector.unregister(connection)
        with connection.makefile("rb") as lines:
            line = lines.readline()
        if not line:
            connection.close()
            return None
        pid = os.fork()
        if not pid:
            self._close_all(connection)
            return dict(json.loads(line))
        _tell(connection, {"pid": pid})
        self.kernels[pid] = connection
        self.selector.register(connection, selectors.EVENT_READ, pid)
        return None

    def _close_all(self, connection: socket.socket) -> None:
        """In the child: nothing of the parent's stays open."""
        signal.set_wakeup_fd(-1)
        for key in list(self.selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self.selector.close()
        connection.close()

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = found
                connection = self.kernels.pop(pid, None)
                if connection is not None:
                    _tell(connection, {"exit": os.waitstatus_to_exitcode(status)})
                    self.selector.unregister(connection)
                    connection.close()

    def _drop(self, connection: socket.socket, pid: int) -> None:
        """The client is gone: so is its kernel, and what the kernel started."""
        self.selector.unregister(connection)
        connection.close()
        self.kernels.pop(pid, None)
        _kill_group(pid)

    def _end_kernels(self) -> None:
        for pid in self.kernels:
            _kill_group(pid)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):  # it had not made its own group yet
        os.kill(pid, signal.SIGKILL)


def _tell(connection: socket.socket, answer: dict[str, int]) -> None:
    with contextlib.suppress(OSError):  # a client that left is noticed by its closed connection
        connection.sendall(json.dumps(answer).encode() + b"\n")


def _preload() -> None:
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a warning of its import
    for name in PRELOAD:
        with contextlib.suppress(ImportError):  # a version that has it elsewhere: only slower
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a kernel's collector lets these be, and their pages stay shared


def _server(path: str) -> _Server:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    wakeup, write_end = socket.socketpair()
    write_end.setblocking(False)
    signal.set_wakeup_fd(write_end.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ, "accept")
    selector.register(wakeup, selectors.EVENT_READ, "reap")
    selector.register(sys.stdin.fileno(), selectors.EVENT_READ, "end")
    return _Server(listener, selector, wakeup)


def _run_kernel(request: Request, parent: int) -> None:
    """In the child: what `python -m ipykernel_launcher` does, in a process of its own."""
    os.setsid()
    _fresh_process(request)
    os.environ["JPY_PARENT_PID"] = str(parent)
    end_with_parent()
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415  it is warm already

    # ipykernel reads JPY_PARENT_PID when it is imported, which was before the fork.
    argv = [*request["argv"], f"--IPKernelApp.parent_handle={parent}"]
    IPKernelApp.launch_instance(argv=argv)


def _fresh_process(request: Request) -> None:
    import random  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["ipykernel_launcher", *request["argv"]]
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(request["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    # The parent's streams carry buffers and locks of the parent.
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, closefd=False)  # noqa: SIM115  descriptors, kept open
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    random.seed()
    np.random.seed()  # noqa: NPY002  the global state is what must differ between forks


def main() -> None:
    """Serve until standard input closes; in a forked child, be its kernel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch decides what Ctrl-C means
    _preload()
    parent = os.getpid()
    request = _server(sys.argv[1]).next_kernel()
    if request is not None:
        _run_kernel(request, parent)
        return
    with contextlib.suppress(OSError):  # an owner that was killed leaves its folder to us
        Path(sys.argv[1]).unlink()
        Path(sys.argv[1]).parent.rmdir()


if __name__ == "__main__":
    main()
