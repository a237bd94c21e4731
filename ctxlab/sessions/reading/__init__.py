"""Recorded sessions read from files: transcripts, request logs, usage records."""
