"""Audits and differences in words, for people and for scripts."""
