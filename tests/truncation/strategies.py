"""Texts as tools return them, and worse."""

from __future__ import annotations

import json
import random

from hypothesis import strategies as st

HOSTILE = (
    "日本語のテキスト",
    "e\u0301\u0323",
    "👨‍👩‍👧‍👦",
    "👍🏽",
    "🇯🇵🇫🇷",
    "क्षि",
    "\r\n",
    "\n",
    " ",
    "\t",
    "\\ud83d\\ude00",
    "\\n",
    '"',
    "\\",
    "%E3%81%82",
    "&amp;",
    "\x1b[31m",
    "\x00",
    "\u2028",
    "\f",
    "a",
    "word ",
    "# ",
    "```\n",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "1",
    "2026-11-30 14:00:00 ",
    "ERROR ",
    "\ufeff",
)
texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=4), max_size=80).map("".join)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=6), inner, max_size=6)
    ),
    max_leaves=30,
)
documents = st.builds(
    lambda value, ascii_only, indent: json.dumps(
        value, ensure_ascii=ascii_only, indent=indent, separators=None if indent else (",", ": ")
    ),
    st.lists(values) | st.dictionaries(st.text(max_size=6), values),
    st.booleans(),
    st.sampled_from([None, 1, 2]),
)


def log(lines: int, seed: int = 0, errors: tuple[int, ...] = ()) -> str:
    """A log with stamps; each error has a stack trace."""
    draw = random.Random(seed)
    written = []
    for n in range(lines):
        stamp = f"2026-11-30T14:{n // 60 % 60:02}:{n % 60:02}.{draw.randrange(1000):03}Z"
        if n in errors:
            written += [
                f"{stamp} ERROR app: request {n} failed",
                "Traceback (most recent call last):",
                f'  File "app.py", line {n}, in handle',
                "    raise ValueError(key)",
                f"ValueError: key {n}",
            ]
        else:
            written.append(f"{stamp} INFO app: request {n} took {draw.randrange(90)} ms")
    return "\n".join(written) + "\n"


def records(count: int, seed: int = 0) -> list[dict[str, object]]:
    """Records as an API returns them."""
    draw = random.Random(seed)
    return [
        {
            "id": n,
            "name": f"user {n}",
            "tags": [draw.choice("abcdef") for _ in range(3)],
            "score": draw.random(),
            "note": 'said "hi"\\ 日本 😀' if n % 7 == 0 else None,
        }
        for n in range(count)
    ]


def markdown(sections: int) -> str:
    """A page of documentation, with fences that quote headings."""
    draw = random.Random(1)
    words = ["the", "cache", "keeps", "what", "a", "request", "begins", "with", "tools", "first"]
    parts = []
    for n in range(sections):
        prose = " ".join(draw.choice(words) for _ in range(40))
        fence = f"```python\n# Not a heading\nx = {n}\n```"
        parts.append(f"## Part {n}\n\n{prose}.\n\n- {prose[:60]}\n\n{fence}\n\n")
    return "".join(parts)
