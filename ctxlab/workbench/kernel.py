"""The ordinary engine: a fresh kernel for each notebook, driven by papermill's own engine.

Beyond papermill: this interpreter's kernel whatever kernelspec a user installed, sockets in a
folder of their own (ports can race), no start-up files and no history of the user, one time limit
for the whole run, and an end of the kernel and all its children however the run ends.

Importing this module imports papermill (1 s): `run` does so when something runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ctxlab.workbench import light_jsonschema  # noqa: F401  before nbformat imports jsonschema

# isort: split
from jupyter_client.manager import AsyncKernelManager
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine

from ctxlab.workbench.kernelspecs import OURS

_ARGUMENTS = [
    "--HistoryManager.enabled=False",
    "--Session.packer=ctxlab.workbench.kernel_child.pack",
]
_START_SECONDS = 120
_SHORTEST_LIMIT = 0.001  # nbclient takes 0 for no limit
_KILLED_SECONDS = 10


@dataclass
class Session:
    """What an engine is told about one run, and what it tells back."""

    folder: Path
    """For sockets and the kernel's own files: an absolute path short enough for a socket."""
    cwd: Path
    environment: Mapping[str, str]
    """The kernel's environment variables beyond this process's."""
    log: IO[bytes]
    """Where the kernel's own stdout and stderr go."""
    on_cell: Callable[[int], object]
    """Called with the index of the cell that begins."""
    deadline: float | None = None
    """Of time.monotonic()."""
    exit_code: int | None = None
    """The kernel's, where it died by itself."""


class FreshKernel(AsyncKernelManager):
    """A kernel process of its own."""

    process: subprocess.Popen[bytes] | None = None

    @property
    def ours(self) -> bool:
        """Whether it is this interpreter's own ipykernel."""
        return self.kernel_name in OURS

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """The command that starts it."""
        if not self.ours:
            return super().format_kernel_cmd(extra_arguments)
        module = [sys.executable, "-m", "ctxlab.workbench.kernel_child"]
        return [*module, "-f", self.connection_file, *(extra_arguments or [])]

    async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
        await super()._async_launch_kernel(kernel_cmd, **kw)
        self.process = getattr(self.provisioner, "process", None)


class _Client(PapermillNotebookClient):  # type: ignore[misc]  # papermill ships no types
    session: Session

    def papermill_execute_cells(self) -> None:
        try:
            super().papermill_execute_cells()
        except BaseException:
            # A busy kernel would be waited for; a dead one has its exit code to tell.
            self.shutdown_kernel = "immediate"
            process = self.km.process
            self.session.exit_code = process.poll() if process else None
            raise

    def execute_cell(self, cell: Any, cell_index: int, **kwargs: Any) -> Any:
        self.session.on_cell(cell_index)
        return super().execute_cell(cell, cell_index, **kwargs)


class OrdinaryEngine(NBClientEngine):  # type: ignore[misc]  # papermill ships no types
    """papermill's engine with our kernel; `session` comes in as an engine argument."""

    kernel_class: type[FreshKernel] = FreshKernel

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *, session: Session, **_: Any
    ) -> None:
        """Run the notebook; its kernel and the kernel's children are gone afterwards."""
        manager = cls.kernel_class(
            kernel_name=kernel_name,
            transport="ipc",
            ip=str(session.folder / "k"),
            connection_file=str(session.folder / "kernel.json"),
        )
        client = _Client(
            nb_man,
            km=manager,
            startup_timeout=_START_SECONDS,
            timeout_func=_limit(session.deadline),
            extra_arguments=_ARGUMENTS if kernel_name in OURS else [],
        )
        client.session = session
        try:
            client.execute(
                cleanup_kc=True,
                cwd=str(session.cwd),
                env=_environment(session),
                stdout=session.log,
                stderr=session.log,
            )
        finally:
            _end(manager.process)


def _limit(deadline: float | None) -> Callable[[Any], float] | None:
    """What is left for the cell that begins now."""
    if deadline is None:
        return None
    return lambda _: max(deadline - time.monotonic(), _SHORTEST_LIMIT)


def _environment(session: Session) -> dict[str, str]:
    return {
        **os.environ,
        "IPYTHONDIR": str(session.folder / "ipython"),  # no start-up files of the user's
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",  # sets of text have an order: equal inputs, equal tables
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # a warning about frozen modules
        **session.environment,
    }


def _end(process: subprocess.Popen[bytes] | None) -> None:
    """Kill the kernel's session: what it started and left running goes with it."""
    if process is None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_KILLED_SECONDS)
