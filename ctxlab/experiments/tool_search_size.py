"""What stands in the context from the start: by mode, by server, by serialisation (notebook 09).

Only MCP tools are counted: the article's totals hold its client's system prompt and built-in tools
too, so differences compare and totals do not. Tokens are o200k estimates.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.experiments.tool_search_registry import Registry, Tool, server_of
from ctxlab.loading import Bm25ToolSearch, LoadingPlan, RegexToolSearch, plan_loading
from ctxlab.prefix import canonical, canonical_tool

MODES = ("false", "auto:80", "auto", "auto:5", "true", "unset")
PARTS = ("definitions", "names", "instructions", "search")
SMALL_SERVER = 6
"""Tools of the small server for which the article measured `alwaysLoad`."""


def plan(registry: Registry, mode: str, window: int, always: Sequence[str] = ()) -> LoadingPlan:
    """The plan of a registry; its servers' own `alwaysLoad` counts."""
    return plan_loading(
        registry.tools,
        None if mode == "unset" else mode,
        window,
        [*registry.always_load, *always],
        instructions=registry.instructions,
    )


def by_mode(registry: Registry, window: int, modes: Iterable[str] = MODES) -> pd.DataFrame:
    """A row a mode.

    Columns: mode; tokens (in the context from the start); tools_upfront, tools_deferred;
    definitions, names, instructions, search (which add up to `tokens`); deferred_tokens
    (definitions that stay out); request_bytes (of `tools` as sent: deferring does not shrink it);
    reason.
    """
    rows = []
    for mode in modes:
        found = plan(registry, mode, window)
        rows.append(
            {
                "mode": mode,
                "tokens": found.tokens,
                "tools_upfront": len(found.upfront),
                "tools_deferred": len(found.deferred),
                **{part: getattr(found.context, part) for part in PARTS},
                "deferred_tokens": found.deferred_tokens,
                "request_bytes": len(_compact(found.request_tools()).encode()),
                "reason": found.reason,
            }
        )
    return pd.DataFrame(rows)


def by_server(registry: Registry) -> pd.DataFrame:
    """A row a server: columns server, tools, as_sent, canonical, indented (tokens), names, share.

    `as_sent` is compact JSON with the keys in the server's order, `canonical` the same with keys
    sorted, `indented` JSON with line breaks, as some clients paste it into a prompt. `names` is
    what stays in the context when the server is deferred. `share` is the percentage of `as_sent`.
    """
    rows = [_server(server, registry.of(server)) for server in registry.servers]
    table = pd.DataFrame(rows)
    table["share"] = (100 * table["as_sent"] / table["as_sent"].sum()).round(1)
    return table


def _server(server: str, tools: Sequence[Tool]) -> dict[str, Any]:
    return {
        "server": server,
        "tools": len(tools),
        "as_sent": _sum(map(_compact, tools)),
        "canonical": _sum(canonical(canonical_tool(tool)) for tool in tools),
        "indented": _sum(json.dumps(tool, indent=2, ensure_ascii=False) for tool in tools),
        "names": tokens.count("\n".join(tool["name"] for tool in tools)),
    }


def by_missing(registry: Registry, window: int) -> pd.DataFrame:
    """The totals when servers do not answer: columns missing, tools, upfront, deferred, saved.

    First all are there, then each is missing alone, then all but the largest (the article's second
    run, where four servers had failed).
    """
    sizes = by_server(registry).sort_values("as_sent", kind="stable")["server"].tolist()
    cases: list[tuple[str, list[str]]] = [("none", [])]
    if len(sizes) > 1:
        cases += [(server, [server]) for server in registry.servers]
        cases.append(("all but the largest", sizes[:-1]))
    rows = []
    for name, missing in cases:
        rest = registry.without(missing)
        upfront, deferred = (plan(rest, mode, window).tokens for mode in ("false", "unset"))
        row = {"missing": name, "tools": len(rest.tools), "upfront": upfront, "deferred": deferred}
        rows.append({**row, "saved": upfront - deferred})
    return pd.DataFrame(rows)


def headline(registry: Registry, window: int) -> pd.DataFrame:
    """Figures to hold against the article, in tokens: columns figure, tokens.

    deferred, upfront, difference; low, high (what deferring saves with the largest server alone
    and with all); auto_over_default; with, without (`alwaysLoad` on a server cut to six tools, the
    first that has as many); all_but_largest_missing (upfront).
    """
    modes = by_mode(registry, window).set_index("mode")["tokens"]
    missing = by_missing(registry, window)
    fewest = missing.iloc[-1]
    upfront, deferred = int(modes["false"]), int(modes["unset"])
    small, server = _small(registry)
    always = [server] if server else []
    row = {
        "deferred": deferred,
        "upfront": upfront,
        "difference": upfront - deferred,
        "low": int(fewest["saved"]),
        "high": upfront - deferred,
        "auto_over_default": int(modes["auto"]) - deferred,
        "with": plan(small, "unset", window, always).tokens,
        "without": plan(small, "unset", window).tokens,
        "all_but_largest_missing": int(fewest["upfront"]),
    }
    return pd.DataFrame({"figure": list(row), "tokens": list(row.values())})


def _small(registry: Registry) -> tuple[Registry, str]:
    """The registry with one server cut to six tools, and that server; unchanged where none has."""
    large = [name for name in registry.servers if len(registry.of(name)) >= SMALL_SERVER]
    server = next((name for name in large if name != "(no server)"), "")
    if not server:
        return registry, ""
    kept = {tool["name"] for tool in registry.of(server)[:SMALL_SERVER]}
    tools = [t for t in registry.tools if server_of(t) != server or t["name"] in kept]
    return Registry(tuple(tools), registry.instructions), server


def limits() -> pd.DataFrame:
    """What a search itself shows of its limits: columns search, results, found_until.

    `results` is how many of ten tools that all match are returned; `found_until` the last byte of
    a description at which a word may end and still be found.
    """
    rows = []
    for search in (RegexToolSearch, Bm25ToolSearch):
        ten = [_tool(f"t{n}", "needle") for n in range(10)]
        low, high = len("needle"), 1 << 14
        while low < high:
            middle = (low + high + 1) // 2
            filler = "x" * (middle - len("needle") - 1)
            found = search([_tool("t", f"{filler} needle"[-middle:])]).search("needle")
            low, high = (middle, high) if found else (low, middle - 1)
        rows.append(
            {
                "search": search.__name__.removesuffix("ToolSearch").lower(),
                "results": len(search(ten).search("needle")),
                "found_until": low,
            }
        )
    return pd.DataFrame(rows)


def _tool(name: str, description: str) -> Tool:
    return {"name": name, "description": description, "input_schema": {"type": "object"}}


def conclusion(modes: pd.DataFrame, missing: pd.DataFrame) -> str:
    """What the tables of `by_mode` and `by_missing` say, in sentences (Markdown)."""
    rows = modes.set_index("mode")
    upfront, deferred = rows.loc["false"], rows.loc["unset"]
    saved = upfront["tokens"] - deferred["tokens"]
    lines = [
        (
            f"- **Deferring saves {saved:,} of {upfront['tokens']:,} tokens** of context, "
            f"{saved / upfront['tokens']:.0%}; {deferred['names']:,} stay as names alone."
        ),
        (
            f"- The request does not shrink: `tools` takes {upfront['request_bytes']:,} bytes when "
            f"all are upfront and {deferred['request_bytes']:,} when all are deferred."
        ),
    ]
    same = [m for m in rows.index if m.startswith("auto") and not rows.loc[m, "tools_deferred"]]
    if same:
        lines.append(f"- {', '.join(same)} defers nothing here: all definitions fit.")
    if len(missing) > 1:
        worst = missing.iloc[1:-1].sort_values("upfront", kind="stable").iloc[0]
        gone = missing.iloc[0]["upfront"] - worst["upfront"]
        lines.append(
            f"- A server that fails looks like a saving: without {worst['missing']} the upfront "
            f"total falls by {gone:,} tokens."
        )
    return "\n".join(lines)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sum(texts: Iterable[str]) -> int:
    return sum(tokens.count_many(list(texts)))
