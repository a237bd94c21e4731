"""How others cut, as settings of ours, and where a planted needle survives (notebook 05).

>>> policies()[["policy", "way_back"]].head(2).to_numpy().tolist()
[['boundaries, notice, store', True], ['head, whole entries', True]]

Each policy gets the same tokens for what it returns. The needle is one unit of the output's own
kind, planted from its beginning to its end; the model is taken to know what it looks for, so that
recovery is one `search_full_content` (`result-handling`, recovery). A policy without a way back
has only its context. Not measured: whether a model would look.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ctxlab import tokens
from ctxlab.experiments.intact import units
from ctxlab.experiments.planting import NEEDLE, planted
from ctxlab.experiments.tool_outputs import Output
from ctxlab.tools import Toolset
from ctxlab.truncation import (
    MemoryStorage,
    ResourceStore,
    Truncated,
    TruncatingWrapper,
    lookup_tools,
    parse_notice,
    truncate,
)
from ctxlab.truncation.kinds import recognise
from ctxlab.truncation.measure import exceeds
from ctxlab.truncation.notice import notice

_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|\n|$)")


@dataclass(frozen=True)
class Policy:
    """A way to cut, as settings of ours."""

    name: str
    like: str
    """Whose it is, and what they say of it."""
    keep: str | float = "auto"
    kind: str = "auto"
    own: tuple[int, str] = (4_000, "chars")
    """The threshold that it has itself."""
    form: str = "cut"
    """`cut`, `reference` (the whole text goes to the store), `forget` (no notice, no store) or
    `summary` (first sentences, no store)."""

    @property
    def way_back(self) -> bool:
        """Whether what is left out can be had again."""
        return self.form in ("cut", "reference")


POLICIES = (
    Policy("boundaries, notice, store", "ours"),
    Policy("head, whole entries", "mcp-memory-service", "head", own=(40_000, "chars")),
    Policy("head, any place", "Claude Code, MCP", "head", "plain", (25_000, "tokens")),
    Policy("head and tail, halves", "codex", "both", "plain", (10_000, "tokens")),
    Policy("20 % head, 80 % tail", "gemini-cli", 0.2, "plain", (40_000, "chars")),
    Policy("all to the store", "VS Code", own=(8_192, "chars"), form="reference"),
    Policy("cut and forget", "a client without a store", "head", "plain", form="forget"),
    Policy("first sentences", "a summary instead", own=(4_000, "chars"), form="summary"),
)


def policies() -> pd.DataFrame:
    """The policies: policy, like, keep, boundaries, own_limit, own_unit, way_back."""
    rows = [
        {
            "policy": policy.name,
            "like": policy.like,
            "keep": str(policy.keep) if policy.form in ("cut", "forget") else policy.form,
            "boundaries": "the kind's" if policy.kind == "auto" else "lines, words",
            "own_limit": policy.own[0],
            "own_unit": policy.own[1],
            "way_back": policy.way_back,
        }
        for policy in POLICIES
    ]
    return pd.DataFrame(rows)


def with_own_limits(outputs: Sequence[Output]) -> pd.DataFrame:
    """Each policy at the threshold that it has itself, over all outputs.

    Columns: policy; cut (outputs that are larger than the threshold); tokens (all that is
    returned), largest (one result at most), share (% of all tokens); `o200k estimate`.
    """
    whole = sum(output.tokens for output in outputs)
    rows = []
    for policy in POLICIES:
        answers = [_Answer(policy, output.text, *policy.own) for output in outputs]
        sizes = [
            output.tokens if answer.text is output.text else tokens.count(answer.text)
            for answer, output in zip(answers, outputs, strict=True)
        ]
        rows.append(
            {
                "policy": policy.name,
                "cut": sum(a.text != o.text for a, o in zip(answers, outputs, strict=True)),
                "outputs": len(outputs),
                "tokens": sum(sizes),
                "largest": max(sizes),
                "share": 100 * sum(sizes) / whole,
            }
        )
    return pd.DataFrame(rows)


def needles(
    outputs: Sequence[Output],
    price: int,
    positions: Sequence[int],
    progress: Callable[..., Any] = iter,
) -> pd.DataFrame:
    """One row for each policy, output and position of the needle (% of the units before it).

    `price` is what a policy may return, in tokens; outputs that fit are left out. Columns: policy;
    output; kind; position; in_context (the needle is in what is returned); recovered (there, or
    found by one search); context_tokens; recovery_tokens (the call and its answer, missing where
    there is no way back), `o200k estimate`.
    """
    rows = []
    for output in progress(outputs):
        if output.tokens <= price:
            continue
        kind = recognise(output.text)
        for position in positions:
            text = planted(output.text, kind, position)
            for policy in POLICIES:
                key = {"policy": policy.name, "output": output.name, "kind": kind}
                answer = _Answer(policy, text, price, "tokens")
                rows.append(key | {"position": position} | answer.tried())
    return pd.DataFrame(rows)


def survival(table: pd.DataFrame) -> pd.DataFrame:
    """By policy and position: in_context and recovered, % of the outputs of `needles`."""
    shares = table.groupby(["policy", "position"], sort=False)[["in_context", "recovered"]].mean()
    return (100 * shares).reset_index()


def distinct(survived: pd.DataFrame) -> pd.DataFrame:
    """`survival` without the policies whose needles survive just where an earlier one's do."""
    seen: dict[tuple[float, ...], str] = {}
    for policy, part in survived.groupby("policy", sort=False):
        seen.setdefault(tuple(part["in_context"]), str(policy))
    return survived[survived["policy"].isin(list(seen.values()))]


def prices(table: pd.DataFrame) -> pd.DataFrame:
    """By policy: in_context and recovered (% of all needles), and mean tokens of both steps."""
    grouped = table.groupby("policy", sort=False)
    shares = 100 * grouped[["in_context", "recovered"]].mean()
    sizes = grouped[["context_tokens", "recovery_tokens"]].mean()
    return shares.join(sizes).reset_index()


class _Answer:
    """What a policy returns for one text, and what can be had of it afterwards."""

    def __init__(self, policy: Policy, text: str, limit: int, unit: str) -> None:
        self._policy = policy
        self._store = ResourceStore(MemoryStorage(), draw=lambda: "ab12cd34")
        form = {"reference": self._reference, "forget": self._forgotten, "summary": self._summary}
        self.text = form.get(policy.form, self._cut)(text, limit, unit)

    def _cut(self, text: str, limit: int, unit: str) -> str:
        wrapper = TruncatingWrapper(self._store, limit, unit, self._policy.kind, self._policy.keep)
        return wrapper.wrap("tool", text)

    def _forgotten(self, text: str, limit: int, unit: str) -> str:
        return truncate(text, limit, unit, self._policy.kind, self._policy.keep).text

    def _reference(self, text: str, limit: int, unit: str) -> str:
        if not exceeds(text, limit, unit):
            return text
        nothing = Truncated("", recognise(text), unit, ((0, len(text)),), original=text)
        return notice(nothing, "tool", self._store.save(text, {"tool": "tool"}), "to the store")

    def _summary(self, text: str, limit: int, unit: str) -> str:
        """First sentences of as many units as fit, from everywhere in the text."""
        if not exceeds(text, limit, unit):
            return text
        _, spans = units(text, recognise(text))
        firsts = [match[0] for span in spans if (match := _SENTENCE.search(text, *span))]
        step = 1
        while True:
            told = "\n".join(sentence.strip() for sentence in firsts[::step])
            if not exceeds(told, limit, unit):
                return told
            step += max(step // 8, 1)

    def tried(self) -> dict[str, Any]:
        """Whether the needle is there, and whether one search finds it."""
        in_context = NEEDLE in self.text
        recovery, found = None, in_context
        _, fields = parse_notice(self.text)
        if self._policy.way_back and fields:
            given = {"resource_id": fields["resource_id"], "pattern": NEEDLE}
            answer = Toolset(lookup_tools(self._store)).call("search_full_content", given)
            found = found or json.loads(answer)["total_matches"] > 0
            recovery = tokens.count(json.dumps(given)) + tokens.count(answer)
        return {
            "in_context": in_context,
            "recovered": found,
            "context_tokens": tokens.count(self.text),
            "recovery_tokens": recovery,
        }
