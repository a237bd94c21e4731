r"""Which programming language a text is in, and its syntax tree.

>>> guess("package main\n\nfunc main() {\n\tprintln(1)\n}\n"), guess("Dear all, ...")
('go', None)

The guess goes by words that begin lines; it tells the seven languages apart whose grammars are
installed, not all there are. A text in another language gets None, or a relative of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Words that begin lines. TypeScript's are counted on top of JavaScript's, once types are seen.
_WORDS = {
    "python": r"(?:async )?def \w+\(|class \w+(?:\(.*\))?:|(?:from [\w.]+ )?import [\w.]+"
    r"|@\w|elif .*:$|if __name__",
    "javascript": r"(?:const|let|var) [\w{\[]|(?:async )?function\b|(?:module\.)?exports\b"
    r"|import .* from ['\"]|\}\)\(|[!(;]function|export (?:default|const|function|class)\b"
    r"|['\"]use strict['\"]",
    "typescript": r"interface \w+|type \w+(?:<.*>)? =|export (?:interface|type|abstract|enum)\b"
    r"|import type|(?:public|private|readonly) \w+\??:|(?:const|let) \w+: |function \w+\(\w+\??: ",
    "go": r"package \w+\s*$|func (?:\(|\w+[\[(])|import \(|type \w+ (?:struct|interface)\b"
    r"|\w+(?:, \w+)* := ",
    "java": r"package [\w.]+;|import (?:static )?[\w.*]+;|@Override|(?:public|protected|private)"
    r"(?: \w+)* (?:class|interface|enum|record|void|[A-Z]\w*)\b",
    "rust": r"(?:pub(?:\(\w+\))? )?(?:fn|struct|enum|trait|mod|impl)\b|use [\w:]+::"
    r"|let (?:mut )?\w+|#\[\w+|match \w+ \{",
    "c": r"#(?:include|define|ifn?def|endif|pragma)\b|typedef\b"
    r"|(?:static |const |unsigned |extern )*(?:int|void|char|size_t|struct \w+) \**\w+[ (;=\[]",
}
_LINES = {name: re.compile(rf"^[ \t]*(?:{words})", re.MULTILINE) for name, words in _WORDS.items()}
_GRAMMARS = {name: (f"tree_sitter_{name}", "language") for name in _WORDS} | {
    "typescript": ("tree_sitter_typescript", "language_tsx")
}
_SAMPLE = 32_000
_PARSED_SAMPLE = 8_000
_FEWEST = 2
_MOST_LEFT_OVER = 0.1


def guess(text: str) -> str | None:
    """The language whose words begin most lines; None where none do."""
    language, told = _told(text)
    return language if told else None


def is_code(text: str) -> bool:
    """Whether a text that was not said to be code is: words at line starts, and a tree of them."""
    language, told = _told(text)
    if told < max(min(_FEWEST, text.count("\n", 0, _SAMPLE)), 1):  # minified, it is one line
        return False
    root, _ = parse(whole_lines(text, _PARSED_SAMPLE), language)
    return is_known(root)


def is_known(root: Node) -> bool:
    """Whether the grammar found a place for nearly everything."""
    return _left_over(root) <= _MOST_LEFT_OVER * root.end_byte


def _told(text: str) -> tuple[str, int]:
    """The most likely language, and how many lines speak for it."""
    sample = text[:_SAMPLE]
    found = {name: sum(1 for _ in line.finditer(sample)) for name, line in _LINES.items()}
    found["typescript"] += found["javascript"] if found["typescript"] else 0
    best = max(found, key=lambda name: found[name])
    return best, found[best]


def whole_lines(text: str, most: int) -> str:
    """The first `most` characters, less a last line that was cut off, unless it is most of them."""
    end = text.rfind("\n", 0, most) + 1
    return text[: end if 2 * end > most else most] if len(text) > most else text


def parse(text: str, language: str) -> tuple[Node, Callable[[int], int]]:
    """The root of the text's syntax tree, and a function from bytes to characters."""
    data = text.encode("utf-8", "surrogatepass")
    root = _parser(language).parse(data).root_node
    if len(data) == len(text):
        return root, lambda byte: byte
    import numpy as np  # noqa: PLC0415  0.1 s that only text beyond ASCII should pay

    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80  # noqa: PLR2004  UTF-8's later bytes
    before = np.concatenate(([0], np.cumsum(begins)))
    return root, lambda byte: int(before[byte])


@lru_cache
def _parser(language: str) -> Parser:
    import tree_sitter  # noqa: PLC0415  only code needs it

    module, function = _GRAMMARS[language]
    return tree_sitter.Parser(tree_sitter.Language(getattr(import_module(module), function)()))


def _left_over(root: Node) -> int:
    """Bytes of words that the grammar found no place for."""
    bytes_left, nodes = 0, [root]
    while nodes:
        node = nodes.pop()
        if node.type == "ERROR":
            leaves = (child for child in node.children if not child.children)
            bytes_left += sum(child.end_byte - child.start_byte for child in leaves)
        nodes += (child for child in node.children if child.has_error)
    return bytes_left
