"""Tool search by BM25: words in, the tools that fit them best out.

>>> tools = [{"name": "get_events", "description": "Reads a calendar.", "input_schema": {}},
...          {"name": "send_mail", "description": "Sends a message.", "input_schema": {}}]
>>> Bm25ToolSearch(tools).search("what is in my calendar")
['get_events']

The weights are those of Lucene (k1 = 1.5, b = 0.75), the same to the last digit as the `bm25s`
package's, against which the tests hold them; what the API uses is not published. It is written
out here because the whole of it is a sum over postings, an empty vocabulary is an ordinary answer,
and importing a library for it costs more than a thousand searches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import log
from typing import Any

from ctxlab.loading.query import DEFAULT_RESULTS, check_limit, check_query
from ctxlab.loading.searchable import Searchable, read_catalogue
from ctxlab.loading.words import words

QUERY_LIMIT = 500
"""Characters of a query (facts `prompt-cache` §4)."""

_K1, _B = 1.5, 0.75
_Postings = dict[str, list[tuple[int, float]]]


class Bm25ToolSearch:
    """An index over the tools' names, descriptions (cut at 2 KB), argument names and descriptions.

    Args:
        tools: tool dicts of the Messages API (or MCP); none is an index that finds nothing.

    Raises:
        InputError: one is no tool, its schema no JSON Schema, or a name is used twice.
        InvalidRequest: more than 10,000.
    """

    def __init__(self, tools: Iterable[Mapping[str, Any]]) -> None:
        """Read and count all tools once."""
        catalogue = read_catalogue(tools)
        self._names = [tool.name for tool in catalogue]
        self._postings = _index([_count(tool) for tool in catalogue])

    def search(self, query: str, limit: int = DEFAULT_RESULTS) -> list[str]:
        """Names of the tools that share a word with the query, best first, ties in array order.

        Args:
            query: 1 to 500 characters.
            limit: results at most, from 1.

        Raises:
            SearchError: with the API's `invalid_tool_input`.
        """
        asked = check_query(query, QUERY_LIMIT, "query")
        ranked = sorted(self.scores(asked).items(), key=lambda pair: (-pair[1], pair[0]))
        return [self._names[tool] for tool, _ in ranked[: check_limit(limit)]]

    def scores(self, query: str) -> dict[int, float]:
        """Number of a tool in the array → its score, for tools that share a word with the query."""
        scores: dict[int, float] = defaultdict(float)
        for word in words(query):
            for tool, weight in self._postings.get(word, ()):
                scores[tool] += weight
        return dict(scores)


def _count(tool: Searchable) -> Counter[str]:
    return Counter(words("\n".join(tool.texts)))


def _index(counts: list[Counter[str]]) -> _Postings:
    """Word → the tools that have it, each with the weight that the word gives it."""
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    holders = Counter(word for count in counts for word in count)
    rarity = {word: log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for word, n in holders.items()}
    postings: _Postings = {word: [] for word in rarity}
    for tool, count in enumerate(counts):
        damp = _K1 * (1 - _B + _B * lengths[tool] / mean)
        for word, times in count.items():
            postings[word].append((tool, rarity[word] * times / (times + damp)))
    return postings
