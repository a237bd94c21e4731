r"""Source code: definitions, then the statements and blocks inside one, then lines.

Seven languages are parsed with tree-sitter; for others indentation tells what belongs together.
Comments and decorators stay with what they stand before; a class or function that is cut inside
keeps its head and its closing brace.

>>> text = "import os\n\n# why\ndef f():\n    a = 1\n    return a\n\ndef g():\n    pass\n"
>>> found = divider(text)(text, 0, len(text), (99, 99))
>>> text[found.starts[1] : found.ends[1]]
'# why\ndef f():\n    a = 1\n    return a\n\n'

Which language it is, `languages` guesses from the words of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ctxlab.truncation.boundaries.indented import indented
from ctxlab.truncation.boundaries.languages import guess, is_known, parse
from ctxlab.truncation.boundaries.text import finer, lines, pieces
from ctxlab.truncation.pieces import Divider, Pieces, Room, Span

if TYPE_CHECKING:
    from tree_sitter import Node

# Parsing takes a second for some megabytes; beyond this, indentation has to do.
_LONGEST_PARSED = 2_000_000
_BLOCK = re.compile(
    r"module|program|source_file|translation_unit|ERROR|compound_statement"
    r"|(?:.*_)?(?:block|body|list)|object|array|dictionary|set|tuple"
)
_LEADS = re.compile(r".*comment|decorator|attribute_item|.*annotation")
_BRACKETS = frozenset("{}[]()")


def divider(text: str) -> Divider:
    """How this code is taken apart."""
    language = guess(text)
    if language is None or len(text) > _LONGEST_PARSED:
        return indented
    root, place = parse(text, language)
    return Code(text, root, place) if is_known(root) else indented


@dataclass
class _Group:
    """A statement with the comments and decorators before it and the punctuation behind it."""

    start: int
    end: int
    node: Node
    leads: bool
    """True while it is comments alone."""


class Code:
    """The divider of one text in a language that is parsed."""

    def __init__(self, text: str, root: Node, place: Callable[[int], int]) -> None:
        self._place = place
        self._nodes: dict[Span, Node] = {(0, len(text)): root}

    def __call__(self, text: str, start: int, end: int, room: Room) -> Pieces | None:
        """Take a span apart: see `pieces.Divider`."""
        block = _block(self._nodes.get((start, end)))
        groups = list(self._groups(text, block)) if block else []
        if not block or not groups:
            return finer(lines)(text, start, end, room)
        opened = _line_start(text, start, groups[0].start) if block.parent else start
        closed = self._closed(text, block, groups[-1].end, end)
        ends = [_line_start(text, a.end, b.start) for a, b in pairwise(groups)]
        found = pieces("blocks", ends, (opened, closed), self, frame=(start, end))
        if not found:  # one statement is all of it: what is in that?
            self._nodes[start, end] = groups[0].node
            return self(text, start, end, room) if groups[0].node != block else None
        for group, at, stop in zip(groups, [opened, *ends], [*ends, closed], strict=True):
            self._nodes[at, stop] = group.node
        return found

    def _groups(self, text: str, block: Node) -> Iterator[_Group]:
        group: _Group | None = None
        for node in _inner(block):
            start, end = self._place(node.start_byte), self._place(node.end_byte)
            leads = bool(_LEADS.fullmatch(node.type))
            gap = text.count("\n", group.end, start) if group else 0
            joins = not node.is_named or (leads and not gap) or (group and group.leads and gap <= 1)
            if group and joins:
                group.end = end
                if node.is_named and not leads:
                    group.node, group.leads = node, False
                continue
            if group:
                yield group
            group = _Group(start, end, node, leads)
        if group:
            yield group

    def _closed(self, text: str, block: Node, last: int, end: int) -> int:
        """Where the foot begins: at the closing bracket, or behind the block's last line."""
        foot = block.children[-1]
        if block.parent and foot.type in _BRACKETS:
            return _line_start(text, last, self._place(foot.start_byte))
        line = text.find("\n", last, end) + 1
        return line if line and text[line:end].strip() else end


def _block(node: Node | None) -> Node | None:
    """The block inside a node that holds most of it: a function's body, a literal's elements."""
    while node is not None:
        inner = _inner(node)
        if _BLOCK.fullmatch(node.type) and sum(child.is_named for child in inner) > 1:
            return node
        node = max(inner, key=lambda child: child.end_byte - child.start_byte, default=None)
    return None


def _inner(node: Node) -> list[Node]:
    return [child for child in node.children if child.type not in _BRACKETS]


def _line_start(text: str, start: int, place: int) -> int:
    """The start of the line of `place` if only indentation stands before it, else `place`."""
    line = text.rfind("\n", start, place) + 1
    return line if line and not text[line:place].strip() else place
