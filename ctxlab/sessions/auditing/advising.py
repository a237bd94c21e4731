"""What to do about a break, by its cause, where the two bodies say nothing more particular.

>>> sentence("the entries were old"), sentence("")
('The entries were old.', '')

Sources: `tool-registry` (operating advice), facts `prompt-cache` §1.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxlab.cache.advice import BY_PATH, BY_SEGMENT
from ctxlab.sessions.auditing.verdict import Cause, Verdict

ADVICE: Mapping[Cause, str] = {
    "tools": BY_SEGMENT["tools"],
    "system": BY_SEGMENT["system"],
    "messages": BY_SEGMENT["messages"],
    "model": BY_PATH["/model"],
    "TTL expired": (
        "Mark what outlives such pauses with a ttl of 1h, or send a request before it expires: "
        "each read refreshes it."
    ),
    "compaction": (
        "A compaction pays for a shorter history with a new write: compact seldom, and as a whole."
    ),
    "below minimum": (
        "Cache a longer prefix, or leave the marker out: nothing below the minimum is cached."
    ),
    "lookback": (
        "Leave a breakpoint where one stood before: the next one looks back over few positions."
    ),
    "unknown": (
        "Record the bodies, with ctxlab.Recorder or ctxlab serve: two of them say what changed."
    ),
}
"""Cause → one sentence."""


def told(verdict: Verdict, *more: str) -> str:
    """All that is to be said of a request, in sentences: what is known, then what to do."""
    advice = verdict.advice or ADVICE.get(verdict.cause, "")
    return " ".join(filter(None, map(sentence, (verdict.note, advice, *more))))


def sentence(text: str) -> str:
    """A text as a sentence: with a capital and a full stop."""
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
