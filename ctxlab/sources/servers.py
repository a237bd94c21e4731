"""Tool lists of real MCP servers, each in an environment of its own made by uv.

A server sees an empty HOME, the recipe's dummies instead of credentials, and PYTHONHASHSEED=0
(one of them answers in the order of a set). Its dependencies are those of `exclude_newer`; a
registry that does not know when packages were published gives today's, and the answer says so.
uv itself runs with the user's own settings, so that a mirror named there is used; the server is
then started without uv.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxlab.loading import McpServer, ServerTools, list_many
from ctxlab.sources.processes import run_all
from ctxlab.sources.recipes import ServerRecipe
from ctxlab.sources.words import WHAT_TO_DO, reason, without_addresses

SECONDS_TO_INSTALL = 300.0
# A first start compiles hundreds of modules: 40 s were seen on a busy machine.
SECONDS_TO_ANSWER = 180.0

# Runs inside the environment: where it is, and what uv resolved.
_PROBE = """
import importlib.metadata, json, sys
packages = {d.name: d.version for d in importlib.metadata.distributions()}
print(json.dumps({"python": sys.executable, "packages": dict(sorted(packages.items()))}))
"""


@dataclass(frozen=True)
class Environment:
    """A server's environment as uv made it."""

    python: str
    packages: dict[str, str]
    dated: bool
    """Whether `exclude_newer` held its dependencies."""


@dataclass(frozen=True)
class Asked:
    """A server's answer with what it ran on."""

    recipe: ServerRecipe
    tools: ServerTools
    environment: Environment


def ask(recipes: Sequence[ServerRecipe]) -> tuple[list[Asked], dict[str, str]]:
    """Install and ask all servers at once: the answers, and name → reason of those that failed."""
    environments, failed = _install(recipes, dated=True)
    undated = [recipe for recipe in recipes if _may_lack_dates(failed.get(recipe.name, ""))]
    if undated:
        again, still = _install(undated, dated=False)
        environments |= again
        failed = {name: why for name, why in failed.items() if name not in again} | still
    ready = [recipe for recipe in recipes if recipe.name in environments]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        servers = [_server(recipe, environments[recipe.name], home) for recipe in ready]
        listing = list_many(servers, SECONDS_TO_ANSWER)
    failed |= {failure.name: without_addresses(failure.reason) for failure in listing.failed}
    answers = {answer.name: answer for answer in listing.servers if answer.tools}
    empty = {answer.name for answer in listing.servers} - answers.keys()
    failed |= dict.fromkeys(empty, "it lists no tools (does it need credentials?)")
    asked = [
        Asked(recipe, answers[recipe.name], environments[recipe.name])
        for recipe in ready
        if recipe.name in answers
    ]
    return asked, failed


def _server(recipe: ServerRecipe, environment: Environment, home: str) -> McpServer:
    command = Path(environment.python).with_name(recipe.command)
    env = {"HOME": home, "PYTHONHASHSEED": "0", **recipe.env}
    return McpServer(recipe.name, command=str(command), env=env, cwd=home)


def _install(
    recipes: Sequence[ServerRecipe], *, dated: bool
) -> tuple[dict[str, Environment], dict[str, str]]:
    environments, failed = {}, {}
    commands = [_uv(recipe, dated=dated) for recipe in recipes]
    ends = run_all(commands, SECONDS_TO_INSTALL, {"UV_PYTHON_DOWNLOADS": "never"})
    for recipe, end in zip(recipes, ends, strict=True):
        if end.code is None:
            failed[recipe.name] = f"not installed within {SECONDS_TO_INSTALL:g} s"
        elif end.code:
            failed[recipe.name] = reason(end.output, "uv")
        else:
            found = json.loads(end.output.splitlines()[-1])
            environments[recipe.name] = Environment(**found, dated=dated)
    return environments, failed


def _uv(recipe: ServerRecipe, *, dated: bool) -> list[str]:
    from uv import find_uv_bin  # noqa: PLC0415  only when something is installed

    date = ["--exclude-newer", recipe.exclude_newer] if dated else []
    # --isolated: a tool that the user installed with uv is not what the recipe says.
    return [
        find_uv_bin(), "tool", "run", "--quiet", "--isolated", "--python", sys.executable,
        *date, "--from", recipe.pin, "python", "-I", "-c", _PROBE,
    ]  # fmt: skip


def _may_lack_dates(why: str) -> bool:
    # Where uv knows no dates no version is old enough for it, and that is what it says.
    return bool(why) and not why.endswith(WHAT_TO_DO) and "no version" in why
