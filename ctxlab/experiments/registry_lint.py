"""What the linter finds in lists of tools, registry by registry (notebook 06)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd

from ctxlab import project
from ctxlab.cache.linting import RULES, lint_file
from ctxlab.errors import InputError
from ctxlab.prefix import read_tools

COLUMNS = [
    "registry",
    "tools",
    "rule",
    "document",
    "findings",
    "tools_found",
    "share_percent",
    "first",
]


def findings(folder: str | Path) -> pd.DataFrame:
    """The findings over every JSON file of a folder, in the order of the documents' rules.

    Columns: registry (the file's name); tools (in it); rule; document; findings; tools_found
    (different tools); share_percent (of the tools); first (tool and message of the first finding).
    A registry without a finding has one row, with an empty rule.

    Raises:
        InputError: no folder or no JSON file in it, or a file that holds no tools.
    """
    files = sorted(project.resolve(folder).glob("*.json"))
    if not files:
        raise InputError("expected a folder with lists of tools (*.json)", path=folder)
    rows = [row for file in files for row in _rows(file)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(file: Path) -> list[list[object]]:
    count = len(read_tools(file))
    found = lint_file(file)
    numbers = Counter(one.rule for one in found)
    rows: list[list[object]] = []
    for rule in (rule for rule in RULES if rule in numbers):
        own = [one for one in found if one.rule == rule]
        tools = {one.tool for one in own}
        first = f"{own[0].tool or 'all'}: {own[0].message}"
        share = 100 * len(tools) / count
        rows.append([file.stem, count, rule, RULES[rule][0], len(own), len(tools), share, first])
    return rows or [[file.stem, count, "", "", 0, 0, 0.0, ""]]
