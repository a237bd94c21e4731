"""What two runs were made of, and in what that differs.

>>> told(InputChange("git.commit", "a" * 40, "b" * 40))
('commit', 'aaaaaaaa', 'bbbbbbbb')

`input_changes` names each by its path in the manifest and keeps whole values, for a script;
`in_short` is what people read. Not handled: rows and verdicts, which are `compare`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxlab import project
from ctxlab.workbench import shown
from ctxlab.workbench.manifest import Manifest

_NAMED = 4
_PACKAGES = "environment.packages."
_WORDS = {
    "notebook.source_sha256": "notebook",
    "git.commit": "commit",
    "git.dirty": "uncommitted changes",
    "environment.python": "Python",
    "environment.lock_sha256": "lock",
}


@dataclass(frozen=True)
class InputChange:
    """One input that differs: `what` as a path into the manifest, such as `parameters.turns`."""

    what: str
    before: Any
    """None where it was not there."""
    after: Any


def input_changes(old: Manifest, new: Manifest) -> list[InputChange]:
    """Everything that differs: parameters, notebook, data, models, commit, packages."""
    before, after = dict(_inputs(old)), dict(_inputs(new))
    return [
        InputChange(what, before.get(what), after.get(what))
        for what in {**after, **before}
        if before.get(what) != after.get(what)
    ]


def _inputs(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    """What a run was made of, as paths into its manifest; what matters most comes first."""
    yield from ((f"parameters.{name}", value) for name, value in manifest.parameters.items())
    yield "notebook.source_sha256", manifest.notebook.source_sha256
    yield from ((f"data.{item.path}", item.sha256) for item in manifest.data)
    yield from (("models", manifest.models), ("tokenizer", manifest.tokenizer))
    yield from (("git.commit", manifest.git.commit), ("git.dirty", manifest.git.dirty))
    yield "environment.python", manifest.environment.python
    yield "environment.lock_sha256", manifest.environment.lock_sha256
    packages = manifest.environment.packages.items()
    yield from ((f"{_PACKAGES}{name}", version) for name, version in packages)


def drifted(old: Manifest, new: Manifest) -> bool:
    """Whether a fetched input (in data/cache) has another content under the same path.

    Nobody of this project moved it: what was measured on it is no regression.
    """
    before = {item.path: item.sha256 for item in old.data}
    fetched = project.data_dir() / "cache"
    return any(
        before.get(item.path, item.sha256) != item.sha256
        and project.resolve(item.path).is_relative_to(fetched)
        for item in new.data
    )


def in_short(changes: Sequence[InputChange]) -> list[tuple[str, str, str]]:
    """The changes as `told`; packages that moved are named up to four, then counted."""
    packages = [change for change in changes if change.what.startswith(_PACKAGES)]
    rows = [told(change) for change in changes if change not in packages[_NAMED:]]
    if len(packages) > _NAMED:
        rows.append((f"{len(packages) - _NAMED:,} more packages", "", ""))
    return rows


def told(change: InputChange) -> tuple[str, str, str]:
    """What, before and after, as people read them, see `shown`."""
    name = _WORDS.get(change.what) or change.what.removeprefix(_PACKAGES)
    name = name.removeprefix("parameters.").removeprefix("data.")
    return name, *shown.values(change.before, change.after)
