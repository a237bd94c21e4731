"""A recorded figure as one labelled `<svg>` element, its ids told apart by the chart's name.

Not handled: what the drawing itself looks like, and what matplotlib writes that no page should
have; that is `ctxlab.workbench.charts.svg`.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TAG = re.compile(r"<[^<>]+>")
_ID = re.compile(r'((?<=\sid=")|(?<=href="#)|(?<=url\(#))(?=[^"])')


def drawn(figure: Figure, name: str, alt: str) -> str:
    """The figure as one `<svg>` element, `alt` its label, `name` before each of its ids."""
    from ctxlab.workbench import charts  # noqa: PLC0415  a second, where a figure exists already

    return labelled(charts.svg(figure), name, alt)


def labelled(svg: str, name: str, alt: str) -> str:
    """An SVG with a label for whoever does not see it, and `name` before each of its ids.

    >>> print(labelled('<svg width="9"><path id="a"/><use href="#a"/></svg>', "bars", "2 bars"))
    <svg role="img" aria-label="2 bars" width="9"><path id="bars-a"/><use href="#bars-a"/></svg>
    """
    own_ids = _TAG.sub(lambda tag: _ID.sub(f"{name}-", tag[0]), svg)
    return own_ids.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
