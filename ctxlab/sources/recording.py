"""Making what servers say now the record: what a maintainer does after moving a version."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from ctxlab.sources.drift import digests, digests_file, tools_sha256
from ctxlab.sources.files import put_file
from ctxlab.sources.recipes import ServerRecipe, read_recipes, sources_file
from ctxlab.sources.servers import Asked


def write_record(asked: Sequence[Asked]) -> list[Asked]:
    """Write the answers' hashes into data/sources.toml and data/tool_digests.json.

    The same answers come back, now to recipes that record them.
    """
    text = sources_file().read_text(encoding="utf-8")
    known = json.loads(digests_file().read_text("utf-8")) if digests_file().is_file() else {}
    for answer in asked:
        text = _with_hash(text, answer.recipe, answer)
        known[answer.recipe.name] = digests(answer.tools.tools)
    put_file(text.encode(), sources_file())
    put_file(f"{json.dumps(known, ensure_ascii=False, indent=1)}\n".encode(), digests_file())
    recipes = {r.name: r for r in read_recipes() if isinstance(r, ServerRecipe)}
    return [replace(answer, recipe=recipes[answer.recipe.name]) for answer in asked]


def _with_hash(text: str, recipe: ServerRecipe, answer: Asked) -> str:
    """The file's text with the server's two recorded fields anew; comments stay."""
    head, table, rest = text.partition(f"[servers.{recipe.name}]\n")
    tools = answer.tools.tools
    rest = re.sub(r"(?m)^tools = \d+$", f"tools = {len(tools)}", rest, count=1)
    sha256 = tools_sha256(tools)
    rest = re.sub(r'(?m)^tools_sha256 = ".*"$', f'tools_sha256 = "{sha256}"', rest, count=1)
    return f"{head}{table}{rest}"
