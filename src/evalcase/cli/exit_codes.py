"""Which of several exit codes a command ends with. What that of a run is, `Evaluated` says."""

from __future__ import annotations

_ORDER = (130, 2, 3, 1, 0)
"""Where several hold, the first of them is what is said."""


def first_code(*codes: int) -> int:
    """The one of several codes that counts."""
    return min(codes, key=_ORDER.index)
