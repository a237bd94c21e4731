"""`python -m ctxlab.workbench.kernel_child`: an ordinary ipykernel that ends with its parent.

ipykernel looks once a second whether its parent is gone, which a busy kernel does not get to, and
which does not see a parent's death under a subreaper. Linux can promise it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Be killed when the parent dies, however it dies; where there is no prctl, do nothing."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = os.environ.get("JPY_PARENT_PID")
    if parent and os.getppid() != int(parent):  # it died before we asked
        os._exit(1)


def told_of_parents_death(parent: int, number: signal.Signals) -> None:
    """Get a signal when `parent`, a process id, dies; where there is no prctl, do nothing."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def pack(message: Any) -> bytes:
    """A message of the kernel's as JSON; half a surrogate pair in it becomes U+FFFD.

    jupyter_client has no bytes for one, and its message, such as an exception's name and text, is
    lost.
    """
    from jupyter_client.jsonutil import json_default  # noqa: PLC0415  warm by now
    from jupyter_client.session import json_packer  # noqa: PLC0415

    try:
        return json_packer(message)
    except UnicodeEncodeError:
        text = json.dumps(message, default=json_default, ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def main() -> None:
    """Start the kernel that the arguments describe."""
    end_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # a batch's workers hold it
    del sys.path[0]  # `-m` put the working directory there
    from ipykernel import kernelapp  # noqa: PLC0415  the parent may die during the import, too

    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main()
