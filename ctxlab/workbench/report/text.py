"""Text from anywhere, as text: control characters seen, the longest cut in the middle."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

LIMIT = 20_000
"""Characters of one output that stand in the report; the notebook has all of them."""
_LINE = 2_000
_KEPT = "\t\n"
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in _KEPT} | {
    0x7F: 0x2421,
    **dict.fromkeys(range(128, 160), 65533),
    **dict.fromkeys(range(55296, 57344), 65533),
    # A text that turns the reading direction around can look like another one.
    **dict.fromkeys((*range(8234, 8239), *range(8294, 8298)), 65533),
}


def visible(text: str) -> str:
    r"""Control characters become visible ones, lone surrogates and direction marks become �.

    >>> visible("a\x00b\x1b[0m\r\n")
    'a␀b␛[0m␍\n'
    """
    return text.translate(_PICTURES)


def settled(text: str) -> str:
    r"""What a terminal would be left showing: carriage returns overwrite, backspaces take back.

    >>> settled("10%\r50%\r100%\nab\b\bcd")
    '100%\ncd'
    """
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(_overwritten(line) for line in text.replace("\r\n", "\n").split("\n"))


def _overwritten(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :] if part else shown
    while "\b" in shown:
        at = shown.index("\b")
        shown = shown[: max(0, at - 1)] + shown[at + 1 :]
    return shown


def capped(text: str, limit: int = LIMIT) -> tuple[str, str, str]:
    """The head, a note on what is left out, and the tail; note and tail are empty when it is short.

    >>> capped("a" * 30, 20)
    ('aaaaaaaaaaaaaaa', '10 characters left out', 'aaaaa')
    """
    text = "\n".join(_line(line) for line in text.split("\n")) if len(text) > _LINE else text
    if len(text) <= limit:
        return text, "", ""
    head, tail = limit * 3 // 4, limit // 4
    return text[:head], f"{len(text) - head - tail:,} characters left out", text[-tail:]


def _line(line: str) -> str:
    if len(line) <= _LINE:
        return line
    half = _LINE // 2
    return f"{line[:half]} … {len(line) - 2 * half:,} characters … {line[-half:]}"


def word_set(words: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("th td"))
    ['td', 'th']
    """
    return frozenset(words.split())


def preformatted(text: str, kind: str = "", limit: int = LIMIT) -> Markup:
    """A `<pre>` of it, with a note in the middle when it is long.

    >>> preformatted("<b>")
    Markup('<pre class="" tabindex="0">&lt;b&gt;</pre>')
    """
    head, note, tail = capped(text, limit)
    parts = [_pre(head, kind)]
    if note:
        parts += [left_out(note), _pre(tail, kind)]
    return joined(parts)


def left_out(note: str) -> Markup:
    """A line that says what is missing here, and where it is."""
    return Markup('<p class="note">… {}; all of it is in notebook.ipynb …</p>').format(note)


def joined(parts: Iterable[Markup]) -> Markup:
    """The parts one after the other."""
    return Markup("").join(parts)


def _pre(text: str, kind: str) -> Markup:
    return Markup('<pre class="{}" tabindex="0">{}</pre>').format(kind, escape(visible(text)))
