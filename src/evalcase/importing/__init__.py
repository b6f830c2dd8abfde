"""Eval files of other tools in, suites of evalcase out, and what was lost on the way."""
