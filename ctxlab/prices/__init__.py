"""Money from token usage: genai-prices, offline and dated, with nothing guessed.

>>> cost("claude-opus-5", {"input_tokens": 1_000_000, "output_tokens": 0}, when="2026-11-30").total
5.0

genai-prices prices what it can and stays silent about the rest. Here every silence is an error: a
model it does not know, a usage key that nobody priced, a write to a model without a write price.
Prices are never a table of our own (source: facts `prompt-cache` §1, `tried`). Not handled here:
taxes, commitments, and the storage by the hour of an explicit Gemini cache.
"""

from ctxlab.prices.cost import Cost, cost
from ctxlab.prices.rates import Rates, price_table, rates

__all__ = ["Cost", "Rates", "cost", "price_table", "rates"]
