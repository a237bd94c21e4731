"""One tool written in every order of its keys: how many fingerprints that makes (notebook 02).

>>> tool = {"name": "f", "input_schema": {"properties": {"a": {}, "b": {}}}}
>>> orderings(tool)[["varied", "orders", "raw", "canonical"]].values.tolist()
[['fields and properties', 4, 4, 1], ['fields', 2, 2, 1], ['properties', 2, 2, 1]]

A fingerprint is the SHA-256 of a serialisation: *raw* is `json.dumps` as the dict came, *canonical*
is `canonical(canonical_tool(tool))` (`tool-registry`). Two serialisations that mean the same and
differ in bytes are a false invalidation: the cache loses what nobody has changed. Varied are the
tool's own fields and the properties of its schema, one level deep; deeper levels are not.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pandas as pd

from ctxlab.errors import UsageError
from ctxlab.prefix.canonical import encode_tool

Tool = dict[str, Any]
Order = tuple[str, ...]


def orderings(tool: Tool) -> pd.DataFrame:
    """Every order of one tool's fields and properties, together and alone.

    Columns: varied; orders; raw, canonical (distinct fingerprints); false_invalidations,
    false_invalidations_canonical (of the other orders, %, those whose fingerprint differs from the
    one that the tool came in).
    """
    fields, names = list(permutations(tool)), list(permutations(_properties(tool)))
    varied = {
        "fields and properties": (fields, names),
        "fields": (fields, names[:1]),
        "properties": (fields[:1], names),
    }
    return pd.DataFrame([{"varied": what, **_counted(tool, *how)} for what, how in varied.items()])


def registry_orderings(
    tools: Sequence[Tool],
    sample: int = 200,
    seed: int = 0,
    progress: Callable[[Iterable[Tool]], Iterable[Tool]] = iter,
) -> pd.DataFrame:
    """The same question for each tool of an array: all field orders × up to `sample` of properties.

    Up to `sample` property orders all are taken; above it, as many different ones are drawn, the
    tool's own among them. `progress` wraps the loop (such as `tqdm`).

    Columns: tool; fields; properties; possible (orders, as float: 30 properties have 10³² of
    them); and those of `orderings` but the first.

    Raises:
        UsageError: `sample` is below 1.
        InputError: a tool that is not JSON.
    """
    if sample < 1:
        raise UsageError(f"sample is the number of property orders, 1 or more, not {sample}")
    random = Random(seed)  # noqa: S311  a reproducible draw, no secret
    return pd.DataFrame([_row(tool, sample, random) for tool in progress(tools)])


def registry_summary(table: pd.DataFrame) -> pd.DataFrame:
    """What `registry_orderings` comes to: columns figure, raw, canonical.

    Rows: orders tried; distinct fingerprints; tools with more than one; the largest number of one
    tool; false invalidations in % of all other orders.
    """
    others = (table["orders"] - 1).sum()
    rows = []
    for form, false in (
        ("raw", "false_invalidations"),
        ("canonical", "false_invalidations_canonical"),
    ):
        wrong = (table[false] / 100 * (table["orders"] - 1)).sum()
        rows.append(
            {
                "orders tried": table["orders"].sum(),
                "fingerprints": table[form].sum(),
                "tools with more than one": (table[form] > 1).sum(),
                "most of one tool": table[form].max(),
                "false invalidations, %": 100 * wrong / others if others else 0.0,
            }
        )
    figures = pd.DataFrame(rows, index=["raw", "canonical"]).astype(float).transpose()
    return figures.rename_axis("figure").reset_index()


def by_properties(table: pd.DataFrame, most: int = 6) -> pd.DataFrame:
    """`registry_orderings` by the number of a tool's properties, `most` or more in one row.

    Columns: properties (as text); tools; orders, raw, canonical (sums).
    """
    groups = table["properties"].clip(upper=most)
    sums = table.groupby(groups)[["orders", "raw", "canonical"]].sum()
    sums.insert(0, "tools", groups.value_counts())
    names = [f"{count} or more" if count == most else str(count) for count in sums.index]
    return sums.set_axis(pd.Index(names, name="properties")).reset_index()


def _row(tool: Tool, sample: int, random: Random) -> dict[str, Any]:
    fields, properties = list(permutations(tool)), _properties(tool)
    names = list(_orders(tuple(properties), sample, random))
    return {
        "tool": tool.get("name", ""),
        "fields": len(tool),
        "properties": len(properties),
        "possible": float(len(fields)) * math.factorial(len(properties)),
        **_counted(tool, fields, names),
    }


def _counted(tool: Tool, fields: Sequence[Order], names: Sequence[Order]) -> dict[str, Any]:
    variants = [_reordered(tool, field, name) for field in fields for name in names]
    raw = [_fingerprint(json.dumps(variant)) for variant in variants]
    canonical = [_fingerprint(encode_tool(variant)) for variant in variants]
    return {
        "orders": len(variants),
        "raw": len(set(raw)),
        "canonical": len(set(canonical)),
        "false_invalidations": _differing(raw),
        "false_invalidations_canonical": _differing(canonical),
    }


def _differing(fingerprints: Sequence[str]) -> float:
    first, *others = fingerprints
    return 100 * sum(other != first for other in others) / len(others) if others else 0.0


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _properties(tool: Tool) -> dict[str, Any]:
    schema = tool.get("input_schema")
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _reordered(tool: Tool, fields: Order, names: Order) -> Tool:
    variant = {field: tool[field] for field in fields}
    if names:
        properties = _properties(tool)
        ordered = {name: properties[name] for name in names}
        variant["input_schema"] = {**tool["input_schema"], "properties": ordered}
    return variant


def _orders(names: Order, sample: int, random: Random) -> Iterator[Order]:
    """All orders while they are at most `sample`; else `sample` different ones, the first as is."""
    if math.factorial(len(names)) <= sample:
        yield from permutations(names)
        return
    drawn = {names}
    while len(drawn) < sample:
        drawn.add(_shuffled(names, random))
    yield names
    yield from sorted(drawn - {names})


def _shuffled(names: Order, random: Random) -> Order:
    """Fisher and Yates over `random()`, whose sequence Python promises to keep."""
    left = list(names)
    return tuple(left.pop(int(random.random() * len(left))) for _ in names)


def conclusion(table: pd.DataFrame) -> str:
    """What the table of `registry_orderings` says, in sentences (Markdown)."""
    tried, raw, canonical = (int(table[name].sum()) for name in ("orders", "raw", "canonical"))
    widest = table.iloc[int(table["possible"].argmax())]
    return (
        f"- {len(table)} tools written in {tried:,} orders: **{raw:,} fingerprints raw, "
        f"{canonical:,} canonical**.\n"
        f"- {_share(table, 'raw')} have more than one raw fingerprint, "
        f"{_share(table, 'canonical')} more than one canonical one.\n"
        f"- Half of the tools can be written in {table['possible'].median():,.0f} orders or more; "
        f"for `{widest['tool']}` with its {widest['properties']} properties the number of orders "
        f"has {len(str(int(widest['possible'])))} digits."
    )


def _share(table: pd.DataFrame, form: str) -> str:
    return f"{int((table[form] > 1).sum())} of {len(table)} tools"
