"""Exchanges recorded while they happen, in a request log."""
