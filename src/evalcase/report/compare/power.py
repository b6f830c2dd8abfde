"""What a comparison could have seen, and what it would take to see the change that matters."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from evalcase.report.compare.differences import Measured
from evalcase.stats.paired import (
    cases_for_scores,
    cases_for_verdicts,
    fewest_alike,
    is_few,
    raise_cases,
    smallest_change,
    smallest_visible,
)
from evalcase.stats.sequential import ALPHA


class Power(NamedTuple):
    visible: float | None
    """The smallest change that is found four times out of five; None where none is."""
    effect: float
    """The change that matters."""
    needed: int
    """How many cases show that one, four times out of five."""
    units: int
    """Cases, or clusters, that there are."""
    noun: str
    fewest: int
    """How many of them have to change the same way before that is significant."""


def find_power(measured: Measured, effect: float, tests: int = 1) -> Power | None:
    """Of one of so many tests. None where nothing can be estimated."""
    change, alpha = measured.change, ALPHA / tests
    units, noun = measured.pairs, "case" if measured.pairs == 1 else "cases"
    if measured.clusters is not None:
        units, noun = measured.clusters, "clusters"
    visible: float | None
    if change is None:
        return None
    if measured.test == "exact McNemar":
        # As for the interval, one more that got better and one that got worse.
        changing = (measured.better + measured.worse + 2) / (measured.pairs + 2)
        needed = raise_cases(cases_for_verdicts(changing, effect), changing, effect, alpha)
        visible = _find_visible(measured.pairs, changing, change.error, alpha)
    else:
        # Cases that change together are worth fewer: what the error says is for each of them.
        needed = cases_for_scores(change.error * sqrt(measured.pairs + 2), effect)
        visible = smallest_visible(change.error)
    if (visible is not None and visible > 1) or units < fewest_alike(alpha):
        visible = None
    return Power(visible, effect, needed, units, noun, fewest_alike(alpha))


def _find_visible(pairs: int, changing: float, error: float, alpha: float) -> float | None:
    """By the exact test where few verdicts change."""
    near = smallest_visible(error)
    return smallest_change(pairs, changing, alpha, near) if is_few(pairs, changing) else near
