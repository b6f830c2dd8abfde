"""What a service says of how much more it takes, and until when."""

from __future__ import annotations

from typing import NamedTuple


class Allowance(NamedTuple):
    """So much of something is left, and all of it is there again later."""

    left: float
    full_in_s: float
    """How long it takes from then until it is as much as it can be."""
    most: float | None = None
    """How much that is."""


class Quota(NamedTuple):
    """What is left of requests and of tokens, as far as a service says it."""

    requests: Allowance | None = None
    tokens: Allowance | None = None
