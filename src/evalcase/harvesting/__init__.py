"""Traces of what really happened to the draft of a suite."""
