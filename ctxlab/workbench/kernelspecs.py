"""Which kernels there are: this interpreter's own, and whatever Jupyter has installed."""

from __future__ import annotations

from ctxlab.errors import UsageError

OURS = ("python3", "python")
"""Names of the kernel that is always there, whatever kernelspec a user installed."""


def check_kernel(name: str) -> None:
    """Whether such a kernel can be started.

    Raises:
        UsageError: none is installed.
    """
    if name in OURS:
        return
    from jupyter_client.kernelspec import (  # noqa: PLC0415  0.5 s, and seldom asked
        KernelSpecManager,
        NoSuchKernel,
    )

    manager = KernelSpecManager()
    try:
        manager.get_kernel_spec(name)
    except NoSuchKernel:
        there = ", ".join(sorted(manager.find_kernel_specs()))
        raise UsageError(f"no kernel {name!r} is installed; there are {there}") from None
