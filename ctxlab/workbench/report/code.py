"""Python source with its tokens as classes; the style sheet knows a handful of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from ctxlab.workbench.report.text import preformatted, visible

_LIMIT = 60_000


def highlighted(source: str, language: str = "python") -> Markup:
    """A `<pre>` of the source; unknown languages and very long sources are plain.

    >>> highlighted("x = 1  # one").striptags()
    'x = 1 # one'
    """
    lexer = _lexer(language)
    if lexer is None or len(source) > _LIMIT:
        return preformatted(source, "source", _LIMIT)
    body = highlight(visible(source), lexer, HtmlFormatter(nowrap=True))
    # pygments escapes every token it writes
    return Markup('<pre class="source" tabindex="0">{}</pre>').format(Markup(body.rstrip("\n")))  # noqa: S704


@cache
def _lexer(language: str) -> Any:
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None
