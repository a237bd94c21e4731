"""Searches to measure with: a file of them, and the source trees that they are asked of.

A query may name a tree, a folder of the corpus. One that names none is asked of every tree that the
others name, and of the corpus itself where it has no such folders.

>>> queries = load_queries("data/queries/agents.yaml")
>>> len(queries), queries[0].pattern
(63, 'TODO|FIXME|XXX')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from ctxlab import project
from ctxlab.errors import CtxlabError, InputError
from ctxlab.tools import SearchResult, search

TIME_LIMIT = 120.0
"""Seconds for one query."""
SHAPES = ("definition", "class", "identifier", "string", "pattern", "frequent", "none")


@dataclass(frozen=True)
class Query:
    """One search of an agent."""

    pattern: str
    shape: str = ""
    """What kind of search it is, for grouping: SHAPES in our own file, anything in others."""
    tree: str = ""
    include: str = "**/*"
    literal: bool = False
    case_sensitive: bool = True


@dataclass(frozen=True)
class Asked:
    """A query, and what the search found."""

    name: str
    """Unique: the tree, the pattern, and what else tells it apart."""
    tree: str
    query: Query
    result: SearchResult


def load_queries(path: str | Path) -> list[Query]:
    """The queries of a YAML or JSON file: a list, or a mapping with the list under `queries`.

    Each has `pattern` and may have the other fields of `Query`; what else it has is not read.

    Raises:
        InputError: no such file, no list of queries, or a field that is not what it should be.
    """
    try:
        content = yaml.safe_load(project.resolve(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from None
    except yaml.YAMLError as error:
        raise InputError(f"neither YAML nor JSON: {error}".replace("\n", " "), path=path) from None
    entries = content.get("queries") if isinstance(content, dict) else content
    if not isinstance(entries, list) or not entries:
        raise InputError("expected a list of queries", path=path)
    return [_query(entry, path, f"[{place}]") for place, entry in enumerate(entries)]


FORMAT = (
    "a YAML or JSON list with an entry for each search, `pattern` (a regular expression) and, "
    f"where wanted, `shape` (one of {', '.join(SHAPES)}), `include` (a glob), `literal` or "
    "`case_sensitive` (true or false), `tree` (a folder of the corpus)"
)
"""What a file of queries holds, for people."""


def told(queries: Sequence[Query], asked: Sequence[Asked]) -> str:
    """How many searches were made where, and how many of the file's queries fit (Markdown)."""
    trees = list(dict.fromkeys(one.tree for one in asked))
    where = f"{len(trees)} source trees" if len(trees) > 1 else "one source tree"
    found = sum(one.result.total > 0 for one in asked)
    searches = f"{len(asked)} search{'es' * (len(asked) != 1)}"
    head = f"**{searches} over {where}**, {found} of which found something."
    fit, of = len({one.query for one in asked}), len(set(queries))
    if fit == of:
        return f"{head} All {of} queries of the file were asked."
    return (
        f"{head} **Only {fit} of the file's {of} queries were asked**: the other {of - fit} name "
        f"trees that are not here. Ask your own with `-p queries=FILE`: {FORMAT}."
    )


def ask(queries: Iterable[Query], corpus: str | Path, max_results: int) -> list[Asked]:
    """Every query asked of its tree, in order; queries whose tree is not there are left out.

    Raises:
        InputError: the corpus is no folder, no query fits it, or a search is refused.
    """
    root, queries = project.resolve(corpus), list(queries)
    if not root.is_dir():
        raise InputError("is not a folder of source trees", path=corpus)
    trees = list(dict.fromkeys(q.tree for q in queries if q.tree and (root / q.tree).is_dir()))
    asked = {}
    for tree in trees or [""]:
        for query in queries:
            if query.tree in ("", tree):
                name = _name(tree, query)
                asked[name] = Asked(name, tree, query, _found(root / tree, query, max_results))
    if not asked:
        raise InputError("has none of the trees that the queries name", path=corpus)
    return list(asked.values())


def _found(root: Path, query: Query, max_results: int) -> SearchResult:
    """Whole or refused: a table of what the time happened to be enough for is worth nothing."""
    try:
        result = search(
            root,
            query.pattern,
            query.include,
            max_results,
            query.literal,
            query.case_sensitive,
            time_limit=TIME_LIMIT,
        )
    except CtxlabError as error:
        raise InputError(f"the query {query.pattern!r}: {error}") from error
    if not result.complete:
        raise InputError(f"the query {query.pattern!r} takes more than {TIME_LIMIT:g} s", path=root)
    return result


def _name(tree: str, query: Query) -> str:
    where = "" if query.include == "**/*" else f" in {query.include}"
    how = f"{' (text)' if query.literal else ''}{'' if query.case_sensitive else ' (any case)'}"
    return f"{tree}: {query.pattern}{where}{how}".removeprefix(": ")


def _query(entry: Any, path: str | Path, place: str) -> Query:
    if not isinstance(entry, dict) or not isinstance(entry.get("pattern"), str):
        raise InputError("expected a mapping with a text under pattern", path=path, place=place)
    known = {field.name: type(getattr(Query("x"), field.name)) for field in fields(Query)}
    values = {name: value for name, value in entry.items() if name in known}
    for name, value in values.items():
        if not isinstance(value, known[name]):
            told = {str: "a text", bool: "true or false"}[known[name]]
            raise InputError(f"expected {told}", path=path, place=f"{place}.{name}")
    return Query(**values)
