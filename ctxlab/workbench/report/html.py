"""HTML from outputs, rebuilt from a short list of tags: tables, lists, words; no address, no style.

>>> cleaned('<td onclick="x()">a &lt; b</td><script>alert(1)</script>', "T")
Markup('<td>a &lt; b</td>')

Every text is escaped anew and every tag written by us, so what is not on the list cannot get
through, however it was disguised. Scripts, styles, frames and foreign markup go with their content;
of other tags the content stays. Not handled: layout by style (only the alignment of cells is kept).
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from markupsafe import Markup, escape

from ctxlab.workbench.report.text import visible, word_set

_KEPT = word_set("""
    table thead tbody tfoot tr th td caption p div span pre code samp kbd b strong i em u s
    small sub sup ul ol li dl dt dd blockquote abbr
""")
_VOID = frozenset(("br", "hr"))
_GONE = word_set("""
    script style template iframe frame frameset object embed applet svg math noscript title
    textarea select option xmp noembed noframes plaintext audio video canvas
""")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_CLASSES = frozenset(("num", "ctxlab-table", "ctxlab-note"))
_RIGHT = re.compile(r"text-align\s*:\s*(?:right|end)", re.IGNORECASE)
_NUMBER = re.compile(r"\s*[-−+]?[$€]?[\d,]*\.?\d+(?:e[-+]?\d+)?\s*[%×]?\s*", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MISSING = ("", "–", "NaN", "None", "nan")
_OURS = "ctxlab-table"
_WORDS, _LONG = 11, 48
"""Characters of a cell from which its column is kept wide."""
_NAME = 28
"""Characters up to which a single word is not broken at its hyphens."""
_DEPTH = 60


def cleaned(html: str, label: str) -> Markup:
    """What of the HTML may stand in the report; `label` names its tables.

    Empty when nothing is left, or when it cannot be told where a forbidden part ends.
    """
    builder = _Builder(label)
    builder.feed(html)
    builder.close()
    return builder.result()


class _Builder(HTMLParser):
    """Writes the kept part of what it reads."""

    def __init__(self, label: str) -> None:
        super().__init__(convert_charrefs=True)
        self._label = label
        self._parts: list[str] = []
        self._open: list[tuple[str, int]] = []  # tag, and where in _parts it was opened
        self._gone: list[str] = []
        self._words = False
        self._row: list[tuple[str, int, str]] = []  # tag, where it was opened, text
        self._rows: list[list[tuple[str, int, str]]] = []

    def result(self) -> Markup:
        if self._gone or not self._words:
            return Markup()
        while self._open:
            self._close()
        return Markup("".join(self._parts))  # noqa: S704  every part is escaped or ours

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _GONE:
            self._gone.append(tag)
        if self._gone:
            return
        if tag in _VOID:
            self._parts.append(f"<{tag}>")
            return
        name = "p" if tag in _HEADINGS else tag
        if name not in _KEPT or len(self._open) >= _DEPTH:
            return
        if name == "table" and not self._inside("table"):
            label = escape(self._label)
            self._parts.append(
                f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
            )
            self._rows = []
        self._open.append((name, len(self._parts)))
        self._parts.append(f"<{name}{_attributes(name, dict(attrs))}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _GONE:  # <svg/> has no content to leave out
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._gone:
            if tag == self._gone[-1]:
                self._gone.pop()
            return
        name = "p" if tag in _HEADINGS else tag
        if self._inside(name):
            while self._close() != name:
                pass

    def handle_data(self, data: str) -> None:
        if not self._gone:
            self._parts.append(str(escape(visible(data))))
            self._words = self._words or not data.isspace()

    def _inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self._open)

    def _close(self) -> str:
        name, at = self._open.pop()
        if name in ("td", "th"):
            self._close_cell(name, at)
            return name
        self._parts.append(f"</{name}>")
        if name == "tr":
            self._rows.append(self._row)
            self._row = []
        if name == "table" and not self._inside("table"):
            if _OURS not in self._parts[at]:
                self._align_columns()
            self._rows = []
            self._parts.append("</div>")
        return name

    def _close_cell(self, name: str, at: int) -> None:
        text = "".join(self._parts[at + 1 :])
        if name == "th" and not text.strip():
            self._parts[at:] = ["<td>"]  # an empty heading heads nothing
            name = "td"
        elif name == "th" and _WORD.fullmatch(text):  # a column's name may break behind its _
            self._parts[at + 1 :] = [text.replace("_", "_<wbr>")]
        elif name == "td" and len(text) > _WORDS:
            self._add_class(at, _width(text))
        self._row.append((name, at, text.strip()))
        self._parts.append(f"</{name}>")

    def _align_columns(self) -> None:
        """Columns of numbers stand on the right, their headings too; pandas styles none of them."""
        wide = max((len(row) for row in self._rows), default=0)
        for column in range(wide):
            cells = [row[column] for row in self._rows if len(row) == wide]
            told = [text for name, _, text in cells if name == "td" and text not in _MISSING]
            if told and all(_NUMBER.fullmatch(text) for text in told):
                for _, at, _ in cells:
                    self._add_class(at, "num")

    def _add_class(self, at: int, name: str) -> None:
        if " class=" not in self._parts[at]:
            self._parts[at] = f'{self._parts[at][:3]} class="{name}"{self._parts[at][3:]}'


def _width(text: str) -> str:
    """A name such as a model's stays on one line; what has words breaks between them."""
    if len(text) > _LONG:
        return "long"
    return "words" if " " in text.strip() or len(text) > _NAME else "name"


def _attributes(tag: str, given: dict[str, str | None]) -> str:
    kept = {}
    classes = [name for name in (given.get("class") or "").split() if name in _CLASSES]
    if _RIGHT.search(given.get("style") or "") and "num" not in classes:
        classes.append("num")
    if classes:
        kept["class"] = " ".join(classes)
    if tag in ("td", "th"):
        for name in ("colspan", "rowspan"):
            if re.fullmatch(r"[1-9]\d{0,3}", given.get(name) or ""):
                kept[name] = str(given[name])
        if given.get("scope") in ("row", "col"):
            kept["scope"] = str(given["scope"])
    return "".join(f' {name}="{escape(value)}"' for name, value in kept.items())
