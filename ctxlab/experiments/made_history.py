r"""A git history that is the same on every machine, and what `git log` says of it.

>>> print(git_log({"a.py": "x = 1\n"}, "--format=%s", edits=1))
Review a.py
Add a.py
<BLANKLINE>

Each file is added in a commit of its own; then come commits that each change a few lines of one
file. Authors, dates and messages are made up, so that hashes and text stay what they are.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping

from ctxlab.errors import InputError

EDITS = 60
_START = 1_700_000_000
_HOUR = 3600
_EVERY = 37  # lines between two changes of one commit


def git_log(files: Mapping[str, str], *options: str, edits: int = EDITS) -> str:
    """What `git log` prints for a history of these files (name → text).

    Raises:
        InputError: git is not installed, or fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        # Nobody's settings: neither the machine's nor the user's.
        environment = os.environ | {"GIT_CONFIG_NOSYSTEM": "1", "HOME": folder, "LC_ALL": "C"}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_DIR": f"{folder}/.git"}
        settings = ["-c", "core.abbrev=7", "-c", "diff.algorithm=myers", "-c", "core.pager=cat"]
        commands: list[tuple[list[str], str]] = [
            (["init", "--quiet", "--initial-branch=main", "--object-format=sha1"], ""),
            (["fast-import", "--quiet"], "".join(_stream(files, edits))),
            (["log", "--no-color", "--no-decorate", "--date=iso", *options, "main"], ""),
        ]
        out = ""
        for command, given in commands:
            try:
                out = subprocess.run(
                    ["git", *settings, *command],
                    input=given,
                    env=environment,
                    capture_output=True,
                    check=True,
                    encoding="utf-8",
                ).stdout
            except (OSError, subprocess.CalledProcessError) as error:
                raise InputError(f"git: {error}") from None
        return out


def _stream(files: Mapping[str, str], edits: int) -> Iterator[str]:
    """The history as `git fast-import` reads it."""
    texts: dict[str, str] = {}
    names = sorted(files)
    for number in range(len(names) + edits):
        name = names[number % len(names)]
        added = name not in texts
        texts[name] = files[name] if added else _edited(texts[name], number)
        message = f"{'Add' if added else 'Review'} {name}\n"
        date = f"Sam Doe <sam@example.org> {_START + _HOUR * number} +0000"
        yield f"commit refs/heads/main\ncommitter {date}\n{_data(message)}"
        for known, text in texts.items():
            if known == name:
                yield f"M 100644 inline {known}\n{_data(text)}\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}"


def _edited(text: str, number: int) -> str:
    """Three lines marked, further down with every commit."""
    lines = text.splitlines(keepends=True)
    for place in range(number % _EVERY, len(lines), max(len(lines) // 3, 1)):
        lines[place] = lines[place].rstrip("\n") + f"  # seen in review {number}\n"
    return "".join(lines)
