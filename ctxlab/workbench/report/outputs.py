"""What of an output stands in the report: the best form that is safe, or its plain text.

A recorded chart is a figure with its alt text, a recorded table a table with its name; HTML, SVG,
Markdown and pictures of unknown origin are rebuilt from what is allowed; the rest is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ctxlab.workbench.report import ansi, html, markdown, text, vector

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_LARGEST_PICTURE = 6_000_000
_LARGEST_HTML = 1_500_000


def shown(outputs: Sequence[Mapping[str, Any]], place: str) -> Markup:
    """The outputs of one cell; `place` (such as `c7`) begins the ids in it."""
    return text.joined(
        _output(output, f"{place}o{at}") for at, output in enumerate(_merged(outputs))
    )


def source(value: object) -> str:
    """Nbformat's texts are strings or lists of strings; whatever else is no text."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _merged(outputs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Streams of the same name that follow each other are one."""
    merged: list[dict[str, Any]] = []
    for output in outputs:
        if not isinstance(output, Mapping):
            continue
        last = merged[-1] if merged else {}
        stream = output.get("output_type") == "stream"
        if (
            stream
            and last.get("output_type") == "stream"
            and last.get("name") == output.get("name")
        ):
            last["text"] = source(last.get("text")) + source(output.get("text"))
        else:
            merged.append(dict(output))
    return merged


def _output(output: Mapping[str, Any], place: str) -> Markup:
    kind = output.get("output_type")
    if kind == "stream":
        return _stream(output)
    if kind == "error":
        return _traceback(output)
    data = output.get("data")
    metadata = output.get("metadata")
    if not isinstance(data, Mapping):
        return Markup()
    return _display(data, metadata if isinstance(metadata, Mapping) else {}, place)


def _stream(output: Mapping[str, Any]) -> Markup:
    name = "stderr" if output.get("name") == "stderr" else "stdout"
    written = ansi.plain(text.settled(source(output.get("text")))).rstrip()
    if not written:
        return Markup()
    label = Markup('<p class="label">stderr</p>') if name == "stderr" else Markup()
    return label + text.preformatted(written, name)


def _traceback(output: Mapping[str, Any]) -> Markup:
    trace = output.get("traceback")
    whole = "\n".join(source(line) for line in trace) if isinstance(trace, list) else ""
    if not whole:
        whole = f"{source(output.get('ename'))}: {source(output.get('evalue'))}"
    head, note, tail = text.capped(whole)
    parts = [_coloured(head)]
    if note:
        parts += [text.left_out(note), _coloured(tail)]
    return text.joined(parts)


def _coloured(trace: str) -> Markup:
    return Markup('<pre class="traceback" tabindex="0">{}</pre>').format(ansi.coloured(trace))


def _display(data: Mapping[str, Any], metadata: Mapping[str, Any], place: str) -> Markup:
    plain = source(data.get("text/plain"))
    own = metadata.get("ctxlab")
    names = own if isinstance(own, Mapping) else {}
    chart, table = (source(names.get(kind)) for kind in ("chart", "table"))
    for mime, content in data.items():
        if mime == "text/html" and source(content).lstrip().startswith("<svg"):
            return _figure(source(content), plain, chart, place) or _plain(plain)
    if "text/html" in data and len(source(data["text/html"])) <= _LARGEST_HTML:
        inside = html.cleaned(source(data["text/html"]), f"Table {table}" if table else "Table")
        if inside and table:
            anchored = Markup('<div class="output" id="table-{}"><p class="caption">{}</p>{}</div>')
            return anchored.format(table, table, inside)
        if inside:
            return Markup('<div class="output">{}</div>').format(inside)
    return _other(data, metadata, plain, place) or _plain(plain)


def _other(data: Mapping[str, Any], metadata: Mapping[str, Any], plain: str, place: str) -> Markup:
    if "image/svg+xml" in data:
        figure = _figure(source(data["image/svg+xml"]), _alt(metadata, plain), "", place)
        if figure:
            return figure
    for mime in _PICTURES:
        if mime in data:
            return _picture(mime, source(data[mime]), _alt(metadata, plain))
    if "text/markdown" in data:
        inside = markdown.rendered(source(data["text/markdown"])).html
        return Markup('<div class="output prose">{}</div>').format(inside)
    if "application/json" in data:
        return text.preformatted(json.dumps(data["application/json"], indent=2, ensure_ascii=False))
    return Markup()


def _plain(plain: str) -> Markup:
    return text.preformatted(ansi.plain(plain), "result") if plain.strip() else Markup()


def _alt(metadata: Mapping[str, Any], plain: str) -> str:
    """The text for whoever does not see it: the author's, else what Python calls it."""
    given = [metadata.get("alt")]
    given += [part.get("alt") for part in metadata.values() if isinstance(part, Mapping)]
    told = next((value for value in given if isinstance(value, str) and value.strip()), "")
    return told or (plain if plain.strip() and not plain.startswith("<") else "Picture")


def _figure(svg: str, alt: str, chart: str, place: str) -> Markup:
    picture = vector.cleaned(svg, alt, "" if chart else f"{place}-")
    if not picture:
        return Markup()
    anchor = Markup(' id="chart-{}"').format(chart) if chart else Markup()
    return Markup('<figure class="chart"{}>{}</figure>').format(anchor, picture)


def _picture(mime: str, base64: str, alt: str) -> Markup:
    content = "".join(base64.split())
    if len(content) > _LARGEST_PICTURE:
        return text.left_out("a picture of more than 4 MB")
    if not _BASE64.fullmatch(content):
        return _plain(alt)
    image = Markup('<figure class="picture"><img src="data:{};base64,{}" alt="{}"></figure>')
    return image.format(mime, content, alt)
