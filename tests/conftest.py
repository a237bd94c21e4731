"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The machine may be busy: no deadline. The same examples everywhere: a red run can be run again.
settings.register_profile("ctxlab", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ctxlab")

REPOSITORY = Path(__file__).resolve().parent.parent


def shared(*parts: str) -> Path:
    """A file of the real inputs that stand beside a checkout; the test skips where they do not."""
    for folder in (REPOSITORY.parent, REPOSITORY.parent.parent):
        path = folder.joinpath("shared", "data", *parts)
        if path.exists():
            return path
    pytest.skip(f"no shared inputs beside the checkout: {'/'.join(parts)}")


def need_service(available: object, reason: str) -> None:
    """Skip with a reason where a service is missing; REQUIRE_SERVICES=1 forbids the skip."""
    if available:
        return
    if os.environ.get("REQUIRE_SERVICES"):
        pytest.fail(f"REQUIRE_SERVICES is set, and {reason}")
    pytest.skip(reason)
