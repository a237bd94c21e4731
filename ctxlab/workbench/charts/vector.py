"""A figure as SVG that can be put into any page: no address, no date, no colour of its own ink."""

from __future__ import annotations

import io
import re
from hashlib import sha256

from matplotlib.figure import Figure

from ctxlab.workbench.charts.theme import INK, house

_ROOT = (
    '<svg xmlns="http://www.w3.org/2000/svg" {size} stroke-linejoin="round" stroke-linecap="butt"'
    " font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif\">"
)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_SHEET = re.compile(r"\s*<style[^>]*>[^<]*</style>")
_EMPTY = re.compile(r"\s*<defs>\s*</defs>|\s*<g id=\"[^\"]*\"/>")
_TAG = re.compile(r"<[^>]*>")  # matplotlib escapes < and > in texts and attributes
_GROUP_ID = re.compile(r'(?<=^<g) id="[^"]*"')  # matplotlib's own counters: nothing refers to them
_ID = re.compile(r'(?<= id=")[^"]+')
_REFERENCE = re.compile(r'(?<=href="#)[^"]+|(?<=url\(#)[^)]+')
_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^)]*\)"')


def svg(figure: Figure) -> str:
    """The figure as SVG text: the same figure gives the same text.

    Text stays text, in the reader's own sans-serif; what was drawn in the house ink takes the
    colour of the text around it; the background is transparent; ids come from the content, so that
    many charts can stand in one page. The only address left is the SVG name space that a file needs
    to be opened by itself; a report leaves that out, too.

    >>> from matplotlib.figure import Figure
    >>> svg(Figure(figsize=(1, 1)))[:45]
    '<svg xmlns="http://www.w3.org/2000/svg" width'
    """
    target = io.StringIO()
    with house():
        figure.savefig(target, format="svg", metadata={"Date": None})
    drawn = target.getvalue()
    head, _, body = drawn[drawn.index("<svg") :].partition(">")  # DOCTYPE names an address
    for pattern in (_METADATA, _SHEET, _EMPTY):
        body = pattern.sub("", body)
    ids = _ids(body)
    salt = sha256(_clean_all(body, dict.fromkeys(ids, "")).encode()).hexdigest()[:6]
    return _root(head) + _clean_all(body, {name: f"c{salt}-{at}" for at, name in enumerate(ids)})


def _ids(body: str) -> list[str]:
    """What can be referred to, in order of appearance."""
    return [name for tag in _TAG.findall(body) if tag[:3] != "<g " for name in _ID.findall(tag)]


def _root(head: str) -> str:
    """An opening tag with size, view box, the joins of matplotlib's own sheet, and the fonts."""
    attributes = dict(re.findall(r'(\w+)="([^"]*)"', head))
    size = (f'{name}="{attributes[name]}"' for name in ("width", "height", "viewBox"))
    return _ROOT.format(size=" ".join(size))


def _clean_all(body: str, names: dict[str, str]) -> str:
    return _TAG.sub(lambda tag: _clean(tag[0], names), body)


def _clean(tag: str, names: dict[str, str]) -> str:
    """One tag, with the house's ink and fonts, short stable ids and hundredths of a point."""
    tag = _GROUP_ID.sub("", _NO_TURN.sub("", tag))
    tag = _ID.sub(lambda found: names[found[0]], tag)
    tag = _REFERENCE.sub(lambda found: names.get(found[0], found[0]), tag)
    tag = _FAMILY.sub("", tag).replace(INK, "currentColor").replace("xlink:href", "href")
    return _NUMBER.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), tag)
