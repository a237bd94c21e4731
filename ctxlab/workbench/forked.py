"""The forked engine: papermill's own engine, with kernels that a warm parent forks.

Isolation is that of the ordinary engine, a fresh process for every notebook; what is saved is the
start. Linux and macOS; `warm_parent.available()` is False elsewhere.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from typing import IO, Any
from uuid import uuid4

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from ctxlab.errors import RunFailed
from ctxlab.workbench import warm_parent
from ctxlab.workbench.kernel import FreshKernel, OrdinaryEngine


class ForkedProcess:
    """What a provisioner needs of a `subprocess.Popen`, over the warm parent's connection."""

    stdin = stdout = stderr = None

    def __init__(self, argv: list[str], env: Mapping[str, str], cwd: str, log: str) -> None:
        self._connection = warm_parent.connect(warm_parent.address())
        self._lines = self._connection.makefile("rb")
        _send(self._connection, {"argv": argv, "env": dict(env), "cwd": str(cwd), "log": log})
        answer = _receive(self._lines)
        if "pid" not in answer:
            raise RunFailed("the warm parent ended before it forked a kernel")
        self.pid: int = answer["pid"]
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            # A parent that is gone has taken its kernels along.
            self.returncode = _receive(self._lines).get("exit", -signal.SIGKILL)
            self._lines.close()
            self._connection.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, when it has ended."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("kernel", timeout or 0)
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        """Signal the kernel, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def _send(connection: socket.socket, request: Mapping[str, Any]) -> None:
    connection.sendall(json.dumps(request).encode() + b"\n")


def _receive(lines: IO[bytes]) -> dict[str, int]:
    """The parent's next answer; empty when it is gone."""
    try:
        return dict(json.loads(lines.readline() or b"{}"))
    except OSError:
        return {}


class _Provisioner(LocalProvisioner):
    """Launches a kernel by asking the warm parent."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork instead of start; `cmd` is what ipykernel would find in its `sys.argv`."""
        process = ForkedProcess(cmd, kwargs["env"], kwargs["cwd"], kwargs["stdout"].name)
        self.pid, self.pgid, self.cwd = process.pid, process.pid, kwargs["cwd"]
        self.process = process  # type: ignore[assignment]  # it has what LocalProvisioner calls
        return self.connection_info


class ForkedKernel(FreshKernel):
    """A kernel process of its own, forked instead of started."""

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """The kernel's arguments."""
        if not self.ours:
            return super().format_kernel_cmd(extra_arguments)
        return ["-f", self.connection_file, *(extra_arguments or [])]

    async def _async_pre_start_kernel(self, **kwargs: Any) -> Any:
        if self.provisioner is None and self.ours:
            self.kernel_id = self.kernel_id or str(uuid4())
            self.provisioner = _Provisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
        return await super()._async_pre_start_kernel(**kwargs)

    pre_start_kernel = _async_pre_start_kernel  # type: ignore[assignment]  # as its own async form


class ForkedEngine(OrdinaryEngine):
    """The ordinary engine over forked kernels."""

    kernel_class = ForkedKernel
