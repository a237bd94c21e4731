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

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log
from typing import Any

from ctxlab.loading.query import DEFAULT_RESULTS, check_limit, check_query
from ctxlab.loading.searchable import read_catalogue
from ctxlab.loading.words import count_words, words

QUERY_LIMIT = 500
"""Characters of a query (facts `prompt-cache` §4)."""

_K1, _B = 1.5, 0.75


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
        counts = [count_words("\n".join(tool.texts)) for tool in catalogue]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._damp = [_K1 * (1 - _B + _B * length / mean) for length in lengths]
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for tool, count in enumerate(counts):
            for word, times in count.items():
                self._holders[word].append((tool, times))
        self._known: dict[str, list[tuple[int, float]]] = {}

    def search(self, query: str, limit: int = DEFAULT_RESULTS) -> list[str]:
        """Names of the tools that share a word with the query, best first, ties in array order.

        Args:
            query: 1 to 500 characters.
            limit: results at most, from 1.

        Raises:
            SearchError: with the API's `invalid_tool_input`.
        """
        scores, most = self.scores(check_query(query, QUERY_LIMIT, "query")), check_limit(limit)
        hits = [tool for tool, score in enumerate(scores) if score]
        hits.sort(key=scores.__getitem__, reverse=True)  # stable: ties stay in array order
        return [self._names[tool] for tool in hits[:most]]

    def scores(self, query: str) -> list[float]:
        """The score of each tool, in array order; 0 where no word of the query stands."""
        scores = [0.0] * len(self._names)
        for word in words(query):
            for tool, weight in self._weights(word):
                scores[tool] += weight
        return scores

    def _weights(self, word: str) -> list[tuple[int, float]]:
        """The tools that have a word, each with the weight it gives; made when first asked for."""
        known = self._known.get(word)
        if known is None:
            holders = self._holders.get(word, ())
            rarity = log(1 + (len(self._names) - len(holders) + 0.5) / (len(holders) + 0.5))
            known = [(tool, rarity * n / (n + self._damp[tool])) for tool, n in holders]
            if known:  # words that no tool has come without end
                self._known[word] = known
        return known
