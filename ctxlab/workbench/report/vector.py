"""SVG from outputs, rebuilt from a list of shapes and their attributes: a picture, nothing else.

>>> cleaned('<svg viewBox="0 0 9 9"><script>x</script><path d="M0 0" onload="y"/></svg>', "A line")
Markup('<svg viewBox="0 0 9 9" role="img" aria-label="A line"><path d="M0 0"/></svg>')

It is read as XML (no entity declarations) and written anew without name spaces, which HTML does not
need: no script, no style sheet, no link, no address. Not handled: animation, filters, foreign
objects; they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from markupsafe import Markup, escape

from ctxlab.workbench.report.text import visible, word_set

_SHAPES = word_set("""
    svg g path rect circle ellipse line polyline polygon text tspan defs clipPath use title
    desc linearGradient radialGradient stop marker pattern mask symbol image
""")
_ATTRIBUTES = word_set("""
    x y x1 y1 x2 y2 cx cy r rx ry fx fy d points width height viewBox transform dx dy rotate
    id preserveAspectRatio offset refX refY orient markerWidth markerHeight markerUnits
    clip-path clipPathUnits gradientUnits gradientTransform patternUnits patternTransform mask
    fill stroke fill-opacity fill-rule stroke-opacity stroke-width stroke-dasharray
    stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit opacity stop-color
    stop-opacity color font-family font-size font-weight font-style text-anchor
    dominant-baseline textLength lengthAdjust style role aria-label aria-hidden
""")
_OWN = re.compile(r"url\(\s*(['\"]?)#([\w-]+)\1\s*\)")
_UNSAFE = re.compile(
    r"[\\@<]|/\*|url|expression|script:|image-set|:\s*//|-moz-binding", re.IGNORECASE
)
_PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]+")
_ID = re.compile(r"[\w:.-]+")
_LIMIT = 2_000_000
_DEPTH = 80


def cleaned(svg: str, label: str, ids: str = "") -> Markup:
    """The picture, labelled, with `ids` before each of its ids; empty when it is no SVG."""
    if len(svg) > _LIMIT or "<!ENTITY" in svg or "<!entity" in svg.lower():
        return Markup()
    try:
        root = ET.fromstring(svg)  # noqa: S314  entities are refused above, expat fetches nothing
    except (ET.ParseError, ValueError):
        return Markup()
    if _name(root.tag) != "svg":
        return Markup()
    root.set("role", "img")
    root.set("aria-label", label or root.get("aria-label") or "picture")
    return Markup("".join(_written(root, ids, 0)))  # noqa: S704  every part is escaped or ours


def _name(tag: object) -> str:
    """The local name of SVG's own elements and of those without a name space; else empty."""
    if not isinstance(tag, str):  # a comment or a processing instruction
        return ""
    space, _, name = tag.rpartition("}")
    return name if space in ("", "{http://www.w3.org/2000/svg") else ""


def _written(element: ET.Element, ids: str, depth: int) -> Iterator[str]:
    name = _name(element.tag)
    if name not in _SHAPES or depth > _DEPTH:
        return
    attributes = "".join(_attributes(element, ids))
    inside = "".join(part for child in element for part in _child(child, name, ids, depth))
    text = _text(element.text, name)
    if text or inside:
        yield f"<{name}{attributes}>{text}{inside}</{name}>"
    else:
        yield f"<{name}{attributes}/>"


def _child(child: ET.Element, inside: str, ids: str, depth: int) -> Iterator[str]:
    yield from _written(child, ids, depth + 1)
    yield _text(child.tail, inside)


def _text(text: str | None, inside: str) -> str:
    if inside in ("text", "tspan", "title", "desc"):
        return str(escape(visible(text or "")))
    return ""  # white space between shapes


def _attributes(element: ET.Element, ids: str) -> Iterator[str]:
    for full, value in element.attrib.items():
        name = full.rpartition("}")[2]
        if name == "href":
            yield from _reference(value, _name(element.tag), ids)
        elif name in _ATTRIBUTES and full == name:
            kept = _value(name, value, ids)
            if kept is not None:
                yield f' {name}="{escape(kept)}"'


def _value(name: str, value: str, ids: str) -> str | None:
    if name == "aria-label":
        return visible(value)
    if name == "id":
        return f"{ids}{value}" if _ID.fullmatch(value) else None
    if _UNSAFE.search(_OWN.sub("", value)):
        return None
    return _OWN.sub(lambda own: f"url(#{ids}{own[2]})", value)


def _reference(value: str, tag: str, ids: str) -> Iterator[str]:
    if value.startswith("#") and _ID.fullmatch(value[1:]):
        yield f' href="#{ids}{value[1:]}"'
    elif tag == "image" and _PICTURE.fullmatch(value):
        yield f' href="{value}"'
