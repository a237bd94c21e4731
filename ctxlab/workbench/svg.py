"""A figure as SVG: the same figure gives the same bytes, nothing in it points outside.

matplotlib's own output carries a date, random ids, a DOCTYPE and an RDF block with addresses, a
style rule that would reach the whole page it stands in, and ids that repeat from figure to figure
(source: facts `tried`).
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TAG = re.compile(r"<[^<>]+>")
_ID = re.compile(r'((?<=\sid=")|(?<=href="#)|(?<=url\(#))(?=[^"])')
_PAGE_STYLE = re.compile(r"<defs>\s*<style type=\"text/css\">\*\{([^}]*)\}</style>\s*</defs>")
_DROPPED = re.compile(
    r"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>|<!--.*?-->|<metadata>.*?</metadata>",
    re.DOTALL,
)


def drawn(figure: Figure, name: str, alt: str) -> str:
    """The figure as one `<svg>` element, `alt` its label, `name` before each of its ids."""
    import matplotlib as mpl  # noqa: PLC0415  pyplot is 1.3 s; here a figure exists already

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return cleaned(stream.getvalue(), name, alt)


def cleaned(svg: str, name: str, alt: str) -> str:
    """What matplotlib wrote, without what drawn() promises to leave out.

    >>> svg = '<!DOCTYPE svg><svg width="9"><g id="a"/><use href="#a"/></svg>'
    >>> print(cleaned(svg, "bars", "Two bars"), end="")
    <svg role="img" aria-label="Two bars" width="9"><g id="bars-a"/><use href="#bars-a"/></svg>
    """
    bare = _PAGE_STYLE.sub("", _DROPPED.sub("", svg)).strip()
    own_ids = _TAG.sub(lambda tag: _ID.sub(f"{name}-", tag[0]), bare)
    label = f'role="img" aria-label="{escape(alt)}"'
    for style in _PAGE_STYLE.findall(svg):
        label += f' style="{style}"'
    labelled = own_ids.replace("<svg ", f"<svg {label} ", 1)
    return "".join(f"{line.rstrip()}\n" for line in labelled.splitlines() if line.strip())
