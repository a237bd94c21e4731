"""Prefix chains: how much of a tool array a prompt cache could still use.

A cache entry is the hash of everything up to its place, so what two requests share is a prefix:
the first tool that differs ends it. Not handled here: where breakpoints stand (`ctxlab.cache`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ctxlab.errors import InputError
from ctxlab.prefix.canonical import encode_tool


def prefix_chain(tools: Sequence[dict[str, Any]]) -> list[str]:
    """The running SHA-256 over the canonical tools, as hex digests after each tool.

    Element i speaks of tools 0 to i: two arrays that agree in it agree in all of them. Source:
    `tool-registry`.

    >>> [digest[:16] for digest in prefix_chain([{"name": "a"}, {"name": "b"}])]
    ['d9d719b27480b55c', '2553cc870059263a']

    Raises:
        InputError: an element is not a dict, or not JSON; its `place` is the pointer in the array.
    """
    running, chain = hashlib.sha256(), []
    for index, tool in enumerate(listed(tools)):
        running.update(encode_tool(tool, f"/{index}").encode())
        chain.append(running.hexdigest())
    return chain


def shared_prefix_len(a: Sequence[str], b: Sequence[str]) -> int:
    """How many leading elements of two chains agree.

    >>> shared_prefix_len(["x", "y", "z"], ["x", "y", "q", "z"])
    2
    """
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def listed(tools: Any, what: str = "tools") -> tuple[Any, ...]:
    """The elements of a tool array, which must be a sequence and no dict or text."""
    if isinstance(tools, dict | str | bytes) or not hasattr(tools, "__iter__"):
        raise InputError(f"{what} is a list of tool dicts, not of type {type(tools).__name__}")
    return tuple(tools)
