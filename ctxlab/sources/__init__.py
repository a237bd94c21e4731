"""Fetches what `data/sources.toml` pins into `data/cache`: vocabularies, source trees, tool lists.

`ctxlab data` and `make data` call it. What is there and right is left alone, and finding that out
takes a tenth of a second; nothing is ever half-written; two calls at once wait for each other.
"""

from ctxlab.sources.fetching import fetch as fetch
from ctxlab.sources.looking import Outcome as Outcome
from ctxlab.sources.looking import status as status
from ctxlab.sources.report import as_json as as_json
from ctxlab.sources.report import as_text as as_text
from ctxlab.sources.report import raise_failures as raise_failures
