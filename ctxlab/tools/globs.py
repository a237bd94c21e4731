"""What a model writes for `include`, as ripgrep globs.

A name without wildcards is a file or a folder, wherever it is when it has no slash:

>>> globs(Workspace("."), "**/*.py"), globs(Workspace("."), "./no_such_name")
(['**/*.py'], ['no_such_name', '**/no_such_name/**'])
"""

from __future__ import annotations

import re

from ctxlab.errors import UsageError
from ctxlab.tools.workspace import Workspace, escaped_name

_EVERYTHING = {"*", "**", "**/*", "."}
_WILD = re.compile(r"[*?\[\]{}!\\]")
_MAX = 1000


def globs(workspace: Workspace, include: str) -> list[str]:
    """The globs for `include`; none stand for everything.

    Raises:
        UsageError: empty, or nothing that could be a glob.
    """
    glob = include.strip().removeprefix("./")
    if not glob:
        raise UsageError("include is empty; leave it out to search everything, or give '**/*.py'")
    if "\0" in glob or len(glob) > _MAX or not is_unicode(glob):
        raise UsageError("include is no glob; give one such as 'src/**/*.py'")
    if glob.startswith("/"):
        glob = workspace.relative(glob) or glob
    if glob in _EVERYTHING:
        return []
    if workspace.is_dir(glob):
        return [f"/{_literal(glob)}/**"]
    if workspace.is_file(glob):
        return [f"/{_literal(glob)}"]
    if _WILD.search(glob):
        return [f"{glob}**" if glob.endswith("/") else glob]
    inside = glob.strip("/")
    return [glob, f"{inside}/**" if "/" in inside else f"**/{inside}/**"]


def _literal(path: str) -> str:
    return _WILD.sub(r"\\\g<0>", escaped_name(path).strip("/"))


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, as JSON may."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)
