"""Why a request read too little, where no body was recorded: what usage and times allow to say.

An API that was asked for diagnostics, and a recorder that wrote the tools' fingerprint, say it
themselves. The rest is concluded from levels: a prompt is a prefix, tools before system before
messages, so how far the read still reaches tells what behind it was lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxlab.sessions.auditing.fall import Fall
from ctxlab.sessions.auditing.verdict import Cause, Verdict

_DIAGNOSED: dict[str, Cause] = {
    "model_changed": "model",
    "tools_changed": "tools",
    "system_changed": "system",
    "messages_changed": "messages",
}


def from_log(fall: Fall) -> Verdict | None:
    """What the log says itself; None where it says nothing."""
    if fall.switched:
        return Verdict("model", pointer="/model", inferred=False)
    diagnosed = _diagnosed(fall.now.diagnostics)
    if diagnosed:
        return diagnosed
    was, now = fall.before.tools_fingerprint, fall.now.tools_fingerprint
    if was and now and was != now:
        note = f"the tools' fingerprint was {was} and is {now}"
        return Verdict("tools", pointer="/tools", inferred=False, note=note)
    return None


def from_usage(fall: Fall) -> Verdict:
    """What usage and times say: each answer is an inference."""
    if fall.too_short:
        return Verdict("below minimum")
    if fall.expired:
        return Verdict("TTL expired", note=f"{fall.gap:,.0f} s since the request before")
    if fall.shrank:
        note = f"the context fell from {fall.was.total:,} to {fall.counts.total:,} tokens"
        return Verdict("compaction", note=note)
    cause = _by_level(fall)
    if cause == "unknown":
        return Verdict(cause, note="no body was recorded, and no earlier level of the cache fits")
    return Verdict(cause, note=f"the cache was read up to {fall.counts.read:,} tokens")


def _by_level(fall: Fall) -> Cause:
    """The first segment behind what was still read, where earlier requests showed its level."""
    read, held = fall.counts.read, fall.held
    if not read:
        same_tools = fall.now.tools_fingerprint and fall.before.tools_fingerprint
        return "tools" if held.heads and not same_tools else "unknown"
    levels = held.heads | {read}
    if read >= held.first or read == max(levels) != min(levels) or read == held.base:
        return "messages"
    return "system" if read < max(levels) else "unknown"


def _diagnosed(diagnostics: Mapping[str, Any] | None) -> Verdict | None:
    reason = (diagnostics or {}).get("cache_miss_reason")
    kind = reason.get("type") if isinstance(reason, Mapping) else None
    cause = _DIAGNOSED.get(str(kind))
    if cause:
        note = "the API's own diagnosis"
        return Verdict(cause, pointer=f"/{cause}", inferred=False, note=note)
    if kind == "unavailable":
        note = "the API found model, tools and system equal and a parameter changed"
        return Verdict("messages", note=note)
    return None
