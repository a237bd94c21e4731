r"""Markdown without raw HTML and without addresses: what is no Markdown is text.

>>> rendered("**2 of 12** <script>alert(1)</script>").html
Markup('<p><strong>2 of 12</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n')

Links to places in the page stay links; others become their text with the address behind it, and
pictures their description: a report loads nothing and leads nowhere. `$` is a dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from ctxlab.workbench.report.code import highlighted
from ctxlab.workbench.report.text import visible

_DATA_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_LIMIT = 200_000


@dataclass(frozen=True)
class Heading:
    """A heading, as the contents list has it."""

    level: int
    text: str
    anchor: str


@dataclass
class Rendered:
    """Markdown as HTML, with its headings in order."""

    html: Markup
    title: str = ""
    """The text of the first `#` heading, when it was asked for; it is not in `html` then."""
    headings: list[Heading] = field(default_factory=list)


def rendered(text: str, *, take_title: bool = False, anchors: str = "") -> Rendered:
    """The text as HTML; `anchors` begins the ids of headings, without it they have none."""
    tokens = _parser().parse(visible(text[:_LIMIT]))
    title = _take_title(tokens) if take_title else ""
    headings = list(_headings(tokens, anchors))
    for token in tokens:
        if token.children:
            token.children = list(_without_addresses(token.children))
    html = _parser().renderer.render(tokens, _parser().options, {})
    return Rendered(Markup(html), title, headings)  # noqa: S704  raw HTML is off


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: _SCROLL_OPEN)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


_SCROLL_OPEN = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _fence(_: object, tokens: Sequence[Token], at: int, *__: object) -> str:
    words = tokens[at].info.split()
    return highlighted(tokens[at].content.rstrip("\n"), words[0] if words else "text")


def _take_title(tokens: list[Token]) -> str:
    if not (tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1"):
        return ""
    title = _words(tokens[1])
    del tokens[:3]
    return title


def _headings(tokens: list[Token], anchors: str) -> Iterator[Heading]:
    """Give headings their ids; the page has one `h1`, so those here start at `h2`."""
    for at, token in enumerate(tokens):
        if token.type not in ("heading_open", "heading_close"):
            continue
        level = max(2, int(token.tag[1]))
        token.tag = f"h{level}"
        if token.type == "heading_open" and anchors:
            text = _words(tokens[at + 1])
            slug = re.sub(r"\W+", "-", text.lower()).strip("-") or "section"
            anchor = f"{anchors}-{slug}"
            token.attrSet("id", anchor)
            yield Heading(level, text, anchor)


def _words(inline: Token) -> str:
    children = inline.children or []
    return "".join(child.content or " " for child in children).strip()


def _without_addresses(children: list[Token]) -> Iterator[Token]:
    open_links: list[str] = []
    for token in children:
        if token.type == "link_open":
            open_links.append(str(token.attrGet("href") or ""))
            yield from _if(open_links[-1].startswith("#"), token)
        elif token.type == "link_close":
            address = open_links.pop() if open_links else ""
            yield from _if(address.startswith("#"), token, f" ({address})")
        elif token.type == "image":
            well = _DATA_IMAGE.fullmatch(str(token.attrGet("src") or ""))
            yield from _if(bool(well), token, f"[picture: {token.content}]")
        else:
            yield token


def _if(well: bool, token: Token, instead: str = "") -> Iterator[Token]:  # noqa: FBT001
    if well:
        yield token
    elif instead:
        yield Token("text", "", 0, content=instead)
