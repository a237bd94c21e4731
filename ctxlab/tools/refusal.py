"""What ripgrep refuses, in words for the one who wrote the pattern."""

from __future__ import annotations

_LARGE = "it is too large once its repetitions are written out; make them smaller"
_REASONS = {
    "look-around, including": (
        "look-around ((?=…), (?!…), (?<=…), (?<!…)) is not supported, since a search takes linear "
        "time; search for the part you want to see and leave the condition out"
    ),
    "backreferences are": (
        r"backreferences (\1) are not supported, since a search takes linear time; "
        "write the repeated text out"
    ),
    r'literal "\n"': r"\n cannot match, since a search looks at one line at a time",
    r'contains "\0"': r"\x00 cannot match, since binary files are not searched",
    "size limit": _LARGE,
    "too large": _LARGE,
}


def refusal(said: str, include: str) -> str:
    r"""One line that says what is wrong and what would be right.

    >>> refusal("regex parse error:\n    (?:foo()\n    ^\nerror: unclosed group", "**/*")
    'pattern: unclosed group; escape it with \\, or give literal=True for the text itself'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if "parsing glob" in said:
        what = lines[0].rpartition(": ")[2]
        return f"include {include!r}: {what}; give a glob such as 'src/**/*.py'"
    for words, reason in _REASONS.items():
        if words in said:
            return f"pattern: {reason}"
    reasons = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    if reasons:
        return f"pattern: {reasons[0]}; escape it with \\, or give literal=True for the text itself"
    return f"ripgrep: {' '.join(lines)}"
