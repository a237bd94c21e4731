"""What decides whether MCP tools are deferred: `ENABLE_TOOL_SEARCH`, and what switches it off.

`CONDITIONS` is the documented table, first match first (source: `tool-search`). The fall-backs are
silent in the client it speaks of: nothing tells a user that all tools went upfront, so `reason`
does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from ctxlab.errors import UsageError

DEFAULT_PERCENT = 10
"""Share of the context window that `auto` fills."""

MODES = "true, auto, auto:N (N percent, 0 to 100), false, or unset"

_CAPABLE_FROM = (4, 5)
"""The first version of a model family that reads `tool_reference`."""

_VERSION = re.compile(
    r"claude-(?:(?:opus|sonnet|haiku|fable|mythos)-)?(\d{1,2}|preview)(?:[-.](\d{1,2}))?(?!\d)"
)
_FIRST_PARTY = "anthropic.com"
_GOOGLE = ("google", "vertex", "agentplatform", "gcp")
_OTHERS = ("anthropic", "firstparty", "api", "bedrock", "aws", "foundry", "azure")


@dataclass(frozen=True)
class Mode:
    """The variable's text, read."""

    kind: str
    """`unset`, `true`, `auto` or `false`."""
    percent: float | None = None
    """Of the context window, for `auto`."""

    def __str__(self) -> str:
        """As it is written: `auto:5`."""
        if self.percent is None or self.percent == DEFAULT_PERCENT:
            return self.kind
        return f"{self.kind}:{self.percent:g}"


@dataclass(frozen=True)
class Setting:
    """Everything that the conditions look at."""

    mode: Mode
    base_url: str | None = None
    platform: str | None = None
    model: str | None = None
    betas_disabled: bool = False


@dataclass(frozen=True)
class Condition:
    """A row of the table."""

    id: str
    outcome: str
    """`upfront`, `deferred` or `threshold`."""
    reason: str
    """In words; `{mode}`, `{model}`, `{host}` and `{platform}` are filled in."""
    holds: Callable[[Setting], bool]


def read_mode(text: str | None) -> Mode:
    """The mode that a text of `ENABLE_TOOL_SEARCH` stands for; None and empty are unset.

    >>> read_mode("auto:5")
    Mode(kind='auto', percent=5.0)

    Raises:
        UsageError: any other text.
    """
    told = "" if text is None else str(text).strip().lower()
    if told in ("true", "false"):
        return Mode(told)
    if not told:
        return Mode("unset")
    match = re.fullmatch(r"auto(?::(\d{1,3}(?:\.\d+)?))?", told)
    percent = float(match[1] or DEFAULT_PERCENT) if match else -1
    if not 0 <= percent <= 100:  # noqa: PLR2004  percent
        raise UsageError(f"ENABLE_TOOL_SEARCH is {MODES}; found {text!r}")
    return Mode("auto", percent)


def is_capable(model: str | None) -> bool:
    """Whether a model reads `tool_reference`: Opus, Sonnet and Haiku from 4.5 on, and all newer.

    None, and a name that carries no version, counts as capable.

    >>> [is_capable(name) for name in ("claude-haiku-4-5-20251001", "claude-3-5-haiku-latest")]
    [True, False]
    """
    match = _VERSION.search((model or "").lower())
    if match is None or match[1] == "preview":
        return True
    return (int(match[1]), int(match[2] or 0)) >= _CAPABLE_FROM


def host(base_url: str) -> str:
    """The host of a base URL.

    Raises:
        UsageError: it is no http or https address.
    """
    try:
        parts = urlsplit(base_url)
        name = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        name = None
    if not name:
        raise UsageError(f"base_url starts with http:// or https:// and a host; found {base_url!r}")
    return name.rstrip(".")


def is_first_party(base_url: str | None) -> bool:
    """Whether requests go to the vendor itself.

    >>> is_first_party("https://api.anthropic.com"), is_first_party("https://anthropic.com.evil.net")
    (True, False)
    """
    if not base_url:
        return True
    name = host(base_url)
    return name == _FIRST_PARTY or name.endswith(f".{_FIRST_PARTY}")


def is_google(platform: str | None) -> bool:
    """Whether the platform is Google's Agent Platform (Vertex AI before).

    >>> is_google("Google Agent Platform"), is_google("bedrock")
    (True, False)

    Raises:
        UsageError: no platform that we know.
    """
    if not platform:
        return False
    plain = re.sub(r"[^a-z]", "", platform.lower())
    if any(name in plain for name in _GOOGLE):
        return True
    if not any(name in plain for name in _OTHERS):
        raise UsageError(f"platform is anthropic, vertex, bedrock or foundry; found {platform!r}")
    return False


def deciding(setting: Setting) -> tuple[Condition, str]:
    """The condition that decides, and its reason in words."""
    condition = next(row for row in CONDITIONS if row.holds(setting))
    reason = condition.reason.format(
        mode=setting.mode,
        percent=f"{setting.mode.percent or 0:g} %",
        model=setting.model,
        host=host(setting.base_url) if setting.base_url else "",
        platform=setting.platform,
    )
    return condition, reason


CONDITIONS = (
    Condition(
        "betas_disabled",
        "upfront",
        "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS is set: tool search is off, and no setting "
        "overrides that; every tool goes upfront",
        lambda setting: setting.betas_disabled,
    ),
    Condition(
        "model",
        "upfront",
        "the model {model} does not read tool_reference (Opus, Sonnet and Haiku do from 4.5 on): "
        "every tool goes upfront",
        lambda setting: not is_capable(setting.model),
    ),
    Condition(
        "false",
        "upfront",
        "ENABLE_TOOL_SEARCH is false: every tool goes upfront",
        lambda setting: setting.mode.kind == "false",
    ),
    Condition(
        "base_url",
        "upfront",
        "ENABLE_TOOL_SEARCH is unset and the base URL is not the vendor's ({host}): every tool "
        "goes upfront; true would defer them there too",
        lambda setting: setting.mode.kind == "unset" and not is_first_party(setting.base_url),
    ),
    Condition(
        "platform",
        "upfront",
        "ENABLE_TOOL_SEARCH is unset and the platform is Google's ({platform}): every tool goes "
        "upfront; true would defer them there too",
        lambda setting: setting.mode.kind == "unset" and is_google(setting.platform),
    ),
    Condition(
        "threshold",
        "threshold",
        "ENABLE_TOOL_SEARCH is {mode}: tools go upfront while their definitions fit in {percent} "
        "of the context window, the excess is deferred",
        lambda setting: setting.mode.kind == "auto",
    ),
    Condition(
        "deferred",
        "deferred",
        "ENABLE_TOOL_SEARCH is {mode}: every MCP tool is deferred",
        lambda _setting: True,
    ),
)
"""The documented table; the last row holds always."""
