"""The exact test of McNemar (1947): were as many cases fixed as broken, but for chance?"""

from __future__ import annotations

from math import comb, ldexp

from evalcase.report.statistics.beta import share_below

_FEW = 500
"""Changed verdicts up to which whole numbers are added up."""


def mcnemar_p(fixed: int, broken: int) -> float:
    """How often a fair coin, tossed for each changed verdict, is at least as lopsided: p."""
    changed, fewer = fixed + broken, min(fixed, broken)
    if changed <= _FEW:
        tail = sum(comb(changed, each) for each in range(fewer + 1)) / (1 << changed)
    else:
        tail = share_below(0.5, changed - fewer, fewer + 1)
    return min(1.0, 2 * tail)


def smallest_p(pairs: int) -> float:
    """What p would be if every pair had changed the same way: no test of so many gives less."""
    return min(1.0, ldexp(2.0, -pairs))
