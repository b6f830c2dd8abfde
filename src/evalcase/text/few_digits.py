"""A score for people: three digits, or as many more as it takes to tell it from what it is held to.

Files for programs have all of them.
"""

from __future__ import annotations

_FEW, _ALL = 3, 17


def write_score(score: float, *beside: float) -> str:
    """A score of 0 to 1; it is never written as 0, as 1 or as one of those beside it unless it is
    just that."""
    for digits in range(_FEW, _ALL):
        text = f"{score:.{digits}g}"
        if all((float(text) == other) == (score == other) for other in (0, 1, *beside)):
            return text
    return repr(score)
