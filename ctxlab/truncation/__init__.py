"""Reversible truncation: cut at boundaries, say so, keep the whole, give it back."""

from ctxlab.truncation.truncate import Truncated, truncate

__all__ = ["Truncated", "truncate"]
