"""Targets: whatever answers a question. Each kind is one module; `base`, `answers`, `replies`,
`endings`, `streams`, `usage`, `web`, `client` and `chat` hold what several kinds share.

A kind is a class with an attribute `kind`, a `TargetKind` with the Struct of its options. It is
called with its options and surroundings, keeps both, and does nothing else before `open`. What is
expected of an answer is not part of a question, so no target can see it.
"""
