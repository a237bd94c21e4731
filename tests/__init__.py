"""Tests mirror ctxlab/: what `ctxlab/prefix/chain.py` promises, `tests/prefix/test_chain.py` holds."""
