"""What repeats of the same cases tell: of trials within a case, and of cases among each other.

pass@k is the chance that at least one of k trials passes, after Chen and others (2021); pass^k
that all of k do, after Yao and others (2024). Both are without bias for every case.
"""

from __future__ import annotations

from math import comb, sqrt
from typing import NamedTuple


def any_passes(k: int, trials: int, passed: int) -> float:
    """pass@k of a case: the share of all choices of k trials in which at least one passed. Raise
    ValueError where there are fewer trials than k, or k is none."""
    _require_trials(k, trials)
    return 1 - comb(trials - passed, k) / comb(trials, k)


def all_pass(k: int, trials: int, passed: int) -> float:
    """pass^k of a case: the share of all choices of k trials in which each one passed. Raise
    ValueError as above."""
    _require_trials(k, trials)
    return comb(passed, k) / comb(trials, k)


def _require_trials(k: int, trials: int) -> None:
    if not 1 <= k <= trials:
        raise ValueError(f"{k} of {trials} trials can't be chosen")


class StandardErrors(NamedTuple):
    """Where the doubt about a mean of repeated cases comes from."""

    more_repeats: float
    """The standard error that is left however often these cases are repeated: other cases of the
    same kind would give another mean."""
    same_cases: float
    """The standard error if these very cases were run again, as often."""


def measure_spread(
    cases: int, total: float, squares: float, within: float
) -> StandardErrors | None:
    """From the number of cases, each with two or more trials, the sum and the sum of squares of
    their means, and the sum of what those means vary by themselves (s²/m). None of fewer than two.
    """
    if cases < 2:
        return None
    variance = max(0.0, (squares - total * total / cases) / (cases - 1))
    between = max(0.0, variance - within / cases)
    return StandardErrors(sqrt(between / cases), sqrt(max(0.0, within)) / cases)
