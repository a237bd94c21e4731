r"""A needle in an output: one more unit of the output's own kind, that a model may look for.

>>> planted('[1, 2, 3, 4]', "json", 50)
'[1, 2, {"code": "needle-3f9c"}, 3, 4]'
>>> planted("a,b\n1,2\n", "csv", 100)
'a,b\n1,2\nneedle-3f9c,\n'

In a log it is an entry at its neighbour's level, and so not one that a cut prefers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from ctxlab.experiments.intact import units
from ctxlab.truncation.boundaries import rows

NEEDLE = "needle-3f9c"


def planted(text: str, kind: str, position: int) -> str:
    """The text with the needle behind `position` % of its units."""
    _, spans = units(text, kind)
    index = round(len(spans) * position / 100)
    if kind == "json":
        return _planted_in_json(text, spans, index)
    at = spans[index][0] if index < len(spans) else spans[-1][1]
    near = text[slice(*spans[min(index, len(spans) - 1)])].strip("\n").partition("\n")[0]
    new = {
        "ndjson": f'{{"code": "{NEEDLE}"}}\n',
        "csv": NEEDLE + _delimiters(text) + "\n",
        "log": f"{near} {NEEDLE}\n",
        "markdown": f"{_heading(near)}The code is {NEEDLE}.\n\n",
        "code": f"# The code is {NEEDLE}.\n",
    }.get(kind, f"{NEEDLE}\n")
    before = "" if at == 0 or text[at - 1] == "\n" else "\n"
    return text[:at] + before + new + text[at:]


def _delimiters(text: str) -> str:
    """As many delimiters as the header has."""
    header = text.partition("\n")[0]
    mark = rows.delimiter(header)
    return mark * (len(next(csv.reader([header], delimiter=mark), [""])) - 1)


def _heading(near: str) -> str:
    """A heading of the level that the neighbour has, if it has one."""
    level = len(near) - len(near.lstrip("#"))
    return f"{'#' * level} Code\n\n" if level else ""


def _planted_in_json(text: str, spans: Sequence[tuple[int, int]], index: int) -> str:
    is_member = re.match(r'\s*"(?:[^"\\]|\\.)*"\s*:', text[slice(*spans[0])]) is not None
    new = f'"code": "{NEEDLE}"' if is_member else f'{{"code": "{NEEDLE}"}}'
    if index == 0:
        start = spans[0][0]
        return f"{text[:start]}{new},{' ' * (text[start] != ' ')}{text[start:]}"
    end = spans[index - 1][1]
    return f"{text[:end]}, {new}{text[end:]}"
