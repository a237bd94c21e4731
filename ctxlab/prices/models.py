"""Which model a name means, among those that genai-prices knows.

Names are taken as users write them: `claude-opus-4.1`, `Claude Sonnet 4.6`, `openai/gpt-5.5`,
`us.anthropic.claude-opus-4-5-20251101-v1:0`, `gemini-3.1-pro`. What is found is told
(`Rates.model`), and a match that hangs on the beginning of a name alone is refused unless the rest
is a date or a version: `claude-opus-4-7-foo` is no model, though genai-prices would price it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ctxlab.errors import UsageError

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

PROVIDERS = ("anthropic", "openai", "google")
_RESELLER = re.compile(r"^(?:[a-z]{2,6}\.)?anthropic\.|^models/|^(?:anthropic|openai|google)/")
_BEDROCK_VERSION = re.compile(r"(?<=\d{8})-v\d+(?::\d+)?$")
_FAMILY = re.compile(r"(?:fable|mythos|opus|sonnet|haiku)-\d")
_FAMILY_FIRST = re.compile(r"^claude-(opus|sonnet|haiku)-(3[.-]\d)")
_SUFFIX = re.compile(
    r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{3}|latest|preview|exp|\d{2}-\d{4}))*"
)
_NEAR = 5


@lru_cache(maxsize=256)
def find(name: str) -> tuple[Provider, ModelInfo]:
    """The provider and model of a name.

    Raises:
        UsageError: no such model; the message lists near names.
    """
    wanted = _BEDROCK_VERSION.sub("", _RESELLER.sub("", name.strip().lower().replace(" ", "-")))
    for candidate in _spellings(wanted):
        for provider in _providers():
            model = provider.find_model(candidate)
            if model is not None and _means(model, candidate):
                return provider, model
    near = get_close_matches(wanted, known_models(), n=_NEAR, cutoff=0.6)
    hint = f"near names: {', '.join(near)}" if near else "no name is near it"
    raise UsageError(f"genai-prices {version()} knows no model {name!r}; {hint}")


def _spellings(name: str) -> Iterator[str]:
    """The name, and what else people mean by it: `Opus 5`, `Claude Haiku 3.5`."""
    full = f"claude-{name}" if _FAMILY.match(name) else name
    yield full
    yield _FAMILY_FIRST.sub(r"claude-\2-\1", full)
    yield f"{full}-preview"  # some vendors sell a released model under its preview's name alone


def known_models() -> list[str]:
    """Ids of every model of the three providers, as genai-prices writes them."""
    ids = (model.id for provider in _providers() for model in provider.models)
    return list(dict.fromkeys(ids))  # Google sells Claude models under the same ids


def version() -> str:
    """The version of genai-prices, which is the date of its table."""
    import genai_prices  # noqa: PLC0415  1.2 s that a command without prices should not pay

    return str(genai_prices.__version__)


def _providers() -> list[Provider]:
    from genai_prices import data_snapshot  # noqa: PLC0415  see version()

    found = {provider.id: provider for provider in data_snapshot.get_snapshot().providers}
    return [found[provider] for provider in PROVIDERS]


def _means(model: ModelInfo, name: str) -> bool:
    """Whether the name is the model's and not merely begins like it."""
    exact, beginnings = [model.id], []
    for clause in _clauses(model.match):
        exact += [text for text in (getattr(clause, "equals", None),) if text]
        beginnings += [text for text in (getattr(clause, "starts_with", None),) if text]
        pattern = getattr(clause, "regex", None)
        if pattern and re.search(pattern, name):
            return True
    if name in exact:
        return True
    rests = [name[len(text) :] for text in [*exact, *beginnings] if name.startswith(text)]
    return any(_SUFFIX.fullmatch(rest) for rest in rests)


def _clauses(match: Any) -> list[Any]:
    inner = getattr(match, "or_", None) or getattr(match, "and_", None)
    return [leaf for clause in inner for leaf in _clauses(clause)] if inner else [match]
