"""Tests mirror ctxlab/: tests/prefix/test_chain.py holds what ctxlab/prefix/chain.py promises."""
