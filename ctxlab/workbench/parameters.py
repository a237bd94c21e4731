r"""The parameters of a notebook: what its `parameters` cell declares, and what a run passes.

>>> declared = read_parameters('seed: int = 7  # of the draws\nname: str = ""  # of the set')
>>> declared["seed"].meaning
'of the draws'
>>> passed = parse_assignments(declared, ["seed=11"])
>>> effective(declared, passed)
{'seed': 11, 'name': ''}
>>> parse_assignments(declared, ["sede=11"])
Traceback (most recent call last):
ctxlab.errors.UsageError: no parameter `sede`; did you mean `seed`? There are seed, name

Nothing is executed: the cell is read with `ast`, every line is `name: type = literal  # meaning`
(imports for the types aside). papermill alone only warns of a name it does not know, and turns
numpy's numbers and paths into text (source: facts `tried`).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ctxlab import project
from ctxlab.errors import InputError, UsageError
from ctxlab.workbench import hints

OUTPUT_DIR = "output_dir"
"""The parameter of every notebook that the runner sets; empty saves nothing."""

# `max_tokens` and `token_budget` are no secrets.
_SECRET_NAME = re.compile(
    r"(^|_)(api_?keys?|secrets?|passwords?|passwd|credentials?|(access|auth|bearer)_tokens?"
    r"|private_keys?)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Parameter:
    """One line of the `parameters` cell."""

    name: str
    annotation: str
    """Its type, as written."""
    default: Any
    """A JSON value that fits the type."""
    meaning: str
    """What stands behind `#`; empty where nothing does."""

    @property
    def hint(self) -> Any:
        """Its type, for `hints.fit`."""
        return hints.parse(self.annotation)

    def paths(self, value: Any) -> list[str]:
        """The paths that this value of it names, as written."""
        return list(hints.paths(self.hint, value))


def read_parameters(source: str, path: str | Path | None = None) -> dict[str, Parameter]:
    """What a `parameters` cell declares, in its order; `path` is named in errors.

    Raises:
        InputError: the cell is not Python, a line is no declaration, a type is unknown, a default
            is no literal or does not fit, a name stands twice or asks for a secret.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise _wrong(path, error.lineno or 1, f"not Python: {error.msg}") from None
    comments = _comments(source)
    declared: dict[str, Parameter] = {}
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        try:
            parameter = _parameter(node, comments)
        except hints.Misfit as misfit:
            raise _wrong(path, node.lineno, str(misfit)) from None
        if parameter.name in declared:
            raise _wrong(path, node.lineno, f"`{parameter.name}` is declared twice")
        declared[parameter.name] = parameter
    return declared


def _wrong(path: str | Path | None, line: int, message: str) -> InputError:
    return InputError(message, path=path, place=f"parameters cell, line {line}")


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _parameter(node: ast.stmt, comments: Mapping[int, str]) -> Parameter:
    match node:
        case ast.AnnAssign(ast.Name(name), declared, value) if value is not None:
            pass
        case _:
            raise hints.Misfit("a parameter is `name: type = literal  # meaning`")
    if _SECRET_NAME.search(name):
        raise hints.Misfit(f"`{name}`: a secret comes from the environment, never from here")
    annotation = ast.unparse(declared)
    try:
        literal = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        raise hints.Misfit(f"`{name}`: the default is no literal") from None
    try:
        default = hints.fit(hints.parse(annotation), literal)
    except hints.Misfit as misfit:
        raise hints.Misfit(f"`{name}`: {misfit}") from None
    ends = node.end_lineno or node.lineno
    return Parameter(name, annotation, default, comments.get(ends) or comments.get(node.lineno, ""))


def parse_assignments(
    declared: Mapping[str, Parameter], assignments: Iterable[str]
) -> dict[str, Any]:
    """The values of `-p key=value`: `str` and `Path` as written, the rest JSON.

    Raises:
        UsageError: no `=`, a name that is unknown or given twice, a value that is not JSON or does
            not fit its type.
    """
    passed: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(f"a parameter is `-p key=value`, not {hints.shown(assignment)}")
        if name in passed:
            raise UsageError(f"the parameter `{name}` is given twice")
        parameter = _known(declared, name)
        passed[name] = _fitting(parameter, hints.read, text)
    return passed


def check_values(declared: Mapping[str, Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that are typed already, from Python or a plan: paths and numpy's numbers become JSON.

    Raises:
        UsageError: an unknown name, or a value that does not fit its type.
    """
    return {
        name: _fitting(_known(declared, name), hints.fit, value) for name, value in values.items()
    }


def effective(declared: Mapping[str, Parameter], passed: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter's value, in the cell's order; `output_dir`, the runner's own, left out.

    Raises:
        UsageError: a path that is not there.
    """
    values = {
        name: passed.get(name, parameter.default)
        for name, parameter in declared.items()
        if name != OUTPUT_DIR
    }
    for name, value in values.items():
        for path in declared[name].paths(value):
            _check_exists(name, path)
    return values


def _known(declared: Mapping[str, Parameter], name: str) -> Parameter:
    if name == OUTPUT_DIR:
        raise UsageError(f"`{OUTPUT_DIR}` is set by the runner: each run gets its own directory")
    if name in declared:
        return declared[name]
    names = [known for known in declared if known != OUTPUT_DIR]
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ";"
    there = f"There are {', '.join(names)}" if names else "There are none"
    raise UsageError(f"no parameter `{name}`{hint} {there}")


def _fitting(parameter: Parameter, how: Any, value: Any) -> Any:
    try:
        return how(parameter.hint, value)
    except hints.Misfit as misfit:
        raise UsageError(
            f"the parameter `{parameter.name}` is `{parameter.annotation}`: {misfit}"
        ) from None


def _check_exists(name: str, path: str) -> None:
    resolved = project.resolve(path)
    if not _exists(resolved):
        here = "; an absolute path is needed from elsewhere" if _exists(Path(path)) else ""
        fetched = resolved.is_relative_to(project.cache_dir())
        hint = "; `make data` fetches it" if fetched else here
        raise UsageError(f"the parameter `{name}`: nothing is at {resolved}{hint}")
    if not (resolved.is_file() or resolved.is_dir()):
        raise UsageError(f"the parameter `{name}`: {resolved} is neither a file nor a directory")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long, a NUL, a folder that may not be looked into
        return False
