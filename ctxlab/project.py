"""Where the project's own files stand.

Relative paths in parameters are relative to the project's root, wherever a notebook runs.
It does not create anything.
"""

from __future__ import annotations

import os
from pathlib import Path


def root() -> Path:
    """The project's root: `CTXLAB_ROOT` where it is set, else the checkout this package is in."""
    told = os.environ.get("CTXLAB_ROOT")
    return Path(told).resolve() if told else Path(__file__).resolve().parent.parent


def resolve(path: str | Path) -> Path:
    """An absolute path; a relative one counts from the project's root, `~` is the home.

    >>> resolve("data/claims.yaml") == root() / "data" / "claims.yaml"
    True
    """
    return root() / Path(path).expanduser()


def data_dir() -> Path:
    """Inputs we wrote: `data/`."""
    return root() / "data"


def cache_dir() -> Path:
    """Inputs that `make data` fetched: `data/cache/`."""
    return data_dir() / "cache"


def results_dir() -> Path:
    """Run directories: `CTXLAB_RESULTS` where it is set, else `results/`."""
    told = os.environ.get("CTXLAB_RESULTS")
    return Path(told).resolve() if told else root() / "results"
