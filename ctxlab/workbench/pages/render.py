"""Templates, style and script put into one file."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from ctxlab.workbench.pages import words

_FOLDER = Path(__file__).parent / "templates"


def page(template: str, **context: Any) -> str:
    """A whole page from one of the templates beside this file."""
    return _environment().get_template(template).render(**context)


def write_page(path: Path, text: str) -> Path:
    """Write a page in one step: whoever opens it meanwhile sees the old one or the new one.

    Raises:
        OSError: the directory cannot be written.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


@cache
def _umask() -> int:
    mask = os.umask(0)  # there is no other way to ask
    os.umask(mask)
    return mask


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (_FOLDER / "house.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8").strip()
    environment.globals |= {
        "style": Markup(style),  # noqa: S704  our own file
        "script": Markup(script),  # noqa: S704  our own file
        "policy": _policy(script),
    }
    environment.filters |= {"when": words.when, "took": words.took, "size": words.size}
    return environment


def _policy(script: str) -> str:
    """Nothing from anywhere; styles stand in the page; pictures are data; one script, by hash."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
