"""Requests of a log sorted into conversations: which request goes on from which.

Where the log names agents, their names do it. Else a request goes on with the conversation whose
first message it has; the most that both have in common decides between several. What else may have
changed is what an audit looks for, so a conversation is also recognised when

- its tools or its system changed, but not both, or
- both changed, and the messages are those of its last request and more, or
- its first message changed under the same tools or system, and most of the others are the same.

Whatever goes on with none begins a conversation: two sub-agents at work at a time are told apart.
Not told apart: two that were asked the same under the same system, until their answers differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxlab.sessions.reading.found import Talk
from ctxlab.sessions.reading.requests import DIGEST
from ctxlab.sessions.reading.transcripts import MAIN

_RECENT = 64  # conversations that a request is compared with, the ones that spoke last


@dataclass
class _Conversation:
    name: str
    last: Talk


class Conversations:
    """The conversations of one log so far."""

    def __init__(self) -> None:
        self._known: list[_Conversation] = []
        self._count = 0

    def name(self, talk: Talk) -> str:
        """The conversation of the log's next request: `main`, then `conversation-2` and so on."""
        scored = [(score, each) for each in self._known if (score := _score(each.last, talk))]
        if scored:
            best = max(scored, key=lambda pair: pair[0])[1]
            self._known.remove(best)
            best.last = talk
        else:
            self._count += 1
            name = MAIN if self._count == 1 else f"conversation-{self._count}"
            best = _Conversation(name, talk)
        self._known.insert(0, best)  # the one that spoke last wins between equals
        del self._known[_RECENT:]
        return best.name


def _score(last: Talk, talk: Talk) -> tuple[int, int] | None:
    """How much a request looks like going on from another; None where it does not."""
    same = (last.tools == talk.tools) + (last.system == talk.system)
    shared = _shared(last.messages, talk.messages)
    extends = shared * DIGEST == len(last.messages) < len(talk.messages)
    if shared and (same or extends):
        return 2 + (last.system == talk.system), shared
    if same and _rest_is_the_same(last.messages, talk.messages):
        return 1, 0
    return None


def _shared(one: bytes, other: bytes) -> int:
    """How many messages both begin with."""
    length = min(len(one), len(other))
    at = 0
    while at < length and one[at : at + DIGEST] == other[at : at + DIGEST]:
        at += DIGEST
    return at // DIGEST


def _rest_is_the_same(one: bytes, other: bytes) -> bool:
    places = range(DIGEST, len(one), DIGEST)
    equal = sum(one[at : at + DIGEST] == other[at : at + DIGEST] for at in places)
    return equal * 2 > len(places)
