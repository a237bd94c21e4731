"""What to do about a broken prefix, in one sentence each.

Sources: `tool-registry` (operating advice), `tool-design` §6 and §7, facts `prompt-cache` §1, §3.
"""

from __future__ import annotations

KEPT = "Nothing that was sent before has changed, and the breakpoints still find it."
LOOKBACK = (
    "Nothing that was sent before has changed, but no breakpoint of this request finds an entry of "
    "the one before within {positions} positions: leave a breakpoint where one stood."
)
UNCACHED = "Nothing was lost, because nothing was cached: {reason}."

BY_KIND = {
    ("tools", "added"): (
        "Leave `tools` as it was: send '{tool}' from the start, or deferred, or add it by a system "
        "message in the conversation."
    ),
    ("tools", "removed"): (
        "Keep '{tool}' in the array and disable it: by tool_choice, or by an answer that it is not "
        "available now."
    ),
    ("tools", "moved"): "Fix the order of tools for the session; '{tool}' only moved.",
    ("tools", "renamed"): "Keep the name of '{tool}' for the session.",
    ("tools", "edited"): (
        "Freeze the declaration of '{tool}' for the session; new wording begins with a new one."
    ),
    ("tools", "reserialized"): (
        "Send tools in canonical form (canonical_tool): '{tool}' means the same, only its bytes "
        "differ."
    ),
    ("messages", "reserialized"): (
        "Send what was sent before byte for byte: it means the same, only its bytes differ."
    ),
    ("messages", "removed"): "Let the history stand; shorten it once, as a whole, when you must.",
}
BY_PATH = {
    "/model": (
        "Stay with one model for the session, or give the other one a conversation of its own: "
        "caches are per model."
    ),
    "/tool_choice": (
        "A change of tool_choice keeps tools and system and loses the messages; where it varies, "
        "have the tool itself answer that it is not available now."
    ),
    "/thinking": "Set `thinking` once for the session: its change loses the messages at least.",
    "/speed": "Set `speed` once for the session: its change keeps tools and loses the rest.",
}
BY_PARAMETER = {
    "web_tools": "Decide on web tools once for the session: a change keeps tools, loses the rest.",
    "citations": "Decide on citations once for the session: a change keeps tools, loses the rest.",
    "images": (
        "An image that comes or goes loses all messages: send it at the start, or in a "
        "conversation of its own."
    ),
    "deferred": (
        "'{tool}' was found by a search and its definition has changed since: freeze it for the "
        "session."
    ),
}
BY_SEGMENT = {
    "tools": "Keep `tools` the same for the session.",
    "system": (
        "Keep the system prompt stable: move what varies behind the last breakpoint, to the end "
        "of the last user message."
    ),
    "messages": "Append to the history instead of editing it.",
}


def advise(segment: str, path: str, kind: str, parameter: str | None, tool: str | None) -> str:
    """The sentence for a divergence, the most particular one there is."""
    sentence = (
        BY_PARAMETER.get(parameter or "")
        or BY_PATH.get(path)
        or BY_KIND.get((segment, kind))
        or BY_SEGMENT[segment]
    )
    return sentence.format(tool=tool)
